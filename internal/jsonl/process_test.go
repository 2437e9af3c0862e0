//go:build unix

package jsonl_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"banyan/internal/jsonl"
)

// Real processes: the test binary starts itself with JSONL_CHILD set and is then
// one of these.
var children = map[string]func(path string, args []string) error{
	"append": childAppend,
	"hold":   childHold,
	"write":  childWrite,
	"open":   childOpen,
}

func TestMain(m *testing.M) {
	if name := os.Getenv("JSONL_CHILD"); name != "" {
		if err := children[name](os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Notes on who holds a lock do not go to the user's folders.
	dir, err := os.MkdirTemp("", "jsonl")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func child(t testing.TB, name, path string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), "JSONL_CHILD="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// record is a line that says of itself whether it is whole.
func record(n int, size int) []byte {
	pad := strings.Repeat(strconv.Itoa(n%10), size)
	return fmt.Appendf(nil, `{"n":%d,"crc":%d,"pad":"%s"}`, n, crc32.ChecksumIEEE([]byte(pad)), pad)
}

// recordNumber checks a record and returns its number.
func recordNumber(line []byte) (int, error) {
	head, pad, ok := bytes.Cut(line, []byte(`,"pad":"`))
	pad, ended := bytes.CutSuffix(pad, []byte(`"}`))
	var n int
	var sum uint32
	_, err := fmt.Sscanf(string(head[:min(len(head), 60)]), `{"n":%d,"crc":%d`, &n, &sum)
	if err != nil || !ok || !ended || crc32.ChecksumIEEE(pad) != sum {
		return 0, fmt.Errorf("a line of %d bytes is mixed: %.60q", len(line), line)
	}
	return n, nil
}

// openOrCreate opens a log for writing.
func openOrCreate(path string) (*jsonl.Log, error) {
	if _, err := os.Lstat(path); err != nil {
		return jsonl.Create(path, jsonl.Options{})
	}
	return jsonl.Open(path, jsonl.Options{})
}

// childAppend appends numbered records for ever and says on its standard output
// which are acknowledged.
func childAppend(path string, args []string) error {
	l, err := openOrCreate(path)
	if err != nil {
		return err
	}
	n := 0
	if err := l.Scan(func(jsonl.Line) bool { n++; return true }); err != nil {
		return err
	}
	seed, _ := strconv.Atoi(args[0])
	rnd := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
	for ; ; n++ {
		size := int(100 * math.Pow(50_000, rnd.Float64())) // 100 B to 5 MB, small ones as often as large ones
		if seed%2 == 1 {
			size = 5_000_000 - rnd.IntN(1_000_000) // large enough to be killed in the middle of a write
		}
		if _, err := l.Append(record(n, size)); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return nil
		}
	}
}

// TestKill kills a process that appends, again and again: nothing that it
// acknowledged is lost, and the next process goes on. KILLS says how often.
func TestKill(t *testing.T) {
	kills := long(100, 10_000)
	if s := os.Getenv("KILLS"); s != "" {
		kills, _ = strconv.Atoi(s)
	}
	const each = 5 // kills of a file
	dir := t.TempDir()
	acks, torn := 0, 0
	for i := range kills {
		path := filepath.Join(dir, fmt.Sprint(i/each), "s.jsonl")
		last := killOnce(t, path, i)
		lines, tail := readRecords(t, path)
		if lines <= last {
			t.Fatalf("kill %d: record %d was acknowledged, %d records are there", i, last, lines)
		}
		acks += last + 1
		if tail {
			torn++
		}
		if i%each == each-1 {
			os.RemoveAll(filepath.Dir(path))
		}
	}
	t.Logf("%d kills, %d torn tails; in each file all acknowledged records, %d looks at them", kills, torn, acks)
}

// killOnce lets a process append and kills it somewhere; it returns the last
// record that was acknowledged, -1 for none.
func killOnce(t *testing.T, path string, seed int) int {
	t.Helper()
	cmd := child(t, "append", path, strconv.Itoa(seed))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(uint64(seed), 1))
	last := -1
	acked := bufio.NewScanner(out)
	for range rnd.IntN(8 - 5*(seed%2)) {
		if !acked.Scan() {
			t.Fatalf("the child ended by itself: %v", cmd.Wait())
		}
		last, _ = strconv.Atoi(acked.Text())
	}
	time.Sleep(time.Duration(rnd.IntN(12_000)) * time.Microsecond) // somewhere in a record
	cmd.Process.Kill()
	for acked.Scan() { // what it said before it died counts
		last, _ = strconv.Atoi(acked.Text())
	}
	cmd.Wait()
	return last
}

// readRecords checks that a file has the records 0, 1, 2 … and returns how many.
func readRecords(t *testing.T, path string) (n int, torn bool) {
	t.Helper()
	l, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if errors.Is(err, os.ErrNotExist) {
		return 0, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Scan(func(line jsonl.Line) bool {
		got, err := recordNumber(line.Bytes)
		if err != nil || got != n {
			t.Fatalf("%s: record %d where %d should be: %v", path, got, n, err)
		}
		n++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, l.Tail().Len > 0
}

// childHold holds a log until it is killed.
func childHold(path string, _ []string) error {
	l, err := openOrCreate(path)
	if err != nil {
		return err
	}
	if _, err := l.Append([]byte(`{"held":1}`)); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestSecondWriterIsRefused: at once, told who it is, may read; and when the
// first is killed the lock is free.
func TestSecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	cmd := child(t, "hold", path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(out).ReadString('\n')
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = jsonl.Open(path, jsonl.Options{})
	var locked *jsonl.LockedError
	if !errors.As(err, &locked) || locked.Path != path || !strings.Contains(locked.Owner, fmt.Sprintf("pid %d on ", cmd.Process.Pid)) {
		t.Errorf("err %v", err)
	}
	watch, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, watch, `{"held":1}`)
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("opening changed the file")
	}
	cmd.Process.Kill()
	cmd.Wait()
	l, err := jsonl.Open(path, jsonl.Options{})
	if err != nil {
		t.Fatal("the lock of a killed process:", err)
	}
	defer l.Close()
	add(t, l, `{"next":1}`)
	if got := grown(t, watch); len(got) != 1 {
		t.Errorf("the reader saw %q", got)
	}
}

// noLocks is a file system that has none.
type noLocks struct{ jsonl.FS }

type noLockFile struct{ jsonl.File }

func (noLockFile) Lock() error { return jsonl.ErrNoLock }

func (n noLocks) Open(path string, write bool) (jsonl.File, error) {
	f, err := n.FS.Open(path, write)
	if err != nil {
		return nil, err
	}
	return noLockFile{f}, nil
}

func (n noLocks) Create(path string) (jsonl.File, error) {
	f, err := n.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return noLockFile{f}, nil
}

// childWrite appends so many records of its own. With locks it opens and closes
// the log for a few at a time and tries again when it is refused; without, it
// reads what the others wrote before it goes on.
func childWrite(path string, args []string) error {
	me, _ := strconv.Atoi(args[0])
	count, _ := strconv.Atoi(args[1])
	var fs jsonl.FS = jsonl.OS
	if args[2] == "unlocked" {
		fs = noLocks{fs}
	}
	for done := 0; done < count; {
		l, err := jsonl.Open(path, jsonl.Options{FS: fs})
		var locked *jsonl.LockedError
		if errors.As(err, &locked) {
			continue
		}
		if err != nil {
			return err
		}
		for range 5 {
			line := record(me*1_000_000+done, 50+done*97%3000)
			if err := appendGrown(l, line); err != nil {
				return fmt.Errorf("record %d of writer %d: %w", done, me, err)
			}
			done++
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// appendGrown appends a line, reading what others wrote as often as needed.
func appendGrown(l *jsonl.Log, line []byte) error {
	for {
		_, err := l.Append(line)
		var changed *jsonl.GrownError
		if !errors.As(err, &changed) {
			return err
		}
		if err := l.Grown(discard); err != nil {
			return err
		}
	}
}

// TestWriters lets 2 and 8 processes write one file, with locks and where there
// are none: no line is lost, mixed or there twice.
func TestWriters(t *testing.T) {
	for _, mode := range []string{"locked", "unlocked"} {
		for _, writers := range []int{2, 8} {
			t.Run(fmt.Sprintf("%d %s", writers, mode), func(t *testing.T) {
				count := long(50, 10_000)
				path := filepath.Join(t.TempDir(), "s.jsonl")
				if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				var running []*exec.Cmd
				for i := range writers {
					cmd := child(t, "write", path, strconv.Itoa(i), strconv.Itoa(count), mode)
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					running = append(running, cmd)
				}
				for _, cmd := range running {
					if err := cmd.Wait(); err != nil {
						t.Error(err)
					}
				}
				checkWriters(t, path, writers, count)
			})
		}
	}
}

func checkWriters(t *testing.T, path string, writers, count int) {
	t.Helper()
	l, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	next := make([]int, writers)
	first := true
	err = l.Scan(func(line jsonl.Line) bool {
		if first {
			first = false
			return true
		}
		n, err := recordNumber(line.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if me := n / 1_000_000; n%1_000_000 != next[me] {
			t.Fatalf("record %d of writer %d where %d should be", n%1_000_000, me, next[me])
		}
		next[n/1_000_000]++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for me, n := range next {
		if n != count {
			t.Errorf("writer %d: %d of %d records", me, n, count)
		}
	}
}

// childOpen opens a log for writing and prints what came of it.
func childOpen(path string, _ []string) error {
	l, err := openOrCreate(path)
	if err != nil {
		fmt.Println("error:", err)
		return nil
	}
	defer l.Close()
	if _, err := l.Append([]byte(`{"child":1}`)); err != nil {
		return err
	}
	fmt.Println("ok")
	return nil
}
