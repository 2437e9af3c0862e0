package tui_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"
)

func user(text string) session.Data {
	return session.Message{Message: llm.UserText(text, tuitest.Start)}
}

func answer(text string) session.Data {
	return session.Message{Message: llm.Message{
		Role: llm.Assistant, Time: tuitest.Start, StopReason: llm.StopEnd,
		Content: []llm.Block{llm.Text{Text: text}},
	}}
}

func delta(text string) engine.Event {
	return engine.Progress{Event: llm.TextDelta{Text: text}}
}

func TestTypingWorksBeforeAnythingIsOpen(t *testing.T) {
	d := tuitest.New(t)
	d.Type("hello").Sees("› hello")
	d.Press("enter").WasSent(engine.Submit{Text: "hello"})
}

func TestChat(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Sees("Banyan", "connects one", "offline", "ask")
	d.Type("what is a tree?").Press("enter")
	d.WasSent(engine.Submit{Text: "what is a tree?"})
	d.Append(user("what is a tree?"))
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	d.Sees("what is a tree?", "Working", "Esc interrupts")
	d.Emit(delta("A tree is "), delta("a plant."))
	d.Sees("A tree is a plant.")
	d.Append(answer("A tree is a plant."))
	d.Emit(engine.Finished{What: "turn"})
	d.Misses("Working", "Banyan")
	if n := strings.Count(d.Screen(), "A tree is a plant."); n != 1 {
		t.Errorf("the answer is there %d times:\n%s", n, d.Screen())
	}
}

func TestTimePassesOnlyWhileSomethingRuns(t *testing.T) {
	d := tuitest.New(t).Open()
	if d.Timers() != 0 {
		t.Errorf("%d timers while idle", d.Timers())
	}
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	d.Advance(3 * time.Second).Sees("Working 3s")
	d.Emit(engine.Finished{What: "turn"})
	d.Advance(2 * time.Second)
	if d.Timers() != 0 {
		t.Errorf("%d timers after it", d.Timers())
	}
}

func TestSteerAndFollowUp(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("go"))
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	d.Type("left").Press("enter").Type("then right").Press("alt+enter")
	d.WasSent(engine.Submit{Text: "left"}, engine.Submit{Text: "then right", FollowUp: true})
	d.Emit(engine.Queue{Steering: []string{"left"}, FollowUps: []string{"then right"}})
	d.Sees("↳ next: left", "↳ later: then right", "2 queued")
	d.Type("draft").Press("alt+up").WasSent(engine.Unqueue{})
	d.Emit(engine.Queue{TakenBack: []string{"left", "then right"}})
	d.Sees("› left", "  then right", "  draft").Misses("queued")
}

func TestTheQueueIsPutInOrder(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/queue").Press("enter").Sees("Nothing waits")
	d.Press("ctrl+c")
	d.Append(user("go"))
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}, engine.Queue{FollowUps: []string{"one", "two", "three"}})
	d.Type("/queue").Press("enter").Sees("Waiting for the end", "1 one", "3 three")
	d.Press("alt+down").WasSent(engine.SetQueue{FollowUps: []string{"two", "one", "three"}})
	d.Press("ctrl+d").WasSent(engine.SetQueue{FollowUps: []string{"two", "three"}})
	d.Press("enter").WasSent(engine.SetQueue{FollowUps: []string{"two"}})
	d.Sees("› three").Misses("Waiting for the end")
}

func TestInterrupt(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("go"))
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}, delta("half an "))
	d.Press("esc").WasSent(engine.Interrupt{})
	d.Append(session.Message{Message: llm.Message{
		Role: llm.Assistant, Time: tuitest.Start, StopReason: llm.StopAborted,
		Content: []llm.Block{llm.Text{Text: "half an "}},
	}})
	d.Emit(engine.Finished{What: "turn", Err: errContextCanceled})
	d.Sees("half an").Misses("Working")
	d.Press("esc").WasSent() // it does not count as the second of two
}

func TestErrorsAreSaid(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Emit(engine.Notice{Level: engine.Failure, Text: "The disk is full. /save writes the session elsewhere."})
	d.Sees("The disk is full.")
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}, engine.Finished{What: "turn", Err: errors.New("no route to host")})
	d.Sees("no route to host")
}

// A notice is read to its end, on small screens too.
func TestLongNoticesAreWhole(t *testing.T) {
	d := tuitest.New(t).Open().Resize(60, 16)
	run(d, "/thinking "+strings.Repeat("very ", 12)).Sees("There is no thinking level very", "  high, xhigh")
	d.Press("x").Misses("xhigh")
}

// Over a slow line two Esc may arrive as one read, which says Alt+Esc.
func TestTwoEscInOneRead(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("a draft").Send(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt}).Misses("a draft")
}

