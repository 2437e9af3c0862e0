package tui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// todo is what an extension brings.
func todo() engine.Offer {
	return engine.Offer{
		From:     "todo",
		Commands: []engine.OfferedCommand{{Name: "todos", Args: "[filter]", Help: "what is to be done\x1b[31m"}, {Name: "tree", Help: "not this one"}},
		Keys: []engine.OfferedKey{
			{Key: "ctrl+x d", Command: "todos", Args: "open"},
			{Key: "alt+9", Command: "todos"},
			{Key: "enter", Command: "todos"},
			{Key: "ctrl+t", Command: "todos"},
			{Key: "j", Command: "todos"},
		},
	}
}

func TestExtensionsBringCommandsAndKeys(t *testing.T) {
	d := tuitest.New(t).Open().Emit(todo())
	d.Sees("the command /tree is taken", "the key Enter is taken", "the key Ctrl+T is taken", "the key j is taken")
	d.Type("/tod").Sees("/todos [filter]", "what is to be done").Misses("\x1b[31m")
	d.Press("enter").WasSent(engine.Invoke{From: "todo", Command: "todos"})
	d.Type("/todos mine").Press("enter").WasSent(engine.Invoke{From: "todo", Command: "todos", Args: "mine"})
	d.Press("alt+9", "ctrl+x", "d").WasSent(
		engine.Invoke{From: "todo", Command: "todos"}, engine.Invoke{From: "todo", Command: "todos", Args: "open"})
	d.Resize(120, 120).Type("/help").Press("enter").Sees("Commands and keys", "/todos [filter]").Press("esc")
	// When it is gone, so is what it brought.
	d.Emit(engine.Offer{From: "todo"}).Type("/todos").Press("enter").Sees("There is no /todos")
}

func TestExtensionsShowThings(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Emit(engine.Panel{From: "todo", Status: "todo 1/2\x1b]0;x\a", Widget: []string{"[x] read", "[ ] write \x1b[2J"}})
	d.Sees("todo 1/2", "[x] read", "[ ] write")
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		d.Resize(size[0], size[1]).Sees("[x] read", "Ask, or / for commands")
	}
	d.Emit(engine.Panel{From: "todo"}).Misses("todo 1/2", "[x] read")
}

func TestDialogs(t *testing.T) {
	ask := func(kind engine.DialogKind) engine.Dialog {
		return engine.Dialog{ID: "gate.1", From: "gate", Kind: kind, Title: "Push?", Text: "to main\nnow", Options: []string{"one", "two"}}
	}
	for _, tt := range []struct {
		name string
		kind engine.DialogKind
		keys []string
		want engine.DialogAnswer
	}{
		{"enter alone confirms nothing", engine.DialogConfirm, []string{"enter"}, engine.DialogAnswer{ID: "gate.1"}},
		{"yes", engine.DialogConfirm, []string{"down", "enter"}, engine.DialogAnswer{ID: "gate.1", OK: true}},
		{"going away", engine.DialogConfirm, []string{"esc"}, engine.DialogAnswer{ID: "gate.1"}},
		{"the second", engine.DialogSelect, []string{"down", "enter"}, engine.DialogAnswer{ID: "gate.1", OK: true, Choice: 1}},
		{"none of them", engine.DialogSelect, []string{"esc"}, engine.DialogAnswer{ID: "gate.1"}},
		{"words", engine.DialogInput, []string{"!", "enter"}, engine.DialogAnswer{ID: "gate.1", OK: true, Text: "to main\nnow!"}},
		{"no words", engine.DialogEditor, []string{"esc"}, engine.DialogAnswer{ID: "gate.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range [][2]int{{100, 30}, {40, 10}} {
				d := tuitest.New(t).Open().Resize(size[0], size[1]).Emit(ask(tt.kind)).Sees("gate: Push?", "to main")
				d.Advance(time.Second).Press(tt.keys...).WasSent(tt.want).Misses("gate: Push?")
			}
		})
	}
}

func TestDialogsAreInert(t *testing.T) {
	for _, kind := range []engine.DialogKind{engine.DialogSelect, engine.DialogConfirm, engine.DialogInput} {
		bad := "x\x1b]0;owned\a\x1b[2J\u202ey"
		d := tuitest.New(t).Open().Emit(engine.Dialog{ID: "a.1", From: bad, Kind: kind, Title: bad, Text: bad, Options: []string{bad}})
		for _, forbidden := range []string{"\x1b]0;", "\x1b[2J", "\u202e"} {
			if strings.Contains(d.Frame(), forbidden) {
				t.Errorf("%s: the frame holds %q", kind, forbidden)
			}
		}
	}
}

// What was being written when a question came up goes on into the editor.
func TestTypeAheadAnswersNoDialog(t *testing.T) {
	d := tuitest.New(t).Open().Type("wa").Emit(engine.Dialog{ID: "a.1", From: "a", Kind: engine.DialogSelect, Title: "Which?", Options: []string{"y", "yes"}})
	d.Advance(100 * time.Millisecond).Type("y").Sees("Which?").WasSent()
	d.Emit(engine.DialogClosed{ID: "a.1"}).Misses("Which?").Sees("› way").WasSent()
}

func TestExtensionsAreListed(t *testing.T) {
	did := ""
	d := tuitest.New(t, func(o *tui.Options) {
		o.Extensions = func(context.Context) ([]tui.Item, error) {
			return []tui.Item{{Title: "todo", Detail: "waiting", Text: "runs x\x1b[31m", Deeds: []tui.Deed{{Text: "Approve it", Do: func(context.Context) (string, error) { did = "approved"; return "done it", nil }}}}}, nil
		}
	}).Open()
	d.Type("/extensions").Press("enter").Sees("todo", "waiting").Press("enter").Sees("Show it", "Approve it")
	d.Press("enter").Sees("runs x").Press("esc")
	d.Type("/extensions").Press("enter").Press("enter", "down", "enter").Sees("done it")
	if did == "" {
		t.Error("it was not approved")
	}
}
