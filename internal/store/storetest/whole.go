package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
)

func wholeLogs(t *testing.T, f Fixture) {
	s := open(t, f)
	broken := errors.New("broken")
	for _, after := range []int{0, 1, 2000} {
		_, err := s.Write(at("a"), func(yield func([]byte, error) bool) {
			for range after {
				if !yield(bytes.Repeat([]byte("x"), 2000), nil) {
					return
				}
			}
			yield(nil, broken)
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d lines: %v", after, err)
		}
		if got, err := s.List(""); err != nil || len(got) != 0 {
			t.Errorf("a part of a log is left: %v, %v", got, err)
		}
	}
	var want []string
	for i := range 3000 {
		want = append(want, fmt.Sprint(i, strings.Repeat("y", 1000)))
	}
	path, err := s.Write(at("a"), seq(want...))
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, f, path, want...)
	l := reopen(t, s, path, false)
	scan(t, l)
	add(t, l, "more")
	wantLines(t, f, path, append(want, "more")...)
}

func replacing(t *testing.T, f Fixture) {
	s := open(t, f)
	l := create(t, s, "a", "old", "form")
	for round, lines := range [][]string{{"new"}, {"newer", "form", "of", "it"}} {
		if err := l.Replace(".v1.bak", seq(lines...)); err != nil {
			t.Fatal(err)
		}
		if got := scan(t, l); !slices.Equal(got, lines) {
			t.Errorf("round %d: %q", round, got)
		}
		wantLines(t, f, l.Path(), lines...)
	}
	pos := add(t, l, "more")
	if got, err := l.ReadAt(pos[0]); err != nil || string(got) != "more" {
		t.Errorf("%q, %v", got, err)
	}
	wantLines(t, f, l.Path()+".v1.bak", "old", "form")
	wantLines(t, f, l.Path()+".v1.bak-2", "new")
	if infos, err := s.List(""); err != nil || len(infos) != 1 {
		t.Errorf("an older form is listed: %v, %v", infos, err)
	}
	if _, err := open(t, f).Open(l.Path(), false); !errors.As(err, new(*jsonl.LockedError)) {
		t.Errorf("it is not locked any more: %v", err)
	}
	broken := errors.New("broken")
	err := l.Replace(".v2.bak", func(yield func([]byte, error) bool) { yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	wantLines(t, f, l.Path(), "newer", "form", "of", "it", "more")
}

func copies(t *testing.T, f Fixture) {
	s := open(t, f)
	l := create(t, s, "a", "1\r", "\"\xff\"", strings.Repeat("z", 600<<10), "4")
	path, err := s.Write(at("b"), store.Lines(l, toBytes([]string{"5"})))
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, f, path, "1", "\"\xff\"", strings.Repeat("z", 600<<10), "4", "5")
	got, err := reopen(t, s, path, true).ReadAt(jsonl.Pos{Len: 3})
	if err != nil || string(got) != "1\r\n" {
		t.Errorf("it begins with %q, %v", got, err)
	}
}

func refused(t *testing.T, f Fixture) {
	if f.Fail == nil {
		t.Skip("this store cannot be made to fail")
	}
	l := create(t, open(t, f), "a", "1")
	f.Fail(true)
	for _, line := range []string{"2", "3"} {
		if _, err := l.Append([]byte(line)); err == nil {
			t.Fatal("a store that fails takes a line")
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("a password is shown: %v", err)
		}
	}
	if got := l.Pending(); len(got) != 2 {
		t.Fatalf("pending: %q", got)
	}
	f.Fail(false)
	pos := add(t, l, "4")
	told, err := l.Flush()
	if err != nil || len(told) != 2 || len(l.Pending()) != 0 {
		t.Errorf("Flush tells of %v, %v; %d are pending", told, err, len(l.Pending()))
	}
	for i, p := range append(told, pos...) {
		if got, err := l.ReadAt(p); err != nil || string(got) != fmt.Sprint(i+2) {
			t.Errorf("at %v stands %q, %v", p, got, err)
		}
	}
	wantLines(t, f, l.Path(), "1", "2", "3", "4")
}

func givenUp(t *testing.T, f Fixture) {
	if f.Fail == nil {
		t.Skip("this store cannot be made to fail")
	}
	l := create(t, open(t, f), "a", "1")
	f.Fail(true)
	_, _ = l.Append([]byte("2"))
	if pending, ok := errors.AsType[*jsonl.PendingError](l.Close()); !ok || pending.Count != 1 {
		t.Errorf("Close says %v", pending)
	}
	f.Fail(false)
	if err := l.Close(); err != nil {
		t.Errorf("the store is back, but Close says %v", err)
	}
	wantLines(t, f, l.Path(), "1", "2")
	l = reopen(t, open(t, f), l.Path(), false)
	f.Fail(true)
	_, _ = l.Append([]byte("3"))
	if err := errors.Join(l.Close(), l.Close()); !errors.As(err, new(*jsonl.PendingError)) {
		t.Errorf("Close twice: %v", err)
	}
	f.Fail(false)
	wantLines(t, f, l.Path(), "1", "2")
}

func lostAnswer(t *testing.T, f Fixture) {
	if f.Lose == nil {
		t.Skip("no answer of this store can be lost")
	}
	l := create(t, open(t, f), "a")
	var want []string
	for i := range 6 {
		if i%2 == 0 {
			f.Lose()
		}
		line := fmt.Sprint("line ", i)
		want = append(want, line)
		if _, err := l.Append([]byte(line)); err != nil {
			t.Logf("line %d: %v", i, err)
		}
	}
	settle(t, l)
	wantLines(t, f, l.Path(), want...)
}

// settle flushes until nothing is pending.
func settle(t testing.TB, l store.Log) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, err := l.Flush()
		if len(l.Pending()) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d lines are still pending: %v", len(l.Pending()), err)
		}
	}
}

// many has eight handles that write a log each, and read each other's.
func many(t *testing.T, f Fixture) {
	const writers, lines = 8, 40
	var work sync.WaitGroup
	for w := range writers {
		s := open(t, f)
		work.Go(func() {
			l, err := s.Create(at(fmt.Sprint("w", w)))
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for i := range lines {
				if _, err := l.Append(fmt.Appendf(nil, "%d of %d", i, w)); err != nil {
					t.Error(err)
				}
			}
			if _, err := s.List(""); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	s := open(t, f)
	for w := range writers {
		got := scan(t, reopen(t, s, s.Path(at(fmt.Sprint("w", w))), true))
		for i := range lines {
			if len(got) != lines || got[i] != fmt.Sprintf("%d of %d", i, w) {
				t.Fatalf("writer %d: %d lines, line %d is %q", w, len(got), i, got[min(i, len(got)-1)])
			}
		}
	}
}

func badLines(t *testing.T, f Fixture) {
	l := create(t, open(t, f), "a", "1")
	for _, line := range []string{"", "  ", "a\nb", "\n"} {
		if _, err := l.Append([]byte("good"), []byte(line)); err == nil {
			t.Errorf("%q is taken for a line", line)
		}
	}
	if _, err := l.Append(); err != nil {
		t.Errorf("nothing is no error: %v", err)
	}
	add(t, l, "2")
	wantLines(t, f, l.Path(), "1", "2")
}