// What the answer itself says is not said again below it.
func TestAnErrorIsSaidOnce(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("go"), session.Message{Message: llm.Message{
		Role: llm.Assistant, Time: tuitest.Start, StopReason: llm.StopError, ErrorMessage: "the key is wrong",
	}})
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}, engine.Finished{What: "turn", Err: errors.New("the key is wrong")})
	if n := strings.Count(d.Screen(), "the key is wrong"); n != 1 {
		t.Errorf("the error is said %d times:\n%s", n, d.Screen())
	}
}

func TestRetryCountsDown(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	d.Emit(engine.Progress{Event: llm.Retry{Attempt: 2, Wait: 4 * time.Second, Err: errors.New("overloaded")}})
	d.Sees("Trying again in 4s (try 2)", "overloaded")
	d.Advance(2 * time.Second).Sees("Trying again in 2s")
	d.Emit(delta("here")).Misses("Trying again")
}

func TestUnknownCommand(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/modle").Press("enter")
	d.WasSent().Sees("There is no /modle. Did you mean /model or /mode?", "› /modle")
	d.Type("/xyzzy").Press("enter").WasSent().Sees("/help lists", "› /xyzzy").Misses("/modle")
	d.Press("home").Type("/").Sees("› //xyzzy")
}

func TestPathsAreNoCommands(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/etc/hosts is wrong").Press("enter").WasSent(engine.Submit{Text: "/etc/hosts is wrong"})
}

func TestDoublePresses(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) { o.DoubleEscape = "branch" }).Open()
	d.Append(user("the first prompt"), answer("yes"))
	d.Press("ctrl+c").Sees("Ctrl+C again quits")
	d.Advance(2 * time.Second).Press("ctrl+c")
	if d.Quit() {
		t.Fatal("two presses with a pause between do not quit")
	}
	d.Type("words").Press("esc").Sees("› words").Press("esc").Misses("› words")
	d.Press("up").Sees("› words").Press("ctrl+c").Misses("› words")
	d.Press("esc", "esc").Sees("Take a prompt back", "the first prompt")
	d.Press("esc", "ctrl+c", "ctrl+c")
	if !d.Quit() {
		t.Error("two presses quit")
	}
}

func TestCtrlDQuitsOnlyWithAnEmptyEditor(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("ab").Press("home", "ctrl+d").Sees("› b")
	d.Press("ctrl+u", "delete", "ctrl+d")
	if !d.Quit() {
		t.Errorf("still there:\n%s", d.Screen())
	}
}

func TestPasteChip(t *testing.T) {
	d := tuitest.New(t).Open()
	long := strings.Repeat("line\n", 31) + "end"
	d.Type("see ").Paste(long).Sees("see [Pasted #1 +32 lines]")
	d.Press("enter").WasSent(engine.Submit{Text: "see " + long})
}

func TestHistoryAcrossSessions(t *testing.T) {
	var kept []string
	d := tuitest.New(t, func(o *tui.Options) {
		o.History = func() ([]string, error) { return []string{"older", "old"}, nil }
		o.Remember = func(p string) error { kept = append(kept, p); return nil }
	}).Open()
	d.Type("new").Press("enter")
	if len(kept) != 1 || kept[0] != "new" {
		t.Errorf("kept %q", kept)
	}
	d.Press("up").Sees("› new").Press("up").Sees("› old").Press("up").Sees("› older")
	d.Press("down", "down", "down").Misses("› new")
	d.Press("ctrl+r").Type("der").Sees("Prompts of the past", "older").Press("enter").Sees("› older")
}

func TestCommandCompletion(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/the").Sees("› /theme").Press("enter").Sees("Theme", "contrast")
	d.Press("esc").Type("/thinking hi").Sees("› high").Press("enter").WasSent(engine.SetThinking{Level: llm.ThinkingHigh})
	d.Type("/thinking").Press("enter").Sees("How much the model thinks", "› off").Press("down", "enter").WasSent(engine.SetThinking{Level: llm.ThinkingMinimal})
}

func TestFileCompletion(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Files = func(contextT) ([]string, error) {
			return []string{"main.go", "internal/tree/forest.go", "README.md"}, nil
		}
	}).Open()
	d.Type("read @for").Sees("› internal/tree/forest.go").Press("tab").Sees("› read @internal/tree/forest.go")
	d.Type("and REA").Press("tab").Sees("README.md").Press("tab").Sees("and README.md")
	d.Type("mail me@ma").Misses("› main.go")
}

func TestTooSmall(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Resize(39, 20).Sees("39x20 is too small: 40x10, please")
	d.Resize(24, 8).Sees("24x8 is too small:", "40x10, please")
	d.Resize(40, 10).Misses("too small")
	d.Type("x").Sees("› x")
}

