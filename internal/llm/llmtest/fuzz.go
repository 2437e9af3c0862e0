package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"banyan/internal/llm"
)

// Fuzz feeds a client whatever a server may send. Nothing makes it panic or
// break its promise (see [Answer]), every error is an [*llm.Error], and every
// call is whole.
func Fuzz(f *testing.F, d Dialect, open func(http.RoundTripper) llm.Client) {
	everything := Reply{Parts: []Part{
		{Thinking: "hm", Signature: "c2ln"},
		{Text: "hi"},
		{Call: &WireCall{"c", "read", `{"path":"a"}`}},
		{Call: &WireCall{"c", "list", ``}},
	}, Usage: usage}
	f.Add([]byte(strings.Join(d.Frames(everything), "")))
	for _, bad := range d.Bad() {
		f.Add([]byte(strings.Join(bad.Frames, "")))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		client := open(canned(func() io.Reader { return bytes.NewReader(stream) }))
		req := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Content: []llm.Block{llm.Text{Text: "hi"}}}}}
		m, _, err := Answer(t.Context(), client, req)
		var e *llm.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("not an *llm.Error: %v", err)
		}
		seen := map[string]bool{}
		for _, c := range m.Calls() {
			var args map[string]any
			if json.Unmarshal(c.Arguments, &args) != nil || c.Name == "" || c.ID == "" || seen[c.ID] {
				t.Errorf("call %+v", c)
			}
			seen[c.ID] = true
		}
		if u := m.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total < 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
