package session_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/session"
)

// killMe in the environment makes the test binary a writer that appends to the
// session file of that name until it is killed, and prints each id when it is durable.
const killMe = "SESSION_TEST_WRITE"

func init() {
	path := os.Getenv(killMe)
	if path == "" {
		return
	}
	m, err := session.Open(path, session.Options{})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		size := 100
		if i%5 == 0 {
			size = 50_000 // one write of it tears where one of 100 bytes does not
		}
		e, err := m.Append(user(fmt.Sprint(i, strings.Repeat("x", size))))
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(e.ID)
	}
}

// TestKilled: a writer is killed again and again; the next one goes on, and
// every entry that one of them has called durable is on one path.
func TestKilled(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	path := write(t, header, msg("00000000", "", "first"))
	rng := rand.New(rand.NewPCG(3, 4))
	var acked []session.ID
	for range rounds {
		acked = append(acked, killAWriter(t, path, 1+rng.IntN(40))...)
	}
	m := open(t, path)
	s := m.Snapshot()
	on := map[session.ID]bool{}
	for _, id := range s.PathIDs(s.Leaf()) {
		on[id] = true
	}
	for _, id := range acked {
		if !on[id] {
			t.Errorf("%s was durable and is lost", id)
		}
	}
	add(t, m, user("after all"))
	if s := look(t, path); len(s.Problems()) > 0 {
		t.Errorf("problems: %v", s.Problems())
	}
	torn, _ := filepath.Glob(path + ".torn-*")
	t.Logf("%d kills, %d durable entries, %d torn lines kept aside", rounds, len(acked), len(torn))
}

// killAWriter starts a writer and kills it after it has said so many ids; what
// it said until then and before it died is what counts.
func killAWriter(t *testing.T, path string, after int) []session.ID {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killMe+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []session.ID
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "error:") {
			t.Fatal(lines.Text())
		}
		ids = append(ids, session.ID(lines.Text()))
		if len(ids) == after {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	return ids
}