func TestDraftsAreKept(t *testing.T) {
	saved := map[string]string{}
	options := func(o *tui.Options) {
		o.SaveDraft = func(id, text string) error { saved[id] = text; return nil }
		o.LoadDraft = func(id string) string { return saved[id] }
	}
	d := tuitest.New(t, options).Open()
	d.Type("not yet se").Advance(time.Second)
	if len(saved) != 1 {
		t.Fatalf("saved %q", saved)
	}
	tuitest.New(t, options).Open().Sees("› not yet se")
	tuitest.New(t, options).Open().Type("/tree").Press("enter").Misses("not yet").Press("ctrl+s").Sees("› not yet se")
	d.Type("nt").Press("enter").Advance(time.Second)
	tuitest.New(t, options).Open().Misses("› not yet")
}

// What is written before the first prompt was sent is there again in the next
// session of the folder; from then on it belongs to the session.
func TestDraftsOfNewSessions(t *testing.T) {
	saved := map[string]string{}
	options := func(o *tui.Options) {
		o.SaveDraft = func(id, text string) error {
			if saved[id] = text; text == "" {
				delete(saved, id)
			}
			return nil
		}
		o.LoadDraft = func(id string) string { return saved[id] }
	}
	d := tuitest.New(t, options).Open()
	d.Type("the first").Advance(time.Second)
	if _, ok := saved[d.Session.Snapshot().Header().ID]; ok || len(saved) != 1 {
		t.Fatalf("saved %q", saved)
	}
	d = tuitest.New(t, options).Open().Sees("› the first").Press("enter").Append(user("the first")).Type("the second").Advance(time.Second)
	if saved[d.Session.Snapshot().Header().ID] != "the second" || len(saved) != 1 {
		t.Fatalf("saved %q", saved)
	}
	tuitest.New(t, options).Open().Misses("› the first", "› the second")
}

func TestModes(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Press("shift+tab").WasSent(engine.SetPermission{Mode: "edits"})
	d.Emit(engine.State{Permission: "edits", Thinking: llm.ThinkingXHigh, ModelName: "m"}).Sees("edits", "m xhigh")
	d.Press("shift+tab", "alt+t").WasSent(engine.SetPermission{Mode: "plan"}, engine.SetThinking{Level: llm.ThinkingOff})
}

func TestChoosingAModel(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Models = func(contextT) ([]tui.Choice, error) {
			return []tui.Choice{
				{Model: session.ModelRef{Provider: "anthropic", Model: "opus"}, Name: "Opus", Detail: "200k"},
				{Model: session.ModelRef{Provider: "openai", Model: "gpt"}, Name: "GPT"},
			}, nil
		}
	}).Open()
	d.Press("alt+p").Sees("Model", "Opus", "200k").Type("gp").Misses("Opus").Press("enter")
	d.WasSent(engine.SetModel{Model: session.ModelRef{Provider: "openai", Model: "gpt"}}).Misses("Opus")
}

func TestHelpIsTheTables(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/help").Press("enter").Sees("Commands and keys", "/new").Press("end").Sees("Texts", "Home, g", "Answers in words")
	d.Press("esc", "?").Sees("Keys and commands", "send; while running: steer").Press("end").Sees("/quit")
	d.Press("esc").Type("what?").Sees("› what?")
}

func TestPalette(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Press("ctrl+p").Type("exit").Sees("/quit").Press("enter")
	if !d.Quit() {
		t.Errorf("the palette runs commands:\n%s", d.Screen())
	}
}

func TestKeysCanBeChanged(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Keys = map[string][]string{"palette": {"f1"}, "editor.kill-end": {}, "fly": {"x"}}
	}).Open()
	d.Press("f1").Sees("/resume").Press("esc")
	d.Type("ab").Press("home", "ctrl+k").Sees("› ab", `there is no action "fly"`)
}

func TestUntrustedText(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202eevil"
	d := tuitest.New(t, func(o *tui.Options) { o.Cwd = "/tmp/" + evil; o.Branch = func(contextT) string { return evil } }).Open()
	d.Append(user(evil), answer(evil), session.Info{Name: evil})
	d.Emit(engine.State{ModelName: evil, Permission: evil}, engine.Queue{Steering: []string{evil}}, engine.Notice{Level: engine.Failure, Text: evil})
	d.Emit(engine.Asked{Ask: 1, Call: llm.ToolCall{Name: evil, Arguments: []byte(`{"command":"\u001b[2Jrm"}`)}, Reason: evil, Always: evil})
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		d.Resize(size[0], size[1])
		if frame := d.Frame(); strings.Contains(frame, "\x1b]0") || strings.Contains(frame, "\x1b[2J") || strings.Contains(frame, "\u202e") {
			t.Errorf("an escape sequence got through:\n%q", frame)
		}
	}
	if title := d.Model.View().WindowTitle; strings.ContainsAny(title, "\x1b\x07") {
		t.Errorf("title %q", title)
	}
}

