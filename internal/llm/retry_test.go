package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
)

func fault(class llm.Class, status int, after time.Duration) *llm.Error {
	return &llm.Error{Class: class, Provider: "p", Status: status, Text: "no", RetryAfter: after}
}

// half makes waits three quarters of the backoff, and 5 % more than was asked for.
var half = llm.Policy{Jitter: func() float64 { return 0.5 }}

// retryTest is a script, the waits between its turns, and what comes of it.
type retryTest struct {
	name  string
	turns []llmtest.Turn
	waits []time.Duration
	text  string // of the answer; empty if it fails
}

func retryTests() []retryTest {
	call := []llm.Event{llm.CallDelta{ID: "c", Name: "read"}, llm.CallDone{}}
	partial := []llm.Event{llm.TextDelta{Text: "lost"}}
	busy := func(n int) []llmtest.Turn {
		var turns []llmtest.Turn
		for range n {
			turns = append(turns, llmtest.Fail(fault(llm.RetryNow, 529, 0), partial...))
		}
		return turns
	}
	broken := fault(llm.RetryNow, 0, 0)
	broken.Err = errors.New("reset")
	cut := llmtest.Fail(broken, partial...)
	inStream := llmtest.Fail(fault(llm.RetryNow, 0, 0), partial...) // the provider's own word, after 200
	ms := func(n ...int) (out []time.Duration) {
		for _, n := range n {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	return []retryTest{
		{"first try", []llmtest.Turn{llmtest.Text("ok")}, nil, "ok"},
		{"two failures", append(busy(2), llmtest.Text("ok")), ms(750, 1500), "ok"},
		{"six tries", append(busy(6), llmtest.Text("ok")), ms(750, 1500, 3000, 6000, 12000), ""},
		{"the server's wait", []llmtest.Turn{llmtest.Fail(fault(llm.RetryAfter, 429, 10*time.Second)), llmtest.Text("ok")}, ms(10500), "ok"},
		{"a minute", []llmtest.Turn{llmtest.Fail(fault(llm.RetryAfter, 429, time.Minute)), llmtest.Text("ok")}, ms(63000), "ok"},
		{"more than a minute", []llmtest.Turn{llmtest.Fail(fault(llm.RetryAfter, 429, 61*time.Second)), llmtest.Text("ok")}, nil, ""},
		{"no more than two minutes", []llmtest.Turn{
			llmtest.Fail(fault(llm.RetryAfter, 429, time.Minute)), llmtest.Fail(fault(llm.RetryAfter, 429, time.Minute)), llmtest.Text("ok"),
		}, ms(63000), ""},
		{"a limit without a wait", []llmtest.Turn{llmtest.Fail(fault(llm.RetryAfter, 429, 0)), llmtest.Text("ok")}, ms(750), "ok"},
		{"the network, three tries", []llmtest.Turn{cut, cut, cut, llmtest.Text("ok")}, ms(750, 1500), ""},
		{"errors in the stream", []llmtest.Turn{inStream, inStream, inStream, llmtest.Text("ok")}, ms(750, 1500, 3000), "ok"},
		{"the network, then the server", []llmtest.Turn{cut, cut, busy(1)[0], llmtest.Text("ok")}, ms(750, 1500, 3000), "ok"},
		{"bad key", []llmtest.Turn{llmtest.Fail(fault(llm.Stop, 401, 0)), llmtest.Text("ok")}, nil, ""},
		{"overflow", []llmtest.Turn{llmtest.Fail(fault(llm.Overflow, 400, 0)), llmtest.Text("ok")}, nil, ""},
		{"portal", []llmtest.Turn{llmtest.Fail(fault(llm.Portal, 200, 0)), llmtest.Text("ok")}, nil, ""},
		{"another error", []llmtest.Turn{llmtest.Fail(errors.New("bug")), llmtest.Text("ok")}, nil, ""},
		{"after a call was closed", []llmtest.Turn{llmtest.Fail(fault(llm.RetryNow, 529, 0), call...), llmtest.Text("ok")}, nil, ""},
		{"while a call is open", []llmtest.Turn{llmtest.Fail(fault(llm.RetryNow, 529, 0), call[0]), llmtest.Text("ok")}, ms(750), "ok"},
		{"empty, then an answer", []llmtest.Turn{llmtest.Text(), llmtest.Text("ok")}, ms(750), "ok"},
		{"empty twice is an answer", []llmtest.Turn{llmtest.Text(), llmtest.Text(), llmtest.Text("ok")}, ms(750), ""},
	}
}

func TestWithRetry(t *testing.T) {
	for _, tt := range retryTests() {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f llm.Fold
				var waits []time.Duration
				var failure error
				begin := time.Now()
				for ev, err := range llm.WithRetry(llmtest.Script(tt.turns...), half).Stream(t.Context(), llm.Request{}) {
					if err != nil {
						failure = err
						break
					}
					f.Apply(ev)
					if r, ok := ev.(llm.Retry); ok {
						waits = append(waits, r.Wait)
						if r.Attempt != len(waits)+1 || r.Err == nil {
							t.Errorf("retry %+v", r)
						}
					}
				}
				var sum time.Duration
				for i, w := range waits {
					sum += w
					if i >= len(tt.waits) || w != tt.waits[i] {
						t.Fatalf("waits %v, want %v", waits, tt.waits)
					}
				}
				if len(waits) != len(tt.waits) || time.Since(begin) != sum {
					t.Errorf("waits %v, want %v; it took %s", waits, tt.waits, time.Since(begin))
				}
				if got := f.Message().Text(); failure == nil && got != tt.text || failure != nil && tt.text != "" {
					t.Errorf("%q, %v; want %q", got, failure, tt.text)
				}
			})
		})
	}
}

