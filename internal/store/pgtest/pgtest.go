// Package pgtest runs private PostgreSQL servers for tests: on loopback, in a
// temporary folder, with nobody else's data. Where PostgreSQL is not installed
// the tests that need it are skipped and say so.
package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a server that a test may kill and start again.
type Server struct {
	t    testing.TB
	bin  string // folder of PostgreSQL's programs
	dir  string
	port int
	as   func(*exec.Cmd) // makes a command another user's, if we are root
	args []string

	cmd  *exec.Cmd     // nil while it does not run
	over chan struct{} // closed when it has ended
	out  bytes.Buffer
}

// Start makes a server and starts it; args are more for it, such as -c fsync=off.
// It ends with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	bin := programs()
	if bin == "" {
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql), so what needs a server is left out")
	}
	dir, err := os.MkdirTemp("", "banyan-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{t: t, bin: bin, dir: dir, args: args}
	if s.as, err = standBack(dir); err != nil {
		t.Skipf("PostgreSQL does not run as root, and there is no user to run it as, so what needs a server is left out: %v", err)
	}
	initdb := s.command("initdb", "-D", s.data(), "-U", "banyan", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Installed tells whether there is a PostgreSQL to start.
func Installed() bool { return programs() != "" }

// programs is the folder of PostgreSQL's programs: on the path, or Debian's newest.
func programs() string {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(found[len(found)-1])
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+s.dir, "PGSSLMODE=disable")
	s.as(cmd)
	return cmd
}

// Addr is the server's host and port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// url is the address of a database.
func (s *Server) url(database string) string {
	return "postgres://banyan@" + s.Addr() + "/" + database + "?sslmode=disable&connect_timeout=2"
}

// Database makes an empty database and gives its URL.
func (s *Server) Database(name string) string {
	s.t.Helper()
	s.Query("postgres", "CREATE DATABASE "+name)
	return "postgres://banyan@" + s.Addr() + "/" + name + "?sslmode=disable"
}

// Query asks the server something as its owner and gives the first column of
// the answer, as text.
func (s *Server) Query(database, query string) (answers []string) {
	s.t.Helper()
	answers, err := s.query(database, query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return answers
}

func (s *Server) query(database, query string) (answers []string, err error) {
	ctx, done := context.WithTimeout(context.Background(), 30*time.Second)
	defer done()
	conn, err := pgconn.Connect(ctx, s.url(database))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, query).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			answers = append(answers, string(row[0]))
		}
	}
	return answers, err
}

// Kill ends the server as a power cut of its machine would, but for the disk:
// nothing is finished and nothing is said.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.over
	s.cmd = nil
}

// Restart starts a server that does not run, and waits until it answers. What
// is left of a killed one may hold the port and the memory for a moment.
func (s *Server) Restart() {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if s.cmd == nil {
			s.begin()
		}
		if _, err := s.query("postgres", "SELECT 1"); err == nil {
			return
		}
		select {
		case <-s.over: // it gave up: another still has its folder
			s.cmd = nil
		default:
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("the server does not answer:\n%s", s.out.String())
}

func (s *Server) begin() {
	s.out.Reset()
	args := append([]string{"-D", s.data(), "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}, s.args...)
	s.cmd = s.command("postgres", args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, over := s.cmd, make(chan struct{})
	s.over = over
	go func() {
		_ = cmd.Wait()
		close(over)
	}()
}