func TestCopyAndFarewell(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/copy").Press("enter").Sees("no answer to copy yet")
	d.Append(user("q"), answer("the **answer**"), user("again"))
	d.Type("/copy").Press("enter").Sees("Copied 14 characters")
	if d.Copied() != "the **answer**" {
		t.Errorf("copied %q", d.Copied())
	}
}

func TestSiblings(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("root"), answer("yes"))
	fork := d.Session.Snapshot().Leaf()
	d.Append(user("one way"), answer("first"))
	if err := d.Session.Branch(fork); err != nil {
		t.Fatal(err)
	}
	d.Append(user("other way"), answer("second"))
	second := d.Session.Snapshot().Leaf()
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	d.Sees("‹2/2›", "other way").Misses("one way")
	d.Press("alt+,")
	sent := d.Sent()
	nav, ok := sent[0].(engine.Navigate)
	if !ok || len(sent) != 1 {
		t.Fatalf("sent %#v", sent)
	}
	if e, _, _ := d.Session.Snapshot().Entry(nav.Target); e.Data.(session.Message).Text() != "first" {
		t.Errorf("went to %#v, want the newest end of the other branch", e)
	}
	if err := d.Session.Branch(nav.Target); err != nil {
		t.Fatal(err)
	}
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	d.Sees("‹1/2›", "one way").Misses("other way")
	d.Press("alt+right")
	if nav := d.Sent()[0].(engine.Navigate); nav.Target != second {
		t.Errorf("went to %s, want %s", nav.Target, second)
	}
	d.Type("x").Press("alt+right").WasSent() // now it moves by word
}

func TestDraftsOfMovesGoToAnEmptyEditor(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("first"), answer("yes"))
	moved := engine.Moved{Session: d.Session.Snapshot(), Draft: &engine.Draft{Text: "first"}}
	d.Emit(moved).Sees("› first").Press("ctrl+c").Type("mine").Emit(moved).Sees("› mine")
}

func TestMouse(t *testing.T) {
	d := tuitest.New(t).Open()
	for range 20 {
		d.Append(user("a prompt"), answer("an answer that can be selected"))
	}
	d.Wheel(-4).Sees("Ctrl+End")
	d.Append(user("more"))
	d.Sees("↓ 1 new").Press("ctrl+end").Misses("Ctrl+End")
	y := 0
	for i, line := range strings.Split(d.Screen(), "\n") {
		if strings.Contains(line, "an answer that") {
			y = i
		}
	}
	d.Drag(2, y, 10, y).Sees("Copied 9 characters")
	if d.Copied() != "an answer" {
		t.Errorf("copied %q", d.Copied())
	}
	d.Press("ctrl+x").Sees("Ctrl+X …").Press("m").Sees("the terminal's")
	if d.Model.View().MouseMode != 0 {
		t.Error("the mouse was not given back")
	}
}