// TestRetryEndsAtOnce: a wait ends with its context, and with its caller.
func TestRetryEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := llmtest.Fail(fault(llm.RetryAfter, 429, 30*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, _, err := llmtest.Answer(ctx, llm.WithRetry(llmtest.Script(turn, turn), llm.Policy{}), llm.Request{})
		if !errors.Is(err, context.Canceled) || time.Since(begin) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		script := llmtest.Script(turn, turn)
		for range llm.WithRetry(script, llm.Policy{}).Stream(t.Context(), llm.Request{}) {
			break
		}
		if script.Left() != 1 {
			t.Errorf("a caller that left was waited for")
		}
	})
}

func TestWithFallback(t *testing.T) {
	down, refused := fault(llm.RetryNow, 529, 0), fault(llm.Stop, 0, 0)
	refused.Type = "refusal"
	tests := []struct {
		name  string
		first llmtest.Turn
		who   string // who answered; empty if it failed
	}{
		{"the first answers", llmtest.Text("ok"), "m1"},
		{"the first is down", llmtest.Fail(down), "m2"},
		{"it had begun to speak", llmtest.Fail(down, llm.TextDelta{Text: "x"}), ""},
		{"overflow", llmtest.Fail(fault(llm.Overflow, 400, 0)), ""},
		{"refusal", llmtest.Fail(refused), ""},
		{"interrupted", llmtest.Fail(context.Canceled), ""},
	}
	for _, tt := range tests {
		second := llmtest.Script(llmtest.Text("ok"))
		c := llm.WithFallback(
			llm.Choice{Client: llmtest.Script(tt.first), API: "a1", Provider: "p1", Model: "m1"},
			llm.Choice{Client: second, API: "a2", Provider: "p2", Model: "m2"})
		m, _, err := llmtest.Answer(t.Context(), c, llm.Request{Model: "m1"})
		if err != nil {
			m.Model = ""
		}
		if m.Model != tt.who || (err == nil) != (tt.who != "") {
			t.Errorf("%s: %q answered, %v", tt.name, m.Model, err)
		}
		if asked := second.Requests(); len(asked) > 0 && asked[0].Model != "m2" {
			t.Errorf("%s: the second was asked for %q", tt.name, asked[0].Model)
		}
	}
}
