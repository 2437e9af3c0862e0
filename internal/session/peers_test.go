package session_test

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// peerFile is a copy of a file that another program would have written.
func peerFile(t *testing.T, name string) (path, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return writeBytes(t, b), string(b)
}

// TestPi opens a session of pi's, goes on with it, and leaves its lines alone.
func TestPi(t *testing.T) {
	path, text := peerFile(t, "testdata/pi.jsonl")
	if problems, err := session.Verify(path, session.Options{}); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	m := open(t, path)
	s := m.Snapshot()
	if s.Name() != "Cart rounding" || s.Label("0b44d2e1") != "before refactor" || s.Len() != 13 || s.Leaf() != "aaaa2222" || s.Header().Parent == "" {
		t.Errorf("name %q, label %q, %d entries, leaf %s", s.Name(), s.Label("0b44d2e1"), s.Len(), s.Leaf())
	}
	for leaf, want := range map[session.ID][]string{
		"aaaa2222": {"u:why is the cart total off by a cent?", "a:I'll look at the rounding code.", "b:Tried big.Rat; too slow.", "c:tests must stay green"},
		"5555dddd": {"s:## Goal\nfix rounding", "t:func total() …", "!:go test ./cart"},
	} {
		if got := texts(t, s, leaf); !slices.Equal(got, want) {
			t.Errorf("context at %s\n got %q\nwant %q", leaf, got, want)
		}
	}
	// The call at the branch has no result there: it gets one.
	c, err := s.Context(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	messages := c.Messages()
	if err := acceptable(messages); err != nil || len(messages) != 4 || !messages[2].IsError {
		t.Errorf("%v in %v", err, messages)
	}
	if c.Thinking != llm.ThinkingMedium || c.Model != (session.ModelRef{Provider: "anthropic", Model: "claude-sonnet-4-5"}) {
		t.Errorf("thinking %s, model %v", c.Thinking, c.Model)
	}
	if u := s.UsageSince(""); u.Input != 2100 || u.Cost.Total != 0.0147 {
		t.Errorf("usage %+v", u)
	}
	add(t, m, user("go on"))
	if b, _ := os.ReadFile(path); string(b[:len(text)]) != text {
		t.Error("what pi wrote was changed")
	}
}

// TestOhMyPi opens a session of oh-my-pi's.
func TestOhMyPi(t *testing.T) {
	path, _ := peerFile(t, "testdata/omp.jsonl")
	if problems, err := session.Verify(path, session.Options{}); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	s := look(t, path)
	if s.Name() != "Fix cart rounding" || s.Len() != 11 {
		t.Errorf("name %q, %d entries", s.Name(), s.Len())
	}
	c, err := s.Context(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != (session.ModelRef{Provider: "openai", Model: "gpt-5.2"}) || c.Thinking != llm.ThinkingHigh || c.Mode != "plan" ||
		!reflect.DeepEqual(c.Rules, []string{"no-panic", "no-todo"}) || len(c.Items) != 2 {
		t.Errorf("%+v", c)
	}
	messages := c.Messages()
	if len(messages) != 1 || messages[0].Text() != "look at this\n[An image that is not stored in this session.]" {
		t.Errorf("models are sent %+v", messages)
	}
}