func TestStaysWhereItIsWhileTextStreamsIn(t *testing.T) {
	d := tuitest.New(t).Open()
	for range 20 {
		d.Append(user("a prompt"), answer("an answer"))
	}
	d.Press("pgup")
	before := strings.Split(d.Screen(), "\n")[:10]
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	for range 30 {
		d.Emit(delta("more and more text\n\n"))
	}
	if after := strings.Split(d.Screen(), "\n")[:10]; strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("it moved:\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	d.Type("next").Press("enter").Misses("Ctrl+End") // sending goes to the end
}

func TestBranchTakesAPromptBack(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/branch").Press("enter").Sees("nothing to branch from")
	d.Append(user("the first"), answer("yes"), user("the second"), answer("no"))
	d.Type("/branch").Press("enter").Sees("› the second", "the first").Press("down", "enter")
	sent := d.Sent()
	if f, ok := sent[0].(engine.Fork); !ok || f.At || string(f.Target) != "00000001" {
		t.Errorf("sent %#v", sent)
	}
	d.Type("/clone").Press("enter").WasSent(engine.Fork{Target: d.Session.Snapshot().Leaf(), At: true})
}

func TestNamesAndLabels(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/label x").Press("enter").WasSent().Sees("nothing to label yet")
	d.Append(user("q"))
	leaf := d.Session.Snapshot().Leaf()
	d.Press("ctrl+u").Type("/label here").Press("enter").WasSent(engine.SetLabel{Target: leaf, Text: "here"})
	d.Type("/name").Press("enter").Sees("Name of this session").Type("My figs").Press("enter").WasSent(engine.SetName{Name: "My figs"})
	d.Append(session.Info{Name: "My figs"}).Sees("My figs")
	d.Type("/session").Press("enter").Sees("in memory only", "My figs", "entries")
	d.Press("esc").Type("/save /tmp/x.jsonl").Press("enter").WasSent(engine.Save{Path: "/tmp/x.jsonl"})
	d.Type("/compact the tests").Press("enter").WasSent(engine.Compact{Focus: "the tests"})
}

func TestThemesAreTriedOn(t *testing.T) {
	d := tuitest.New(t).Open()
	before := d.Frame()
	d.Type("/theme").Press("enter")
	dark := d.Frame()
	if d.Press("end"); d.Frame() == dark {
		t.Error("the theme under the cursor is not tried on")
	}
	d.Press("home", "esc")
	if d.Frame() != before {
		t.Errorf("the theme did not come back:\n%q\n%q", before, d.Frame())
	}
	d.Type("/theme light").Press("enter")
	if d.Frame() == before {
		t.Error("the theme did not change")
	}
	d.Type("/theme nonsense").Press("enter").Sees("theme nonsense: there is none of that name")
}

func TestAliasesBeatCompletions(t *testing.T) {
	if d := tuitest.New(t).Open().Type("/q").Press("enter"); !d.Quit() { // and not /queue
		t.Errorf("/q does not quit:\n%s", d.Screen())
	}
}

func TestLeavingWithUnsavedEntries(t *testing.T) {
	d := tuitest.New(t).Open().Emit(engine.State{Unsaved: 3})
	d.Sees("3 unsaved").Press("ctrl+d").Sees("The disk refused 3 entries").Press("enter")
	if d.Quit() {
		t.Fatal("the first choice is to stay")
	}
	d.Press("ctrl+d", "down", "enter").Sees("Write the session to").Type("/x").Press("enter").WasSent(engine.Save{Path: "/x"})
	d.Press("ctrl+d", "end", "enter")
	if !d.Quit() {
		t.Error("the last choice is to leave")
	}
}

func TestLogin(t *testing.T) {
	var got string
	d := tuitest.New(t, func(o *tui.Options) {
		o.Providers = func() []string { return []string{"anthropic", "openai"} }
		o.Login = func(_ contextT, provider, key string) error {
			if got = provider + "=" + key; key == "bad" {
				return errors.New("the key is not one of openai's")
			}
			return nil
		}
	}).Open()
	d.Type("/login").Press("enter").Sees("anthropic").Press("down", "enter").Sees("Key of openai")
	d.Paste("sk-secret").Misses("secret").Sees("•••••••••").Press("enter").Sees("openai is connected")
	if got != "openai=sk-secret" {
		t.Errorf("got %q", got)
	}
	d.Type("/login openai").Press("enter").Paste("bad").Press("enter").Sees("not one of openai's")
	d.Type("/login x").Press("enter").Sees("There is no provider x: anthropic, openai")
}

func TestPastingAPicture(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Image = func(contextT) (llm.Image, error) { return llm.Image{Data: "AA", MIME: "image/png"}, nil }
	}).Open()
	d.Type("see ").Press("ctrl+v").Sees("see [Image #1]").Press("enter")
	d.WasSent(engine.Submit{Text: "see [Image #1]", Images: []llm.Image{{Data: "AA", MIME: "image/png"}}})
}

func TestSettings(t *testing.T) {
	values := map[string]string{"theme": "light", "model": "a/b"}
	d := tuitest.New(t, func(o *tui.Options) {
		o.Settings = func(contextT) ([]tui.Setting, error) {
			return []tui.Setting{
				{Name: "theme", Value: values["theme"], From: "settings.json:3", Help: "the colours", Choices: []string{"dark", "light"}, Live: true},
				{Name: "model", Value: values["model"], From: "default", Help: "who answers"},
			}, nil
		}
		o.SaveSetting = func(_ contextT, name, value string) (tui.Preferences, error) {
			values[name] = value
			return tui.Preferences{Theme: values["theme"]}, nil
		}
	}).Open()
	d.Type("/settings").Press("enter").Sees("theme", "light  (settings.json:3)  the colours")
	d.Press("enter").Sees("theme: the colours").Press("enter").Sees("dark  (settings.json:3)")
	d.Press("down", "enter").Sees("model: who answers").Type("c").Press("enter").Sees("a/bc  (default)", "model is a/bc from the next start on")
	d.Press("esc").Type("/theme contrast").Press("enter").Sees("theme is contrast")
	if values["theme"] != "contrast" {
		t.Errorf("kept %v", values)
	}
}

