package llm_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/llm"
)

// drawn is an answer and the events that make it.
type drawn struct {
	want   []llm.Block
	events []llm.Event
	cut    []string
}

// draw makes an answer of blocks that interleave.
func draw(t *rapid.T) drawn {
	var d drawn
	var streams [][]llm.Event
	text := rapid.StringN(1, 12, 40)
	gap := rapid.IntRange(1, 3).Draw(t, "gap")
	for i := range rapid.IntRange(0, 6).Draw(t, "blocks") {
		n := i * gap
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s := text.Draw(t, "text")
			d.want = append(d.want, llm.Text{Text: s})
			streams = append(streams, []llm.Event{llm.TextDelta{Block: n, Text: s}})
		case 1:
			s := text.Draw(t, "thinking")
			d.want = append(d.want, llm.Thinking{Text: s, Signature: "sig"})
			streams = append(streams, []llm.Event{llm.ThinkingDelta{Block: n, Text: s}, llm.ThinkingDelta{Block: n, Signature: "sig"}})
		case 2:
			d.want = append(d.want, llm.ToolCall{ID: "c", Name: "read", Arguments: []byte(`{"path":"世"}`)})
			streams = append(streams, []llm.Event{llm.CallDelta{Block: n, ID: "c", Name: "read", Arguments: `{"path":"世"}`}, llm.CallDone{Block: n}})
		case 3:
			args := rapid.SampledFrom([]string{`{"path":`, `[]`, `null`, `{} x`, `{"a":1,"a":2}`, `"x"`}).Draw(t, "bad")
			d.cut = append(d.cut, "bad")
			streams = append(streams, []llm.Event{llm.CallDelta{Block: n, ID: "c", Name: "bad", Arguments: args}, llm.CallDone{Block: n}})
		}
	}
	for len(streams) > 0 { // interleave, each stream in its own order
		i := rapid.IntRange(0, len(streams)-1).Draw(t, "next")
		d.events = append(d.events, streams[i][0])
		if streams[i] = streams[i][1:]; len(streams[i]) == 0 {
			streams = append(streams[:i], streams[i+1:]...)
		}
	}
	return d
}

// split cuts deltas into smaller ones, anywhere, inside runes too.
func split(t *rapid.T, events []llm.Event) []llm.Event {
	var out []llm.Event
	cut := func(s string) []string {
		var parts []string
		for len(s) > 0 {
			n := rapid.IntRange(1, len(s)).Draw(t, "cut")
			parts, s = append(parts, s[:n]), s[n:]
		}
		return parts
	}
	for _, ev := range events {
		switch ev := ev.(type) {
		case llm.TextDelta:
			for _, s := range cut(ev.Text) {
				out = append(out, llm.TextDelta{Block: ev.Block, Text: s})
			}
		case llm.ThinkingDelta:
			for _, s := range cut(ev.Text) {
				out = append(out, llm.ThinkingDelta{Block: ev.Block, Text: s})
			}
			for _, s := range cut(ev.Signature) {
				out = append(out, llm.ThinkingDelta{Block: ev.Block, Signature: s})
			}
		case llm.CallDelta:
			out = append(out, llm.CallDelta{Block: ev.Block, ID: ev.ID, Name: ev.Name})
			for _, s := range cut(ev.Arguments) {
				out = append(out, llm.CallDelta{Block: ev.Block, Arguments: s})
			}
		default:
			out = append(out, ev)
		}
	}
	return out
}

func fold(events []llm.Event) *llm.Fold {
	f := llm.NewFold("api", "provider", "model", time.Unix(1, 0))
	for _, ev := range events {
		f.Apply(ev)
	}
	return f
}

func TestFoldOfSplitDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		f := fold(split(t, d.events))
		got := f.Message()
		if !reflect.DeepEqual(got.Content, d.want) && len(got.Content)+len(d.want) > 0 {
			t.Fatalf("got  %v\nwant %v", got.Content, d.want)
		}
		if !reflect.DeepEqual(f.Cut(), d.cut) {
			t.Fatalf("cut %q, want %q", f.Cut(), d.cut)
		}
		if len(f.Writing()) > 0 {
			t.Fatalf("still writing %v", f.Writing())
		}
	})
}

