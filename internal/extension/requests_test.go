package extension

import (
	"bufio"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
)

// asksFor asks a host for something as an extension would, and gives what it sent to
// the engine.
func asksFor(t *testing.T, o Options, method, params string) (sent engine.Command, err error) {
	t.Helper()
	l := &listener{came: make(chan struct{}, 1)}
	h := New(o)
	h.Start(l, nil)
	defer h.Close()
	i := slices.IndexFunc(h.requests, func(r request) bool { return r.method == method })
	if i < 0 {
		t.Fatalf("there is no request %q", method)
	}
	answered := make(chan error, 1)
	h.do(func() {
		p := h.newPeers([]Found{{Name: "x", Path: "/x"}})[0]
		p.state = Running
		h.requests[i].do(h, p, json.RawMessage(params), func(_ any, err error) { answered <- err })
	})
	err = <-answered
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.commands) > 0 {
		sent = l.commands[len(l.commands)-1]
		if a, ok := sent.(engine.Append); ok {
			a.Done = nil // no two functions are equal
			sent = a
		}
	}
	return sent, err
}

// What an extension asks for becomes the command that a screen would send.
func TestRequestsBecomeCommands(t *testing.T) {
	text := []llm.Block{llm.Text{Text: "hello"}}
	for _, tt := range []struct {
		method, params string
		want           engine.Command
	}{
		{"notify", `{"text":"hi","level":"warning"}`, engine.Notice{Level: engine.Warning, Text: "x: hi"}},
		{"status", `{"text":"1/2"}`, engine.Panel{From: "x", Status: "1/2"}},
		{"widget", `{"lines":["a","b"]}`, engine.Panel{From: "x", Widget: []string{"a", "b"}}},
		{"append_entry", `{"type":"list","data":[1]}`, engine.Append{From: "x", Entries: []session.Data{session.Custom{Type: "x.list", Data: json.RawMessage(`[1]`)}}}},
		{"append_entry", `{}`, engine.Append{From: "x", Entries: []session.Data{session.Custom{Type: "x"}}}},
		{"send_message", `{"content":"hello","hidden":true,"turn":true}`, engine.Append{From: "x", Turn: true, Entries: []session.Data{session.CustomMessage{Type: "x", Content: text}}}},
		{"set_label", `{"entry":"e1","label":"here"}`, engine.SetLabel{Target: "e1", Text: "here"}},
		{"set_name", `{"name":"work"}`, engine.SetName{Name: "work"}},
		{"set_mode", `{"mode":"review","data":{"a":1}}`, engine.SetMode{Mode: "review", Data: json.RawMessage(`{"a":1}`)}},
		{"navigate", `{"target":"e1","at":true,"summarize":true,"instructions":"i","label":"l"}`, engine.Navigate{Target: "e1", At: true, Summarize: true, Instructions: "i", Label: "l"}},
		{"branch", `{"entry":"e1","at":true}`, engine.Fork{Target: "e1", At: true}},
		{"compact", `{"focus":"names"}`, engine.Compact{Focus: "names"}},
		{"prompt", `{"text":"go on","followUp":true}`, engine.Submit{Text: "go on", FollowUp: true, From: "x"}},
		{"interrupt", `{}`, engine.Interrupt{}},
	} {
		got, err := asksFor(t, Options{}, tt.method, tt.params)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s sent %+v, %v; want %+v", tt.method, tt.params, got, err, tt.want)
		}
	}
}

func TestRequestsThatCannotBeDone(t *testing.T) {
	for _, tt := range []struct{ method, params, want string }{
		{"notify", `{"text":"hi","level":"loud"}`, "no level"},
		{"notify", `{"text":7}`, "text is a JSON number where it should be a string"},
		{"widget", `{"lines":["1","2","3","4","5","6","7","8","9","10","11"]}`, "at most 10"},
		{"append_entry", `{"type":"a b"}`, "printable"},
		{"send_message", `{"content":[]}`, "without content"},
		{"send_message", `{"content":[{"type":"toolCall","id":"c","name":"n"}]}`, "without content"},
		{"prompt", `{"text":" "}`, "empty prompt"},
		{"select", `{"title":"t"}`, "1 to 1000 options"},
	} {
		sent, err := asksFor(t, Options{Interactive: true}, tt.method, tt.params)
		if err == nil || !strings.Contains(err.Error(), tt.want) || sent != nil {
			t.Errorf("%s %s: %v, sent %+v", tt.method, tt.params, err, sent)
		}
	}
	// Where nobody can be asked, the answer is none, at once.
	if sent, err := asksFor(t, Options{}, "confirm", `{"title":"t"}`); err != nil || sent != nil {
		t.Errorf("confirm: %v, sent %+v", err, sent)
	}
}

// A line may be as long as it is, and no longer; what comes after a long one is
// read.
func TestLines(t *testing.T) {
	in := strings.NewReader("{\"id\":1}\r\n\n" + `{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 70_000) + "\"}\n" + strings.Repeat("y", 65_536) + "\nlast")
	l := lines{bufio.NewReader(in), 65_536}
	type got struct {
		text string
		long bool
	}
	var all []got
	for {
		line, long, err := l.next()
		if err != nil {
			break
		}
		if long {
			line = headID(line)
		}
		all = append(all, got{string(line[:min(8, len(line))]), long})
	}
	want := []got{{`{"id":1}`, false}, {"", false}, {"7", true}, {"", true}, {"last", false}}
	if !slices.Equal(all, want) {
		t.Errorf("read %v, want %v", all, want)
	}
}