// What is set about the screen counts at once.
func TestSettingsCountAtOnce(t *testing.T) {
	var kept tui.Preferences
	d := tuitest.New(t, func(o *tui.Options) {
		o.Settings = func(contextT) ([]tui.Setting, error) {
			return []tui.Setting{{Name: "theme", Value: `"contrast"`, From: "--theme", Live: true}}, nil
		}
		o.SaveSetting = func(contextT, string, string) (tui.Preferences, error) { return kept, nil }
	}).Open().Append(user("hello"))
	set := func(p tui.Preferences) {
		kept = p
		d.Type("/theme light").Press("enter")
	}
	set(tui.Preferences{
		Theme: "contrast", Keys: map[string][]string{"palette": {"ctrl+y"}}, Vi: true, NoMouse: true, NoTitle: true,
		DoubleEscape: "none", TreeFilter: "user-only",
	})
	d.Sees("theme is light for you; here --theme goes before it")
	if v := d.Model.View(); v.MouseMode != tea.MouseModeNone || v.WindowTitle != "" {
		t.Errorf("mouse %v, title %q", v.MouseMode, v.WindowTitle)
	}
	d.Press("ctrl+p").Misses("Commands").Press("ctrl+y").Sees("Commands").Press("esc")
	d.Type("abc").Press("esc").Type("x").Sees("ab").Misses("abc") // a command of vi's
	d.Press("d", "d", "i").Misses("ab")
	set(tui.Preferences{})
	if v := d.Model.View(); v.MouseMode == tea.MouseModeNone || v.WindowTitle == "" {
		t.Errorf("mouse %v, title %q", v.MouseMode, v.WindowTitle)
	}
	d.Press("ctrl+p").Sees("Commands")
}

// State is the fold of the log: whatever happened, the screen shows what a
// screen shows that opens the session now.
func TestScreenIsTheFoldOfTheLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := tuitest.New(t).Open()
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0:
				d.Append(user("prompt " + strings.Repeat("x", i)))
			case 1:
				d.Emit(engine.Started{What: "turn", At: tuitest.Start}, delta("streamed "), delta("text"))
				d.Append(answer("streamed text"))
				d.Emit(engine.Finished{What: "turn"})
			case 2:
				d.Emit(engine.Started{What: "turn", At: tuitest.Start}, delta("lost"), engine.Finished{What: "turn", Err: errContextCanceled})
			case 3:
				if path := d.Session.Snapshot().PathIDs(d.Session.Snapshot().Leaf()); len(path) > 0 {
					if err := d.Session.Branch(rapid.SampledFrom(path).Draw(rt, "to")); err != nil {
						rt.Fatal(err)
					}
					d.Emit(engine.Moved{Session: d.Session.Snapshot()})
				}
			case 4:
				if leaf := d.Session.Snapshot().Leaf(); leaf != "" {
					d.Append(session.Label{Target: leaf, Text: "here"})
				}
			}
		}
		got := d.Screen()
		d.Open()
		if want := d.Screen(); got != want {
			rt.Fatalf("it shows\n%s\nwhere the log says\n%s", got, want)
		}
	})
}

func TestRunningACommand(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("!go test ./...").Press("enter").Type("!!env").Press("enter").Type("!").Press("enter")
	d.WasSent(engine.RunCommand{Command: "go test ./..."}, engine.RunCommand{Command: "env", Exclude: true}, engine.Submit{Text: "!"})
	d.Emit(engine.Started{What: "command", At: tuitest.Start}, engine.CommandRunning{Command: session.Command{Command: "go test ./...", Output: "ok a\n\x1b[1mok b\n"}})
	d.Sees("Running go test ./...", "Esc interrupts", "ok b").Misses("steers", "ok a")
	d.Append(session.Command{Command: "go test ./...", Output: "ok a\nok b\n"})
	d.Emit(engine.Finished{What: "command"}).Misses("Running").Sees("ok a")
}

func TestContext(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/context").Press("enter").WasSent(engine.Inspect{})
	d.Emit(engine.ContextReport{
		Window: 200_000, Reserve: 32_000, Total: 60_000, Counted: 61_234,
		Parts:   []engine.ContextPart{{Kind: engine.ContextSystem, Count: 1, Tokens: 4_000}, {Kind: engine.ContextResults, Count: 7, Tokens: 56_000}},
		Entries: []engine.ContextEntry{{ID: "a1", Kind: engine.ContextPrompts, Text: "small", Tokens: 9}, {ID: "b2", Kind: engine.ContextResults, Text: "big", Tokens: 50_000}},
	})
	d.Sees("What the model sees", "tool results", "28.0%", "free", "54.0%", "61k", "b2  big")
	if s := d.Screen(); strings.Index(s, "b2") > strings.Index(s, "a1") {
		t.Errorf("the largest comes first:\n%s", s)
	}
}

