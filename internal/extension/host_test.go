package extension

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// The test binary is the extensions, too: which one its environment says.
func TestMain(m *testing.M) {
	if name := os.Getenv("TEST_EXTENSION"); name != "" {
		behave(name)
		return
	}
	goleak.VerifyTestMain(m)
}

// behave is what an extension of a name does. All greet properly unless the name
// says otherwise.
func behave(name string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...); out.Flush() }
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	next := func() Line {
		text, err := in.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			fmt.Fprintln(os.Stderr, "not a line:", text)
			os.Exit(1)
		}
		return l
	}
	switch name {
	case "exits":
		fmt.Fprintln(os.Stderr, "no such module")
		os.Exit(3)
	case "garbage first":
		say("hello, world")
		time.Sleep(time.Minute)
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	greeting := `{"protocol":1,"events":["input","session_start","session_tree","agent_end"],"tools":[{"name":"echo","description":"says it again","access":"read"}],"commands":[{"name":"shout","description":"loud"}],"keys":[{"key":"ctrl+x e","command":"shout"}],"flags":[{"name":"mood"}]}`
	switch name {
	case "bench":
		greeting = `{"protocol":1,"events":["input","message_update"]}`
	case "newer":
		greeting = `{"protocol":99}`
	case "reserved":
		greeting = `{"protocol":1,"events":["no_such_event"],"tools":[{"name":"mcp__x__y","description":"d"},{"name":"ok","description":"d"},{"name":"ok","description":"d"},{"name":"bad schema","description":"d"},{"name":"s","description":"d","parameters":{"type":7}}],"commands":[{"name":"No Good","description":"d"}],"keys":[{"key":"ctrl+x e","command":"nothing"}]}`
	}
	if l := next(); l.Method == "initialize" {
		say(`{"id":%s,"result":%s}`, l.ID, greeting)
	}
	switch name {
	case "flood":
		for {
			say(`{"method":"status","params":{"text":"tick"}}`)
		}
	case "garbage":
		for {
			say("debug: still alive")
		}
	case "crash":
		next() // state
		os.Exit(7)
	}
	for {
		l := next()
		if l.ID == nil {
			if name == "bench" {
				continue
			}
			if l.Method == "event" || l.Method == "state" || l.Method == "cancel" {
				say(`{"method":"notify","params":{"text":%q}}`, l.Method+" "+string(l.Params))
			}
			continue
		}
		answer(name, l, say)
	}
}

