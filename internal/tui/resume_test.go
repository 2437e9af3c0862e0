package tui_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"

	"pgregory.net/rapid"
)

// shelf is a place with sessions, which can be named and removed.
type shelf struct {
	sessions []tui.Session
	previews []string // that were asked for
	fails    error    // what renaming and deleting come to
}

func newShelf() *shelf {
	at := func(hours int) time.Time { return tuitest.Start.Add(-time.Duration(hours) * time.Hour) }
	const here = "/home/ada/engine"
	return &shelf{sessions: []tui.Session{
		{Path: "/s/fork", ID: "dddddddd-1", First: "another way", Cwd: here, Modified: at(1), Messages: 6, Parent: "/s/old"},
		{Path: "/s/a", ID: "aaaaaaaa-1", First: "fix the parser", Cwd: here, Modified: at(2), Messages: 4, Branches: 3, Tasks: 2},
		{Path: "/s/b", ID: "bbbbbbbb-1", Name: "elsewhere", Cwd: "/tmp", Modified: at(3)},
		{Path: "/s/old", ID: "cccccccc-1", Name: "the beginning", First: "fix it", Cwd: here, Modified: at(50), Messages: 9},
	}}
}

func (s *shelf) options(o *tui.Options) {
	o.Sessions = func(contextT) ([]tui.Session, error) { return append([]tui.Session(nil), s.sessions...), nil }
	o.DeleteSession = func(_ contextT, path string) error {
		if s.fails != nil {
			return s.fails
		}
		s.sessions = without(s.sessions, path)
		return nil
	}
	o.RenameSession = func(_ contextT, path, name string) error {
		for i := range s.sessions {
			if s.sessions[i].Path == path && s.fails == nil {
				s.sessions[i].Name = name
			}
		}
		return s.fails
	}
	o.Preview = func(_ contextT, path string) ([]tui.Said, error) {
		s.previews = append(s.previews, path)
		return []tui.Said{{Who: "You", Text: "what of " + path + "?"}, {Who: "Agent", Text: "It \x1b[2Jis\nfine."}}, nil
	}
}

func without(list []tui.Session, path string) (kept []tui.Session) {
	for _, s := range list {
		if s.Path != path {
			kept = append(kept, s)
		}
	}
	return kept
}

func (s *shelf) open(t *testing.T) *tuitest.Driver {
	t.Helper()
	d := tuitest.New(t, s.options).Open()
	return d.Type("/resume").Press("enter")
}

// inOrder fails the test unless texts stand on the screen in this order.
func inOrder(t *testing.T, d *tuitest.Driver, texts ...string) {
	t.Helper()
	screen := d.Screen()
	at := 0
	for _, text := range texts {
		i := strings.Index(screen[at:], text)
		if i < 0 {
			t.Fatalf("%q does not come after what is before it in %q:\n%s", text, texts, screen)
		}
		at += i
	}
}

func TestResume(t *testing.T) {
	d := newShelf().open(t)
	d.Sees("Sessions of this folder", "fix the parser", "2h ago · 4 messages · 3 branches · 2 tasks · aaaaaaaa-1").Misses("elsewhere")
	d.Press("tab").Sees("Sessions of all folders", "elsewhere", "/tmp")
	d.Type("else").Press("enter").WasSent(engine.Open{Path: "/s/b"}).Misses("Sessions of")
}

func TestResumeOrders(t *testing.T) {
	d := newShelf().open(t)
	d.Sees("with their forks")
	inOrder(t, d, "the beginning", "└─ another way", "fix the parser")
	d.Press("ctrl+s").Sees("newest first").Misses("└─")
	inOrder(t, d, "another way", "fix the parser", "the beginning")
	d.Type("fix")
	inOrder(t, d, "fix the parser", "the beginning")
	d.Press("ctrl+s").Sees("best match first").Press("ctrl+s").Sees("with their forks")
	d.Press("ctrl+u", "ctrl+n").Sees("Named sessions of this folder", "the beginning").Misses("parser", "another way")
	d.Press("ctrl+n").Sees("fix the parser")
}