func TestTemplates(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Templates = func() []tui.Template {
			return []tui.Template{
				{Name: "review", Args: "<file>", Help: "a careful look", Expand: func(_ contextT, args string) (engine.Submit, error) {
					if args == "" {
						return engine.Submit{}, errors.New("which file?")
					}
					return engine.Submit{Text: "Review " + args}, nil
				}},
				{Name: "skill:pdf", Help: "reads PDFs", Expand: func(contextT, string) (engine.Submit, error) { return engine.Submit{Text: "pdf"}, nil }},
				{Name: "quit", Help: "not this one"},
			}
		}
	}).Open()
	d.Type("/rev").Sees("/review <file>", "a careful look").Press("enter").Type("a.go").Press("enter")
	d.WasSent(engine.Submit{Text: "Review a.go"})
	d.Type("/skill:pdf").Press("enter").WasSent(engine.Submit{Text: "pdf"})
	d.Type("/review").Press("esc", "enter").WasSent().Sees("/review: which file?")
	d.Type("/quit").Press("enter")
	if !d.Quit() {
		t.Error("a template took a command's place")
	}
}

func TestSkillsRolesAndAgents(t *testing.T) {
	var role []string
	d := tuitest.New(t, func(o *tui.Options) {
		o.Skills = func(contextT) ([]tui.Fact, error) { return []tui.Fact{{"/skill:pdf", "reads \x1bPDFs"}}, nil }
		o.Agents = func(contextT) ([]tui.Fact, error) { return nil, errors.New("no agents today") }
		o.Roles = func() []tui.Fact { return []tui.Fact{{"reviewer", "looks for faults"}} }
		o.SetRole = func(_ contextT, name string) (string, error) {
			role = append(role, name)
			return "The role is " + name, nil
		}
	}).Open()
	d.Type("/skills").Press("enter").Sees("Skills and prompts", "/skill:pdf", "PDFs").Press("q")
	d.Type("/agents").Press("enter").Sees("no agents today")
	d.Type("/role").Press("enter").Sees("looks for faults").Press("q")
	d.Type("/role rev").Sees("reviewer").Press("enter").Sees("The role is reviewer")
	d.Type("/role none").Press("enter")
	if len(role) != 2 || role[0] != "reviewer" || role[1] != "" {
		t.Errorf("the roles were %q", role)
	}
}

func TestCopyUsesTheSystemsClipboardToo(t *testing.T) {
	var native string
	var fail error
	d := tuitest.New(t, func(o *tui.Options) {
		o.Copy = func(_ contextT, text string) error { native = text; return fail }
	}).Open().Append(user("q"), answer("yes"))
	d.Type("/copy").Press("enter").Sees("Copied 3 characters")
	if native != "yes" || d.Copied() != "yes" {
		t.Errorf("copied %q and %q", native, d.Copied())
	}
	fail = errors.New("xclip: no display")
	d.Type("/copy").Press("enter").Sees("(OSC 52) only: xclip: no display")
}

func TestLongTextsArePaged(t *testing.T) {
	d := tuitest.New(t).Open().Type("/help").Press("enter").Sees("/new").Misses("approve")
	d.Press("end").Misses("/new").Press("g").Sees("/new").Press("pgdown").Misses("/new").Wheel(-20).Sees("/new")
	d.Press("q").Misses("Commands and keys")
}

func TestAClickPutsTheCaret(t *testing.T) {
	d := tuitest.New(t).Open().Type("hello")
	y := d.Model.View().Cursor.Y
	d.Drag(4, y, 4, y).Type("X").Sees("› heXllo")
}

func TestDraftsThatCannotBeKeptAreSaidOnce(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.SaveDraft = func(string, string) error { return errors.New("read-only file system") }
	}).Open()
	for range 3 {
		d.Type("x").Advance(time.Second)
	}
	if n := strings.Count(d.Screen(), "read-only file system"); n != 1 {
		t.Errorf("said %d times:\n%s", n, d.Screen())
	}
}

func TestNotifiesOnlyWhoLooksElsewhere(t *testing.T) {
	for how, want := range map[string]string{"bell": "\a", "osc9": "\x1b]9;agent is done\a", "osc777": "\x1b]777;notify;agent;agent is done\a", "": ""} {
		d := tuitest.New(t, func(o *tui.Options) { o.Notify = how }).Open()
		d.Emit(engine.Finished{What: "turn"})
		if got := d.Raw(); got != "" {
			t.Errorf("%s: wrote %q to who is looking", how, got)
		}
		d.Send(tea.BlurMsg{}).Emit(engine.Finished{What: "turn"})
		if got := d.Raw(); got != want {
			t.Errorf("%s: wrote %q, want %q", how, got, want)
		}
		d.Send(tea.FocusMsg{}).Emit(engine.Finished{What: "turn"})
		if got := d.Raw(); got != "" {
			t.Errorf("%s: wrote %q to who is back", how, got)
		}
	}
}

func TestNotifiesAsTheTerminalUnderstands(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) { o.Notify = "auto" }).Open()
	d.Send(tea.EnvMsg{"TERM=xterm-kitty"})
	if raw := d.Raw(); !strings.Contains(raw, "a=q") {
		t.Errorf("asked %q", raw)
	}
	d.Send(tea.BlurMsg{}).Emit(engine.Finished{What: "turn"})
	if raw := d.Raw(); !strings.HasPrefix(raw, "\x1b]99;") {
		t.Errorf("wrote %q", raw)
	}
}

