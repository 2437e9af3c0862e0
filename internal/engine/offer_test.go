package engine

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// What an extension has recorded is on the path, and it learns where; with Turn the
// model answers it.
func TestAppendIsAnswered(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"))
	type answer struct {
		made []session.Entry
		err  error
	}
	answered := make(chan answer, 1)
	w.engine.Send(Append{
		From: "x", Turn: true,
		Entries: []session.Data{
			session.Custom{Type: "x.state"},
			session.CustomMessage{Type: "x", Content: []llm.Block{llm.Text{Text: "go on"}}, Display: true},
		},
		Done: func(made []session.Entry, err error) { answered <- answer{made, err} },
	})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	a := <-answered
	path := w.snap.PathIDs(w.snap.Leaf())
	if a.err != nil || len(a.made) != 2 || !slices.Contains(path, a.made[0].ID) || !slices.Contains(path, a.made[1].ID) {
		t.Errorf("appended %+v, %v; the path is %v", a.made, a.err, path)
	}
	if got := w.roles(); !strings.Contains(got, "user go on") || !strings.Contains(got, "a1") {
		t.Errorf("the path says %s", got)
	}
	w.sameOnDisk()
}

// What extensions show goes to the front end as it is, and what the front end says
// to them goes to the hooks.
func TestWhatExtensionsShowIsPassedOn(t *testing.T) {
	s := &spy{}
	w := listened(t, s)
	for _, shown := range []Command{
		Offer{From: "x", Commands: []OfferedCommand{{Name: "c"}}},
		Panel{From: "x", Status: "s"},
		Dialog{ID: "x.1", From: "x", Kind: DialogConfirm},
		DialogClosed{ID: "x.1"},
		Notice{Level: Warning, Text: "n"},
	} {
		w.engine.Send(shown)
	}
	w.engine.Send(Invoke{From: "x", Command: "c", Args: "a"})
	w.engine.Send(DialogAnswer{ID: "x.1", OK: true})
	w.until("the notice", func(ev Event) bool { n, ok := ev.(Notice); return ok && n.Text == "n" })
	var kinds []string
	for _, ev := range w.seen {
		switch ev.(type) {
		case Offer:
			kinds = append(kinds, "offer")
		case Panel:
			kinds = append(kinds, "panel")
		case Dialog:
			kinds = append(kinds, "dialog")
		case DialogClosed:
			kinds = append(kinds, "closed")
		}
	}
	if want := []string{"offer", "panel", "dialog", "closed"}; !slices.Equal(kinds, want) {
		t.Errorf("the front end was told %q", kinds)
	}
	w.close()
	if got := s.names("invoke", "dialog"); !slices.Equal(got, []string{"invoke", "dialog_answer"}) {
		t.Errorf("the hooks heard %q", got)
	}
}
