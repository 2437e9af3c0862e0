package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/llm"
)

// Provider is what [Suite] needs to know of a provider.
type Provider struct {
	Dialect  Dialect
	Provider string // as in messages
	Model    string
	// Secret is the key that New gives its clients.
	Secret string
	// Signs: thinking comes with a signature that is sent back.
	Signs bool
	// EOFEnds: an answer whose reason to stop is known is whole without a terminal event.
	EOFEnds bool
	// New makes a client. Transport may be nil; the time-outs are short in tests.
	New func(baseURL string, transport http.RoundTripper, firstByte, idle time.Duration) llm.Client
}

// timeout is one that no test waits for.
const timeout = time.Minute

// Suite is what every provider passes.
func Suite(t *testing.T, p Provider) {
	leaks := goleak.IgnoreCurrent()
	transport := &http.Transport{}
	s := suite{p}
	s.p.New = func(baseURL string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
		if rt == nil {
			rt = transport
		}
		return p.New(baseURL, rt, firstByte, idle)
	}
	// Whatever happened, no goroutine and no connection is left.
	defer func() {
		transport.CloseIdleConnections()
		goleak.VerifyNone(t, leaks)
	}()
	t.Run("answers", s.answers)
	t.Run("split at every byte", s.split)
	t.Run("cut at every byte", s.cut)
	t.Run("abort at every event", s.abort)
	t.Run("bad streams", s.badStreams)
	t.Run("large", s.large)
	t.Run("bad calls", s.badCalls)
	t.Run("bad answers", s.badAnswers)
	t.Run("statuses", s.statuses)
	t.Run("overflow", s.overflow)
	Requests(t, s.p)
}

// Requests is the part of [Suite] that settings of a client can change: what it
// asks, whatever the conversation was.
func Requests(t *testing.T, p Provider) {
	s := suite{p}
	t.Run("requests", s.requests)
	t.Run("histories", s.histories)
}

type suite struct{ p Provider }

// usage is what the samples say they took.
var usage = llm.Usage{Input: 25, Output: 17, CacheRead: 100}

// sample is an answer with everything in it.
func (s suite) sample() Reply {
	parts := []Part{
		{Thinking: "let me see… 思考", Signature: s.signature()},
		{Text: "héllo 世界 👩‍👩‍👧 \u0000 \x1b]52;c;aGk=\a end"},
		{Call: &WireCall{"call_1", "read", `{"path":"a \"b\" 世.txt","n":[1,2.5,null]}`}},
		{Call: &WireCall{"call_2", "list", `{}`}},
	}
	return Reply{Parts: parts, Usage: usage}
}

func (s suite) signature() string {
	if s.p.Signs {
		return "c2lnbmF0dXJl"
	}
	return ""
}

func (s suite) request() llm.Request {
	return llm.Request{
		Model: s.p.Model, System: "be brief", SessionID: "s1",
		Messages: []llm.Message{llm.UserText("hi", time.Unix(0, 0))},
		Tools:    Tools,
	}
}