func TestTheClipboardBehindTmux(t *testing.T) {
	d := tuitest.New(t).Open().Append(user("q"), answer("yes"))
	d.Send(tea.EnvMsg{"TMUX=/tmp/tmux-0/default,1,0"}).Type("/copy").Press("enter")
	if raw := d.Raw(); !strings.HasPrefix(raw, "\x1bPtmux;") || d.Copied() != "yes" {
		t.Errorf("wrote %q, copied %q", raw, d.Copied())
	}
}

func TestFewColours(t *testing.T) {
	d := tuitest.New(t).Open().Append(user("q"))
	if !strings.Contains(d.Frame(), "38;2;") {
		t.Fatal("a theme has colours")
	}
	d.Send(tea.ColorProfileMsg{Profile: colorprofile.Ascii})
	if frame := d.Frame(); strings.Contains(frame, "38;") || strings.Contains(frame, "48;") {
		t.Errorf("colours where there are none: %q", frame)
	}
}

func TestVi(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) { o.Vi = true }).Open()
	d.Type("hello world").Press("esc").Type("bD").Sees("› hello").Misses("world")
	if shape := d.Model.View().Cursor.Shape; shape != tea.CursorBlock {
		t.Errorf("the caret's shape is %v", shape)
	}
	d.Type("A").Type("there").Press("enter").WasSent(engine.Submit{Text: "hello there"})
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}).Type("x").Press("esc").WasSent().Press("esc").WasSent(engine.Interrupt{})
}

// row is the screen's row on which a text stands.
func row(t *testing.T, d *tuitest.Driver, text string) int {
	t.Helper()
	for y, line := range strings.Split(d.Screen(), "\n") {
		if strings.Contains(line, text) {
			return y
		}
	}
	t.Fatalf("the screen lacks %q:\n%s", text, d.Screen())
	return 0
}

func TestClicksChoose(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		d := tuitest.New(t).Open().Resize(size[0], size[1]).Type("/permissions").Press("enter")
		y := row(t, d, "edits")
		d.Drag(5, y, 5, y).WasSent(engine.SetPermission{Mode: "edits"})
		d.Emit(asked(1)).Advance(time.Second)
		y = row(t, d, "Yes, this once")
		d.Drag(5, y-1, 5, y-1).WasSent()
		d.Drag(5, y, 5, y).WasSent(engine.Answer{Ask: 1, Decision: engine.Allow})
	}
}

func TestPromptsArePutAside(t *testing.T) {
	d := tuitest.New(t).Open().Type("for later").Press("ctrl+s").Misses("for later").Sees("takes back what you put aside")
	d.Type("first this").Press("enter").WasSent(engine.Submit{Text: "first this"})
	d.Press("ctrl+s").Sees("› for later").Press("ctrl+c").Misses("put aside")
}

func TestCompaction(t *testing.T) {
	d := tuitest.New(t).Open().Append(user("q"), answer("a"))
	d.Emit(engine.Started{What: "compaction", At: tuitest.Start}, engine.CompactionStarted{Reason: engine.CompactManual}, delta("a summary"))
	d.Sees("Working on the compaction").Misses("steers")
	d.Append(session.Compaction{Summary: "a summary", FirstKept: d.Session.Snapshot().Leaf(), TokensBefore: 84_000})
	d.Emit(engine.CompactionEnded{Before: 84_000, After: 9_400}, engine.Finished{What: "compaction"}).Sees("about 84k tokens became 9k").Misses("Working")
	d.Emit(engine.CompactionEnded{Err: errors.New("no model")}).Sees("Not compacted: no model")
	d.Emit(engine.Finished{What: "compaction", Err: errors.New("no model")})
	if n := strings.Count(d.Screen(), "no model"); n != 1 {
		t.Errorf("the failure is said %d times:\n%s", n, d.Screen())
	}
	before := d.Screen()
	if d.Emit(engine.CompactionEnded{Err: errContextCanceled}); d.Screen() != before {
		t.Errorf("an interrupt is no failure:\n%s", d.Screen())
	}
}

func TestHintsFollowTheKeys(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Keys = map[string][]string{"escape": {"f1"}, "cancel": {"f2"}, "approve.stop": {"f3"}, "picker.close": {"f4"}, "send": {}}
	}).Open()
	d.Press("ctrl+p").Sees("F4 closes").Press("f4").Emit(engine.Started{What: "turn", At: tuitest.Start}).Sees("F1 interrupts").Misses("steers")
	d.Press("f2").Sees("F2 again quits").Emit(asked(1)).Sees("F3 no, and stop")
}