func TestAFolderWithoutSessionsLeadsToTheOthers(t *testing.T) {
	s := newShelf()
	s.sessions = s.sessions[2:3]
	d := s.open(t)
	d.Sees("there are no sessions here; Tab looks in all folders").Press("tab").Sees("elsewhere")
}

func TestRenamingASession(t *testing.T) {
	s := newShelf()
	d := s.open(t)
	d.Press("end", "ctrl+r").Sees("Name of fix the parser").Type("parsers").Press("enter")
	d.Sees("› ", "parsers", "Named")
	d.Press("enter").WasSent(engine.Open{Path: "/s/a"})
	d.Type("/resume").Press("enter", "end", "ctrl+r")
	s.fails = errors.New("it is open in another window")
	d.Type("x").Press("enter").Press("esc").Sees("it is open in another window")
}

func TestDeletingASession(t *testing.T) {
	s := newShelf()
	d := s.open(t)
	d.Press("down", "down", "ctrl+d").Sees("Delete fix the parser and the sessions of its tasks (2, and theirs)?").Press("enter").Sees("Sessions of this folder", "fix the parser")
	s.fails = errors.New("the disk is read-only")
	d.Press("ctrl+d", "down", "enter").Sees("fix the parser")
	s.fails = nil
	d.Press("ctrl+d", "down", "enter").Misses("fix the parser").Sees("another way", "It is in the trash")
	d.Press("esc").Sees("the disk is read-only")
	if len(s.sessions) != 3 {
		t.Errorf("there are %v", s.sessions)
	}
}

func TestPreviewOfASession(t *testing.T) {
	s := newShelf()
	d := s.open(t)
	if len(s.previews) > 0 {
		t.Error("there is no room for a preview, and it was read")
	}
	d.Press("esc").Resize(120, 40).Type("/resume").Press("enter")
	d.Sees("You", "what of /s/old?", "fine.").Press("down").Sees("what of /s/fork?").Misses("what of /s/old?")
	for i, line := range strings.Split(d.Frame(), "\n") {
		if strings.Contains(line, "\x1b[2J") {
			t.Errorf("row %d clears the screen", i)
		}
	}
}

// The list of many sessions takes keys without trouble, and a long family of
// forks, or one that is its own ancestor, is a list as well.
func TestManySessions(t *testing.T) {
	s := &shelf{}
	for i := range 3000 {
		s.sessions = append(s.sessions, tui.Session{
			Path: fmt.Sprintf("/s/%d", i), ID: fmt.Sprintf("%08d", i), First: fmt.Sprintf("prompt %d", i),
			Cwd: "/home/ada/engine", Parent: fmt.Sprintf("/s/%d", (i+1)%3000),
		})
	}
	d := s.open(t)
	d.Sees("3000").Press("end", "pgup", "home").Type("2999").Sees("prompt 2999").Press("ctrl+s", "ctrl+s", "enter")
	d.WasSent(engine.Open{Path: "/s/2999"})
}

// Whatever the parents are, every session is there once, and no session stands
// before a parent that is there, unless they go round.
func TestForkTreeHoldsEverySession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var list []tui.Session
		for i := range n {
			s := tui.Session{Path: fmt.Sprintf("/s/%d", i), ID: fmt.Sprintf("id-%d", i)}
			if p := rapid.IntRange(-1, n).Draw(t, "parent"); p >= 0 && p > i { // a parent is older
				s.Parent = rapid.SampledFrom([]string{fmt.Sprintf("/s/%d", p), fmt.Sprintf("id-%d", p)}).Draw(t, "name")
			}
			list = append(list, s)
		}
		ordered, leads := tui.ForkTree(list)
		at := map[string]int{}
		for i, s := range ordered {
			at[s.Path], at[s.ID] = i, i
		}
		if len(ordered) != n || len(leads) != n || len(at) != 2*n {
			t.Fatalf("%d of %d sessions", len(ordered), n)
		}
		for i, s := range ordered {
			p, known := at[s.Parent]
			if known && p > i || known != (leads[i] != "") {
				t.Fatalf("%q is at %d, its parent at %d (%v), lead %q", s.Path, i, p, known, leads[i])
			}
		}
	})
}