// TestFoldOfPrefixes: wherever an answer breaks off, only whole calls are in it,
// and messages that were given out before do not change.
func TestFoldOfPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		f := fold(nil)
		var kept []llm.Message
		var texts []string
		for _, ev := range split(t, d.events) {
			f.Apply(ev)
			m := f.Message()
			for _, c := range m.Calls() {
				if c.Name == "bad" || string(c.Arguments) != `{"path":"世"}` {
					t.Fatalf("a cut call: %s %s", c.Name, c.Arguments)
				}
			}
			kept, texts = append(kept, m), append(texts, m.Text())
		}
		for i, m := range kept {
			if m.Text() != texts[i] {
				t.Fatalf("a message changed from %q to %q", texts[i], m.Text())
			}
		}
	})
}

func TestFoldStartsOver(t *testing.T) {
	f := fold([]llm.Event{
		llm.Start{ResponseID: "r1"},
		llm.TextDelta{Text: "lost"},
		llm.UsageUpdate{Usage: llm.Usage{Input: 7}},
		llm.CallDelta{Block: 1, ID: "c", Name: "read"},
		llm.Retry{Attempt: 2},
	})
	if m := f.Message(); len(m.Content) > 0 || m.ResponseID != "" || m.Usage.Input != 0 || len(f.Writing()) > 0 {
		t.Errorf("after a retry: %+v", m)
	}
	f.Apply(llm.Start{ResponseID: "r2", API: "a2", Provider: "p2", Model: "m2"})
	f.Apply(llm.TextDelta{Text: "found"})
	f.Apply(llm.Done{Reason: llm.StopEnd})
	if m := f.Message(); m.Text() != "found" || m.ResponseID != "r2" || m.Model != "m2" || m.Provider != "p2" || m.StopReason != llm.StopEnd {
		t.Errorf("after the second try: %+v", m)
	}
}

func TestFoldArguments(t *testing.T) {
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	tests := []struct {
		args   string
		reason llm.StopReason
		want   string // "" for cut
	}{
		{``, llm.StopToolUse, `{}`},
		{" \n", llm.StopToolUse, `{}`},
		{` {"a":1} `, llm.StopToolUse, `{"a":1}`},
		{`{"a":1}`, llm.StopEnd, `{"a":1}`},
		{`{"a":1}`, llm.StopLength, ``},
		{``, llm.StopLength, ``},
		{`{"a":{"b":1,"c":[{"b":1},{"b":2}],"d":"b"},"b":1}`, llm.StopToolUse, `{"a":{"b":1,"c":[{"b":1},{"b":2}],"d":"b"},"b":1}`},
		{`{"a":["a","a",{"a":"a"}]}`, llm.StopToolUse, `{"a":["a","a",{"a":"a"}]}`},
		{`{"a":1,"a":1}`, llm.StopToolUse, ``},
		{`{"a":{"b":{},"b":[]}}`, llm.StopToolUse, ``},
		{`{"a":[1,{"x":[],"x":{}}]}`, llm.StopToolUse, ``},
		{`{"a":1,"\u0061":2}`, llm.StopToolUse, ``},
		{`{"a":1`, llm.StopToolUse, ``},
		{`{"a":1}}`, llm.StopToolUse, ``},
		{`{"a":` + deep + `}`, llm.StopToolUse, ``},
		{`{'a':1}`, llm.StopToolUse, ``},
		{`"{}"`, llm.StopToolUse, ``},
	}
	for _, tt := range tests {
		f := fold([]llm.Event{llm.CallDelta{ID: "c", Name: "t", Arguments: tt.args}, llm.CallDone{}, llm.Done{Reason: tt.reason}})
		got := ""
		for _, c := range f.Message().Calls() {
			got = string(c.Arguments)
		}
		if got != tt.want || (len(f.Cut()) == 1) != (tt.want == "") {
			t.Errorf("%.40q, %s: got %q, cut %q", tt.args, tt.reason, got, f.Cut())
		}
	}
}

// FuzzFoldArguments: what becomes a call is always one object that reads the same.
func FuzzFoldArguments(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `[`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		m := fold([]llm.Event{llm.CallDelta{Name: "t", Arguments: args}, llm.CallDone{}, llm.Done{Reason: llm.StopToolUse}}).Message()
		for _, c := range m.Calls() {
			if raw := string(c.Arguments); raw[0] != '{' || raw[len(raw)-1] != '}' || raw != "{}" && raw != strings.TrimSpace(args) {
				t.Errorf("%q became %q", args, raw)
			}
		}
	})
}

func BenchmarkFold(b *testing.B) {
	f := llm.NewFold("a", "p", "m", time.Time{})
	b.ReportAllocs()
	for b.Loop() {
		f.Apply(llm.TextDelta{Text: "some words "})
	}
}
