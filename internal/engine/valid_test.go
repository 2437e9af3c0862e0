package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/openai"
	"banyan/internal/session"
	"banyan/internal/summary"
	"banyan/internal/tree"
)

// strict is a provider without a network: it refuses what the provider would
// refuse, and answers.
type strict struct {
	dialect llmtest.Dialect
	refused error
}

func (s *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.refused = s.dialect.Validate(llmtest.Received{Path: r.URL.Path, Header: r.Header, Body: body})
	frames := strings.Join(s.dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}}), "")
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(frames)), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// providers are all protocols, each with its own client.
func providers() map[*strict]llm.Client {
	model := func(id string) llm.Model { return llm.Model{ID: id, Images: true, Output: 8000} }
	all := map[*strict]llm.Client{}
	for d, client := range map[llmtest.Dialect]func(http.RoundTripper) llm.Client{
		llmtest.Anthropic{}: func(rt http.RoundTripper) llm.Client {
			return anthropic.New(anthropic.Config{Key: "k", BaseURL: "http://127.0.0.1:1", HTTP: rt, Model: model})
		},
		llmtest.Chat{}: func(rt http.RoundTripper) llm.Client {
			return openai.NewChat(openai.Config{Key: "k", BaseURL: "http://127.0.0.1:1", HTTP: rt, Model: model})
		},
		llmtest.Responses{}: func(rt http.RoundTripper) llm.Client {
			return openai.NewResponses(openai.Config{Key: "k", BaseURL: "http://127.0.0.1:1", HTTP: rt, Model: model})
		},
		llmtest.Gemini{}: func(rt http.RoundTripper) llm.Client {
			return gemini.New(gemini.Config{Key: "k", BaseURL: "http://127.0.0.1:1", HTTP: rt, Model: model})
		},
	} {
		s := &strict{dialect: d}
		all[s] = client(s)
	}
	return all
}

// grown appends to a session what a conversation can hold: answers that failed,
// calls that nobody answered, and results of calls that are long gone, too.
func grown(t *rapid.T, m *session.Manager, i int) {
	at := time.Unix(int64(i), 0)
	text := strings.Repeat("w", rapid.SampledFrom([]int{1, 40, 4000, 40_000}).Draw(t, "size"))
	api := rapid.SampledFrom([]string{"anthropic-messages", "openai-responses", "script"}).Draw(t, "api")
	answer := llm.Message{Role: llm.Assistant, API: api, Provider: "p", Model: "m", Time: at, StopReason: llm.StopEnd}
	result := func(call string) session.Data {
		return session.Message{Message: llm.Message{Role: llm.ToolResult, CallID: call, ToolName: "read", Time: at, Content: []llm.Block{llm.Text{Text: text}}}}
	}
	var ds []session.Data
	switch rapid.IntRange(0, 7).Draw(t, "entry") {
	case 0, 1:
		ds = append(ds, session.Message{Message: llm.UserText(text, at)})
	case 2:
		answer.Content = []llm.Block{llm.Thinking{Text: "hm", Signature: "c2ln"}, llm.Text{Text: text}}
		answer.StopReason = rapid.SampledFrom([]llm.StopReason{llm.StopEnd, llm.StopLength, llm.StopError, llm.StopAborted}).Draw(t, "stop")
		ds = append(ds, session.Message{Message: answer})
	case 3, 4:
		var results []session.Data
		answer.StopReason = llm.StopToolUse
		for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
			id := fmt.Sprintf("c%d", k) // the same in all answers
			answer.Content = append(answer.Content, llm.ToolCall{ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)})
			if rapid.IntRange(0, 4).Draw(t, "answered") > 0 {
				results = append(results, result(id))
			}
		}
		ds = append([]session.Data{session.Message{Message: answer}}, results...)
	case 5:
		ds = append(ds, session.Command{Command: "ls", Output: text, Time: at})
	case 6:
		ds = append(ds, result("nobody"))
	case 7:
		ds = append(ds, session.CustomMessage{Type: "note", Content: []llm.Block{llm.Text{Text: text}}})
	}
	if _, err := m.AppendAll(ds...); err != nil {
		t.Fatal(err)
	}
}

// Over any history with branches, forks and compactions, the request that comes
// of it is one that every provider takes, cut to fit or not.
func TestCompactedRequestsAreValid(t *testing.T) {
	all := providers()
	rapid.Check(t, func(rt *rapid.T) {
		m, err := session.New("", "/w", session.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		keep := rapid.IntRange(1, 12_000).Draw(rt, "keep")
		for i := range rapid.IntRange(1, 30).Draw(rt, "steps") {
			snap := m.Snapshot()
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			default:
				grown(rt, m, i)
			case 7, 8:
				c, err := snap.Context(snap.Leaf())
				if err != nil {
					rt.Fatal(err)
				}
				if plan, ok := summary.Compact(c, summary.CompactOptions{KeepRecent: keep}); ok {
					if _, err := m.Append(session.Compaction{Summary: "what came before", FirstKept: plan.FirstKept, Details: &plan.Files}); err != nil {
						rt.Fatal(err)
					}
				}
			case 9:
				if snap.Len() == 0 {
					continue
				}
				to := snap.ID(tree.Node(rapid.IntRange(0, snap.Len()-1).Draw(rt, "to")))
				if rapid.Bool().Draw(rt, "fork") {
					if m, err = m.CreateBranchedSession("", to); err != nil {
						rt.Fatal(err)
					}
				} else if err := m.Branch(to); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if _, err := m.Append(session.Message{Message: llm.UserText("go on", time.Unix(99, 0))}); err != nil {
			rt.Fatal(err)
		}
		c, err := m.Snapshot().Context(m.Snapshot().Leaf())
		if err != nil {
			rt.Fatal(err)
		}
		req := llm.Request{Model: "gemini-3", System: "be brief", Tools: llmtest.Tools, Messages: summary.Fit(c.Messages(), rapid.IntRange(100, 100_000).Draw(rt, "budget"))}
		for s, client := range all {
			if _, _, err := llmtest.Answer(t.Context(), client, req); err != nil || s.refused != nil {
				rt.Fatalf("%s: %v, %v", s.dialect.Name(), s.refused, err)
			}
		}
	})
}