// Tools are two tools for requests in tests.
var Tools = []llm.ToolSpec{
	{Name: "read", Description: "reads a file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
	{Name: "list", Description: "lists files", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
}

// ask plays something to a client and folds what it makes of it.
func (s suite) ask(t *testing.T, play Play) (llm.Message, []string, error) {
	t.Helper()
	srv := NewServer(t, s.p.Dialect, play)
	return Answer(t.Context(), s.p.New(srv.URL, nil, timeout, timeout), s.request())
}

// answers: whatever a model can say arrives.
func (s suite) answers(t *testing.T) {
	cases := map[string]Reply{
		"text":          {Parts: []Part{{Text: "hello"}}, Usage: usage},
		"one tool":      {Parts: []Part{{Call: &WireCall{"call_1", "read", `{"path":"a"}`}}}, Usage: usage},
		"several tools": {Parts: []Part{{Text: "I look"}, {Call: &WireCall{"call_1", "read", `{"path":"a"}`}}, {Call: &WireCall{"call_2", "read", `{"path":"b"}`}}, {Call: &WireCall{"call_3", "list", `{}`}}}, Usage: usage},
		"everything":    s.sample(),
	}
	for name, reply := range cases {
		t.Run(name, func(t *testing.T) {
			got, cut, err := s.ask(t, Stream(s.p.Dialect.Frames(reply)...))
			if err != nil || len(cut) > 0 {
				t.Fatalf("cut %q, error %v", cut, err)
			}
			s.compare(t, got, reply)
		})
	}
}

// compare checks a message against what the server was told to say.
func (s suite) compare(t *testing.T, got llm.Message, want Reply) {
	t.Helper()
	var thinking, text string
	var calls []string
	for _, b := range got.Content {
		switch b := b.(type) {
		case llm.Thinking:
			thinking += b.Text
			if s.p.Signs && b.Signature == "" {
				t.Errorf("thinking has no signature")
			}
		case llm.Text:
			text += b.Text
		case llm.ToolCall:
			calls = append(calls, b.Name+" "+string(b.Arguments))
			if b.ID == "" {
				t.Errorf("call %s has no id", b.Name)
			}
		}
	}
	var wantThinking, wantText string
	var wantCalls []string
	for _, p := range want.Parts {
		wantThinking += p.Thinking
		wantText += p.Text
		if p.Call != nil {
			wantCalls = append(wantCalls, p.Call.Name+" "+p.Call.Args)
		}
	}
	if thinking != wantThinking || text != wantText || !slices.Equal(calls, wantCalls) {
		t.Errorf("got  %q %q %q\nwant %q %q %q", thinking, text, calls, wantThinking, wantText, wantCalls)
	}
	reason := llm.StopEnd
	if len(wantCalls) > 0 {
		reason = llm.StopToolUse
	}
	if got.StopReason != reason {
		t.Errorf("stop reason %q, want %q", got.StopReason, reason)
	}
	if u, w := got.Usage, want.Usage; u.Input != w.Input || u.Output != w.Output || u.CacheRead != w.CacheRead || u.Total != w.Input+w.Output+w.CacheRead {
		t.Errorf("usage %+v, want %+v", u, w)
	}
}

// canned is a transport that answers every request with one body.
type canned func() io.Reader

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(c()), Request: req, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// canned asks a client whose server sends these bytes.
func (s suite) canned(t *testing.T, body func() io.Reader) (llm.Message, []string, error) {
	t.Helper()
	c := s.p.New("http://127.0.0.1:1", canned(body), timeout, timeout)
	return Answer(t.Context(), c, s.request())
}

// split: where the network cuts the bytes makes no difference.
func (s suite) split(t *testing.T) {
	reply := s.sample()
	stream := strings.Join(s.p.Dialect.Frames(reply), "")
	step := 1
	if testing.Short() {
		step = 11
	}
	for at := 0; at <= len(stream); at += step {
		got, cut, err := s.canned(t, func() io.Reader {
			return io.MultiReader(strings.NewReader(stream[:at]), strings.NewReader(stream[at:]))
		})
		if err != nil || len(cut) > 0 {
			t.Fatalf("split at %d: cut %q, error %v", at, cut, err)
		}
		if s.compare(t, got, reply); t.Failed() {
			t.Fatalf("split at %d", at)
		}
	}
	got, _, err := s.canned(t, func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })
	if err != nil {
		t.Fatal(err)
	}
	s.compare(t, got, reply)
}

// cut: a stream that ends early is an error, wherever it ends, and runs nothing
// that was not whole.
func (s suite) cut(t *testing.T) {
	frames := s.p.Dialect.Frames(s.sample())
	stream := strings.Join(frames, "")
	whole := len(stream) - len(frames[len(frames)-1]) // without the terminal event
	if s.p.EOFEnds {
		whole = strings.Index(stream, frames[s.endsAt(frames)])
	}
	step := 1
	if testing.Short() {
		step = 11
	}
	for at := 0; at < whole; at += step {
		for _, end := range []io.Reader{strings.NewReader(""), iotest.ErrReader(io.ErrUnexpectedEOF)} {
			got, _, err := s.canned(t, func() io.Reader { return io.MultiReader(strings.NewReader(stream[:at]), end) })
			var e *llm.Error
			if !errors.As(err, &e) || e.Class != llm.RetryNow {
				t.Fatalf("cut at %d: error %v", at, err)
			}
			for _, c := range got.Calls() {
				if want := map[string]string{"read": `{"path":"a \"b\" 世.txt","n":[1,2.5,null]}`, "list": `{}`}[c.Name]; string(c.Arguments) != want {
					t.Fatalf("cut at %d: call %s %s", at, c.Name, c.Arguments)
				}
			}
		}
	}
}

// endsAt is the first frame that says why the answer stops.
func (s suite) endsAt(frames []string) int {
	for i, f := range frames {
		if strings.Contains(f, `"finish_reason":"`) || strings.Contains(f, `"finishReason":"`) {
			return i
		}
	}
	panic("llmtest: no reason to stop in the frames")
}

// abort: a context that ends, or a loop that is left, ends the answer there.
func (s suite) abort(t *testing.T) {
	frames := s.p.Dialect.Frames(s.sample())
	frames = frames[:len(frames)-1]
	srv := NewServer(t, s.p.Dialect, Stream(frames...))
	c := s.p.New(srv.URL, nil, timeout, timeout)
	events := 0
	for ev := range c.Stream(t.Context(), s.request()) {
		if _, done := ev.(llm.Done); ev != nil && !done {
			events++
		}
	}
	srv.Play(Then(frames, Stall))
	for n := 1; n <= events; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		var last error
		for _, err := range c.Stream(ctx, s.request()) {
			if last = err; err != nil {
				break
			}
			if seen++; seen == n {
				cancel()
			}
		}
		cancel()
		// What was in the same batch as the n-th event may still come.
		if !errors.Is(last, context.Canceled) {
			t.Fatalf("cancelled after %d events: %d events, error %v", n, seen, last)
		}
		for range c.Stream(t.Context(), s.request()) {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Answer(ctx, c, s.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// failure checks an error that must be: its class, and that it is fit to be shown.
func (s suite) failure(t *testing.T, err error, class llm.Class) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *llm.Error: %v", err)
	}
	if e.Class != class {
		t.Errorf("class %v, want %v: %v", e.Class, class, e)
	}
	text := e.Error()
	if s.p.Secret != "" && strings.Contains(text, s.p.Secret) {
		t.Errorf("the key is in the error: %s", text)
	}
	if strings.ContainsAny(text, "{}\n") || !strings.Contains(text, s.p.Provider) || !strings.Contains(text, "127.0.0.1") && e.Type != "refusal" {
		t.Errorf("not a sentence that names provider and host: %s", text)
	}
	return e
}
