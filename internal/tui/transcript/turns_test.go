package transcript

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/theme"
)

// chat is a model of some turns, each with an answer of three rows.
func chat(turns, w, h int) *Model {
	s := &script{}
	for i := range turns {
		s.user(fmt.Sprintf("turn %d", i))
		s.answer(llm.Text{Text: fmt.Sprintf("a%d\nb%d\nc%d", i, i, i)})
	}
	m := New(theme.Must("dark", theme.NoColor))
	m.SetSize(w, h)
	m.Reset(Entries(s.entries))
	return m
}

func firstLine(m *Model) string { return strings.SplitN(text(m.View()), "\n", 2)[0] }

func TestTurns(t *testing.T) {
	m := chat(10, 40, 8)
	var got []string
	for range 4 {
		m.PrevTurn()
		got = append(got, firstLine(m))
	}
	m.ScrollLines(2)
	m.PrevTurn() // from within a turn: its own beginning
	got = append(got, firstLine(m))
	m.NextTurn()
	got = append(got, firstLine(m))
	if want := "▌ turn 8|▌ turn 7|▌ turn 6|▌ turn 5|▌ turn 5|▌ turn 6"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	for range 20 {
		m.NextTurn()
	}
	if !m.AtBottom() {
		t.Error("the turn after the last is not the end")
	}
	for range 20 {
		m.PrevTurn()
	}
	if firstLine(m) != "▌ turn 0" || m.AtBottom() {
		t.Errorf("the turn before the first is %q", firstLine(m))
	}
}

func TestTurnInView(t *testing.T) {
	m := chat(10, 40, 12)
	siblings := map[session.ID]int{}
	m.SetSiblings(func(id session.ID) (int, int) { return 1, 1 + siblings[id] })
	want := func(turn int) {
		t.Helper()
		id, ok := m.TurnInView()
		if want := session.ID(fmt.Sprintf("%08x", 2*turn+1)); !ok || id != want {
			t.Errorf("turn in view is %s, want %s on\n%s", id, want, text(m.View()))
		}
	}
	want(9)
	siblings["00000011"] = 1 // turn 8, in view with 9
	want(8)
	m.Top()
	want(1)
	m.SetSize(40, 3)
	m.ScrollLines(3) // the rows of an answer only
	want(0)
	if _, ok := New(theme.Theme{}).TurnInView(); ok {
		t.Error("an empty transcript has a turn in view")
	}
}

func TestSiblingsAreDrawnAndClicked(t *testing.T) {
	m := chat(2, 40, 12)
	n := 3
	m.SetSiblings(func(id session.ID) (int, int) {
		if id == "00000001" {
			return 2, n
		}
		return 1, 1
	})
	if got, want := firstLine(m), "▌ turn 0                          ‹2/3›"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	if h := m.Click(34, 0); h.Kind != HitPrev || h.ID != "00000001" {
		t.Errorf("‹ gives %+v", h)
	}
	if h := m.Click(38, 0); h.Kind != HitNext || h.ID != "00000001" {
		t.Errorf("› gives %+v", h)
	}
	if h := m.Click(4, 0); h.Kind != HitNothing {
		t.Errorf("the text gives %+v", h)
	}
	n = 4 // another branch came: it shows without being told
	if got := firstLine(m); !strings.HasSuffix(got, "‹2/4›") {
		t.Errorf("after a fourth: %q", got)
	}
}

func TestClickOpensOneCard(t *testing.T) {
	m := newDemo(80, 300)
	find := func(needle string) int {
		t.Helper()
		for y, l := range strings.Split(text(m.View()), "\n") {
			if strings.Contains(l, needle) {
				return y
			}
		}
		t.Fatalf("%q is not on the screen:\n%s", needle, text(m.View()))
		return -1
	}
	if strings.Contains(text(m.View()), "package session") {
		t.Fatal("a file that was read is shown before it is opened")
	}
	if h := m.Click(5, find("read internal/session/manager.go")); h.Kind != HitFold {
		t.Fatalf("the card gives %+v", h)
	}
	find("1  package session")
	find("… 2 more lines") // the other cards are as they were
	m.Click(5, find("read internal/session/manager.go"))
	if strings.Contains(text(m.View()), "package session") {
		t.Error("a second click does not close it")
	}
	m.Click(8, find("… 2 more lines"))
	find("=== RUN   TestFailedWrite")
	m.ExpandTools(true)
	find("1  package session")
	m.ExpandTools(false)
	find("… 2 more lines")
}

func TestShowEntry(t *testing.T) {
	m := newDemo(80, 5)
	for id, want := range map[session.ID]string{
		"00000003": "▌ The manager's leaf points",
		"00000005": "▸ thought", // a result: the answer that its card is in
		"00000008": "✓ edit",
	} {
		if !m.ShowEntry(id) || !strings.HasPrefix(firstLine(m), want) {
			t.Errorf("entry %s shows %q, want %q", id, firstLine(m), want)
		}
	}
	if m.ShowEntry("nowhere") {
		t.Error("an entry that is not here is shown")
	}
}

// The line that is read stays at the top when the window changes its width.
func TestResizeKeepsPlace(t *testing.T) {
	m := newDemo(80, 10)
	m.Top()
	for !strings.HasPrefix(firstLine(m), "  2. the leaf moves") {
		m.ScrollLines(1)
		if m.AtBottom() {
			t.Fatal("the line is not there")
		}
	}
	for _, w := range []int{40, 120, 30, 80} {
		m.SetSize(w, 10)
		if !strings.HasPrefix(firstLine(m), "  2. the leaf moves") {
			t.Errorf("at %d cells the top is %q", w, firstLine(m))
		}
	}
}

// Selecting everything gives everything, once.
func TestSelectAll(t *testing.T) {
	m := newDemo(70, 400)
	m.SelectStart(0, 0)
	m.SelectTo(69, 399)
	got := m.SelectEnd()
	for _, want := range []string{demoAnswer, "The manager's leaf points at an entry that is not in the file after a failed write. Find out why, fix it and add a test.", "git commit -am 'Move the leaf last'"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%d times %q in what is selected", strings.Count(got, want), want)
		}
	}
	m.SelectNone()
	if m.SelectEnd() != "" || m.Selecting() {
		t.Error("there is still a selection")
	}
}

// What is selected of a live answer is still selected when it has been committed.
func TestSelectionSurvivesCommit(t *testing.T) {
	m := New(theme.Must("dark", theme.TrueColor))
	m.SetSize(40, 10)
	m.Stream(llm.TextDelta{Text: "some **bold** text"})
	m.SelectStart(2, 0)
	m.SelectTo(10, 0)
	before := m.SelectEnd()
	m.Commit()
	s := &script{}
	s.answer(llm.Text{Text: "some **bold** text"})
	m.Append(EntryBlock(s.entries[0]))
	if after := m.SelectEnd(); before != "some **bold" || after != before {
		t.Errorf("before %q, after %q", before, after)
	}
}
