package database_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/store/database"
	"banyan/internal/store/pgtest"
)

// Real processes: the test binary starts itself with DATABASE_CHILD set and is
// then a writer. Its arguments: the store, its number, how many lines.
func TestMain(m *testing.M) {
	if os.Getenv("DATABASE_CHILD") == "" {
		dir, err := os.MkdirTemp("", "banyan-cache-")
		if err != nil {
			panic(err)
		}
		os.Setenv("DATABASE_CACHE", dir)
		code := m.Run()
		os.RemoveAll(dir)
		os.Exit(code)
	}
	if err := childWrites(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childWrites writes a log of its own and, whenever it gets the lock, one that
// all writers share. It says each line that was acknowledged.
func childWrites(name, number, count string) error {
	s, err := database.Open(name, os.Getenv("DATABASE_CACHE"))
	if err != nil {
		return err
	}
	defer s.Close()
	lines, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	own, err := s.Create(place("own" + number))
	if err != nil {
		return err
	}
	defer own.Close()
	for i := range lines {
		if err := say(own, "own"+number, fmt.Sprintf("own%s line %d", number, i)); err != nil {
			return err
		}
		if i%4 != 0 {
			continue
		}
		if err := shared(s, fmt.Sprintf("shared line %d of %s", i, number)); err != nil {
			return err
		}
	}
	return nil
}

func place(id string) store.Place {
	return store.Place{Project: "p", ID: id, Time: time.Unix(1_800_000_000, 0)}
}

// say appends a line, until the store takes it, and says so.
func say(l store.Log, log, line string) error {
	_, err := l.Append([]byte(line))
	for deadline := time.Now().Add(time.Minute); err != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return err
		}
		if _, grown := errors.AsType[*jsonl.GrownError](err); !grown {
			_, err = l.Flush()
		} else if err = l.Grown(func(jsonl.Line) bool { return true }); err == nil && len(l.Pending()) == 0 {
			_, err = l.Append([]byte(line)) // it was not taken
		} else if err == nil {
			_, err = l.Flush()
		}
	}
	fmt.Printf("%s|%s\n", log, line)
	return nil
}

// shared appends a line to the log that all share.
func shared(s store.Store, line string) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		l, err := s.Open(s.Path(place("shared")), false)
		if err != nil {
			continue // somebody else has it, or the server is away
		}
		err = say(l, "shared", line)
		return errors.Join(err, l.Close())
	}
	return errors.New("the shared log cannot be had")
}

// writers runs processes that write beside each other, and checks that each
// acknowledged line is there once.
func writers(t *testing.T, name string, processes, lines int, meanwhile func(stop <-chan struct{})) {
	s := openStore(t, name)
	if _, err := s.Write(place("shared"), func(yield func([]byte, error) bool) { yield([]byte("first"), nil) }); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acked := map[string]int{}
	var work sync.WaitGroup
	for n := range processes {
		cmd := exec.Command(exe, name, strconv.Itoa(n), strconv.Itoa(lines))
		cmd.Env = append(os.Environ(), "DATABASE_CHILD=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		work.Go(func() {
			for said := bufio.NewScanner(out); said.Scan(); {
				mu.Lock()
				acked[said.Text()]++
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %d: %v", n, err)
			}
		})
	}
	over := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() { meanwhile(over) })
	work.Wait()
	close(over)
	other.Wait()
	checkAcked(t, s, acked)
}

// checkAcked compares what stands in the logs with what was acknowledged: all of
// it, once, and nothing else.
func checkAcked(t *testing.T, s store.Store, acked map[string]int) {
	t.Helper()
	infos, err := s.List("")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, in := range infos {
		l, err := s.Open(in.Path, true)
		if err != nil {
			t.Fatal(err)
		}
		err = l.Scan(func(line jsonl.Line) bool {
			if string(line.Bytes) != "first" {
				there[in.ID+"|"+string(line.Bytes)]++
			}
			return true
		})
		if err := errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	lost := 0
	for line := range acked {
		if there[line] == 0 {
			lost++
		}
	}
	for line, n := range there {
		if n != 1 {
			t.Errorf("%q stands there %d times", line, n)
		}
	}
	if lost > 0 || len(there) != len(acked) {
		t.Errorf("%d lines acknowledged, %d there, %d lost", len(acked), len(there), lost)
	}
	t.Logf("%d logs, %d lines acknowledged, %d lost", len(infos), len(acked), lost)
}

const eight = 8

func TestWritersOfOneSQLiteFile(t *testing.T) {
	writers(t, "sqlite:"+filepath.Join(t.TempDir(), "s.db"), eight, rounds(), func(<-chan struct{}) {})
}

func TestWritersOfOnePostgres(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	writers(t, server.Database("many"), eight, rounds(), func(<-chan struct{}) {})
}

// rounds is how many lines each writer writes.
func rounds() int {
	if os.Getenv("PROVE") != "" {
		return 200
	}
	return 40
}

// TestServerKilled kills the server again and again while eight processes append.
func TestServerKilled(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	name := server.Database("killed")
	kills := 0
	writers(t, name, eight, 2*rounds(), func(over <-chan struct{}) {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(400+150*(kills%7)) * time.Millisecond):
			}
			server.Kill()
			server.Restart()
			kills++
		}
	})
	t.Logf("the server was killed and started again %d times", kills)
	if kills == 0 {
		t.Error("all was over before the first kill")
	}
}

// TestWriterKilled kills writers: their lock is free at once and nothing that
// they were promised is lost.
func TestWriterKilled(t *testing.T) {
	for name, store := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "s.db") },
		"postgres": func() string { return pgtest.Start(t, "-c", "fsync=off").Database("k") },
	} {
		t.Run(name, func(t *testing.T) {
			name := store()
			s := openStore(t, name)
			if _, err := s.Write(place("shared"), func(yield func([]byte, error) bool) { yield([]byte("first"), nil) }); err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				killOne(t, s, name, strconv.Itoa(n))
			}
		})
	}
}

func killOne(t *testing.T, s store.Store, name, number string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, name, number, "100000")
	cmd.Env = append(os.Environ(), "DATABASE_CHILD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	var own int
	for said.Scan() {
		if strings.HasPrefix(said.Text(), "own") {
			if own++; own == 10 {
				_ = cmd.Process.Kill()
			}
		}
	}
	_ = cmd.Wait()
	var l store.Log
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if l, err = s.Open(s.Path(place("own"+number)), false); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a dead writer keeps the lock: %v", err)
		}
	}
	defer l.Close()
	lines := 0
	if err := l.Scan(func(jsonl.Line) bool { lines++; return true }); err != nil || lines < own {
		t.Errorf("%d lines acknowledged, %d there, %v", own, lines, err)
	}
	if _, err := l.Append([]byte("next")); err != nil {
		t.Error(err)
	}
}