// answer answers a request as the extension of a name does.
func answer(name string, l Line, say func(string, ...any)) {
	switch name {
	case "silent":
		return
	case "twice":
		say(`{"id":%s,"result":{}}`, l.ID)
		say(`{"id":%s,"result":{}}`, l.ID)
		return
	case "other":
		say(`{"id":4711,"result":{"handled":true}}`)
		say(`{"id":%s,"result":{}}`, l.ID)
		return
	case "wrong":
		say(`{"id":%s,"result":{"text":7}}`, l.ID)
		return
	case "fails":
		say(`{"id":%s,"error":{"message":"it broke"}}`, l.ID)
		return
	case "dies":
		os.Exit(9)
	case "huge":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"text":"%s"}}`, l.ID, strings.Repeat("x", 100<<20))
		return
	}
	switch l.Method {
	case "tool":
		run, _ := parse[ToolRun](l.Params)
		say(`{"method":"progress","params":{"callId":%q,"text":"half"}}`, run.CallID)
		say(`{"id":%s,"result":{"content":%q}}`, l.ID, string(run.Arguments))
	case "command":
		say(`{"id":"c1","method":"append_entry","params":{"type":"note","data":{"n":1}}}`)
		say(`{"id":%s,"result":{}}`, l.ID)
	case "event":
		if name == "bench" {
			say(`{"id":%s,"result":{}}`, l.ID)
			return
		}
		in, _ := parse[InputEvent](l.Params)
		if name == "asks" {
			say(`{"id":1,"method":"confirm","params":{"title":"Really?","text":%q}}`, in.Text)
			time.Sleep(300 * time.Millisecond)
		}
		say(`{"id":%s,"result":{"text":%q}}`, l.ID, in.Text+" "+name)
	}
}

// listener is an engine that only listens.
type listener struct {
	mu       sync.Mutex
	commands []engine.Command
	came     chan struct{}
}

func (l *listener) Send(c engine.Command) {
	l.mu.Lock()
	l.commands = append(l.commands, c)
	l.mu.Unlock()
	select {
	case l.came <- struct{}{}:
	default:
	}
	if a, ok := c.(engine.Append); ok && a.Done != nil {
		a.Done([]session.Entry{{ID: "e1", Data: a.Entries[0]}}, nil)
	}
}

func (l *listener) notices() (texts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.commands {
		if n, ok := c.(engine.Notice); ok {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// until waits until a command came that is as wanted.
func until[C engine.Command](t *testing.T, l *listener, what string, ok func(C) bool) (found C) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		l.mu.Lock()
		for _, c := range l.commands {
			if c, is := c.(C); is && ok(c) {
				l.mu.Unlock()
				return c
			}
		}
		l.mu.Unlock()
		select {
		case <-l.came:
		case <-deadline:
			t.Fatalf("there was no %s; there were notices %q", what, l.notices())
		}
	}
}

func noticed(t *testing.T, l *listener, part string) {
	t.Helper()
	until(t, l, "notice with "+part, func(n engine.Notice) bool { return strings.Contains(n.Text, part) })
}

// hosted runs the test binary as extensions of these names.
func hosted(t *testing.T, o Options, names ...string) (*Host, *listener) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{came: make(chan struct{}, 1)}
	o.Cwd = t.TempDir()
	o.Env = append(o.Env, "TEST_EXTENSION="+strings.Join(names, ""))
	h := New(o)
	var found []Found
	for _, name := range names {
		found = append(found, Found{Name: strings.ReplaceAll(name, " ", "-"), Path: self})
	}
	h.Start(l, found)
	t.Cleanup(h.Close)
	return h, l
}

func TestAnExtensionsWay(t *testing.T) {
	h, l := hosted(t, Options{Flags: map[string]map[string]string{"good": {"mood": "fine", "x": "y"}}}, "good")
	in := &engine.Input{Text: "hello"}
	if err := h.Ask(t.Context(), in); err != nil || in.Text != "hello good" {
		t.Errorf("asked, %q, %v", in.Text, err)
	}
	set := until(t, l, "tools", func(s engine.SetTools) bool { return len(s.Tools) == 1 })
	var shown []string
	r := set.Tools[0].Run(t.Context(), tool.Input{CallID: "c1", Args: json.RawMessage(`{"a":1}`), Progress: func(v tool.View) { shown = append(shown, v.(tool.Plain).Text) }})
	if r.Err != nil || len(r.Content) != 1 || r.Content[0] != (llm.Text{Text: `{"a":1}`}) || set.Tools[0].Access != tool.Read {
		t.Errorf("the tool gave %+v", r)
	}
	if len(shown) > 0 && shown[0] != "half" {
		t.Errorf("shown %q", shown)
	}
	offer := until(t, l, "offer", func(o engine.Offer) bool { return len(o.Commands) == 1 })
	if offer.Commands[0].Name != "shout" || offer.Keys[0].Key != "ctrl+x e" {
		t.Errorf("offered %+v", offer)
	}
	noticed(t, l, `no flag "x"`)
	h.Tell(&engine.Invoke{From: "good", Command: "shout", Args: "now"})
	a := until(t, l, "entry", func(engine.Append) bool { return true })
	if c, ok := a.Entries[0].(session.Custom); !ok || c.Type != "good.note" || string(c.Data) != `{"n":1}` {
		t.Errorf("appended %+v", a.Entries)
	}
	// Restarted, it is told what it has appended.
	m, err := session.New("", t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Tell(&engine.SessionStart{Reason: "startup", Session: m.Snapshot()})
	noticed(t, l, "session_start")
	h.Tell(&engine.Invoke{From: "good", Command: "shout"})
	noticed(t, l, `state {"session"`)
	if err := h.Restart("good"); err != nil {
		t.Fatal(err)
	}
	list := h.List()
	if len(list) != 1 || list[0].About.Commands[0].Name != "shout" {
		t.Errorf("listed %+v", list)
	}
}

// Each of these does one thing wrong. The user is told once, and the session goes on.
func TestWhatExtensionsDoWrong(t *testing.T) {
	quick := Limits{Start: 2 * time.Second, Answer: 300 * time.Millisecond, Line: 1 << 20, Rate: 200, Burst: 300}
	for _, tt := range []struct {
		name, notice string
		ends         bool // it does not run afterwards
	}{
		{"exits", "ended by itself with code 3 (no such module)", true},
		{"garbage first", "no line of the protocol", true},
		{"mute", "did not answer initialize", true},
		{"newer", "speaks version 99", true},
		{"flood", "it floods", false},
		{"garbage", "no line of the protocol", false},
		{"crash", "ended by itself with code 7", true},
		{"silent", "did not answer input within", false},
		{"twice", "not asked, or twice", false},
		{"other", "not asked, or twice", false},
		{"wrong", "cannot be used", false},
		{"fails", "it broke", false},
		{"dies", "ended by itself with code 9", true},
		{"huge", "a line of more than 1 MB", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limits := quick
			switch tt.name {
			case "silent", "mute":
			case "flood", "garbage": // they never answer either
				limits.Start = 20 * time.Second
			default:
				limits.Answer, limits.Start = 20*time.Second, 20*time.Second
			}
			h, l := hosted(t, Options{Limits: limits}, tt.name)
			m, err := session.New("", t.TempDir(), session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.name == "crash" {
				h.Tell(&engine.SessionStart{Session: m.Snapshot()})
			}
			in := &engine.Input{Text: "hello"}
			if err := h.Ask(t.Context(), in); err != nil || !strings.HasPrefix(in.Text, "hello") {
				t.Errorf("the prompt is %q, %v", in.Text, err)
			}
			noticed(t, l, tt.notice)
			if all := l.notices(); tt.ends && len(all) != 1 {
				t.Errorf("told %q", all)
			}
			if i := h.List()[0]; tt.ends && i.State != Failed {
				t.Errorf("it is %s", i.State)
			}
			h.Close()
			if len(l.notices()) > 2 { // the fault, and that it was ended for it
				t.Errorf("told %q", l.notices())
			}
		})
	}
}

func TestRegisteredNames(t *testing.T) {
	h, l := hosted(t, Options{}, "reserved")
	_ = h.Ask(t.Context(), &engine.Input{})
	set := until(t, l, "tools", func(engine.SetTools) bool { return true })
	if len(set.Tools) != 1 || set.Tools[0].Name != "ok" {
		t.Errorf("it has %d tools", len(set.Tools))
	}
	for _, part := range []string{`"mcp__x__y" is left out`, `"ok" is left out: it is there twice`, `"bad schema" is left out`, `"s" is left out`, `"No Good" is left out`, `"ctrl+x e" is left out`, `no event "no_such_event"`} {
		noticed(t, l, part)
	}
	if h.Hears("input") {
		t.Error("it hears what nobody wants")
	}
}

// An event waits for the user while they are asked, and is told when they go away.
func TestDialogs(t *testing.T) {
	h, l := hosted(t, Options{Interactive: true, Limits: Limits{Answer: 200 * time.Millisecond}}, "asks")
	done := make(chan string)
	go func() {
		in := &engine.Input{Text: "hello"}
		_ = h.Ask(context.Background(), in)
		done <- in.Text
	}()
	d := until(t, l, "question", func(engine.Dialog) bool { return true })
	if d.Kind != engine.DialogConfirm || d.Title != "Really?" || d.Text != "hello" {
		t.Errorf("asked %+v", d)
	}
	if text := <-done; text != "hello asks" {
		t.Errorf("the prompt is %q", text)
	}
	h.Tell(&engine.DialogAnswer{ID: d.ID, OK: true})
	h.Tell(&engine.DialogAnswer{ID: d.ID, OK: true}) // nobody waits for it
	h.Close()
	if len(l.notices()) > 0 {
		t.Errorf("told %q", l.notices())
	}
}

// After an interrupt nobody waits for the extension, which is told, and what it
// says counts no more.
func TestAnInterruptIsTold(t *testing.T) {
	h, l := hosted(t, Options{Interactive: true}, "silent")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, l, "tools", func(engine.SetTools) bool { return true })
		time.Sleep(50 * time.Millisecond)
		cancel()
	}()
	if err := h.Ask(ctx, &engine.Input{Text: "hello"}); !errors.Is(err, context.Canceled) {
		t.Errorf("asked: %v", err)
	}
	noticed(t, l, "cancel ")
}

func TestNothingRunsThatIsNotAllowed(t *testing.T) {
	h, l := hosted(t, Options{Allowed: func(Found) error { return errors.New("approve it with /extensions") }}, "good")
	_ = h.Ask(t.Context(), &engine.Input{})
	if i := h.List()[0]; i.State != Waiting || i.Why == "" {
		t.Errorf("it is %+v", i)
	}
	if all := l.notices(); len(all) != 1 || !strings.Contains(all[0], "approve it") || h.Hears("input") {
		t.Errorf("told %q", all)
	}
}

// Every occasion is an event, and every event's shapes read what they write.
func TestEventsAreComplete(t *testing.T) {
	var names, occasions []string
	for _, ev := range events() {
		names = append(names, ev.name)
	}
	for _, o := range engine.Occasions() {
		occasions = append(occasions, o.Name())
	}
	slices.Sort(names)
	slices.Sort(occasions)
	if !slices.Equal(names, occasions) {
		t.Errorf("events %q, occasions %q", names, occasions)
	}
}
