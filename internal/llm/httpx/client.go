package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"banyan/internal/llm"
)

// The time-outs that hold where [Options] does not say otherwise.
const (
	FirstByte = 120 * time.Second // from sending the request to the first byte of the answer
	Idle      = 60 * time.Second  // between two bytes of the answer, pings and comments included
)

// How much of an answer that is not a stream is read, and for how long, to name
// what went wrong.
const (
	maxFault  = 64 << 10
	faultTime = 5 * time.Second
)

// The media types that an answer can be asked to have.
const (
	EventStream = "text/event-stream"
	JSON        = "application/json"
)

// Options say how a provider is talked to.
type Options struct {
	Provider string   // for errors
	Secrets  []string // never to appear in an error
	// Base does the requests; nil means a transport that all providers share,
	// with proxies from the environment.
	Base      http.RoundTripper
	Want      string        // media type of a good answer: [EventStream] or [JSON]
	FirstByte time.Duration // zero means the package's
	Idle      time.Duration // zero means the package's
}

// NewClient makes a client whose answers are what was asked for: every other
// answer, and every failure, is an error that wraps an [*llm.Error], or the
// context's error when its context is done.
func NewClient(o Options) *http.Client {
	if o.Base == nil {
		o.Base = shared()
	}
	if o.FirstByte == 0 {
		o.FirstByte = FirstByte
	}
	if o.Idle == 0 {
		o.Idle = Idle
	}
	t := &transport{o}
	return &http.Client{Transport: t, CheckRedirect: t.checkRedirect}
}

// Secrets are the values that must not appear in an error: keys, and whatever
// is sent in headers of the user's own.
func Secrets(headers map[string]string, keys ...string) []string {
	for _, value := range headers {
		if len(value) >= 8 { // shorter ones are words
			keys = append(keys, value)
		}
	}
	return keys
}

// shared is made when first used: it costs nothing at start.
var shared = sync.OnceValue(func() http.RoundTripper {
	return &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2: true,
		// A connection that died while the computer slept is found by pinging.
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:          16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
})

type transport struct{ Options }

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watched{cancel: cancel, ctx: ctx, t: t, req: req}
	w.first = time.AfterFunc(t.FirstByte, func() { cancel(stall{t.FirstByte, true}) })
	res, err := t.Base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		w.stop()
		return nil, t.network(req, ctx, err)
	}
	w.body = res.Body
	res.Body = w
	if 300 <= res.StatusCode && res.StatusCode < 400 && res.Header.Get("Location") != "" {
		return res, nil // for checkRedirect
	}
	if res.StatusCode == http.StatusOK && t.wanted(res) {
		return res, nil
	}
	defer w.Close()
	defer time.AfterFunc(faultTime, func() { cancel(stall{faultTime, false}) }).Stop()
	head, _ := io.ReadAll(io.LimitReader(w, maxFault)) // what came of it is enough
	if req.Context().Err() != nil {
		return nil, req.Context().Err()
	}
	return nil, t.fault(req, res, head)
}

// wanted says whether an answer is of the right kind. Servers that send a
// stream under a vague name are forgiven when it begins like one.
func (t *transport) wanted(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind == t.Want || t.Want == "" {
		return true
	}
	if t.Want != EventStream || (kind != "" && kind != "text/plain" && kind != "application/octet-stream") {
		return false
	}
	w := res.Body.(*watched)
	head := make([]byte, 8)
	n, _ := io.ReadFull(w, head)
	w.head = head[:n]
	text := strings.TrimLeft(strings.TrimPrefix(string(w.head), "\uFEFF"), "\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if strings.HasPrefix(text, field) {
			return true
		}
	}
	return false
}

// checkRedirect keeps requests, and so keys, at their origin.
func (t *transport) checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	fault := &llm.Error{Class: llm.Portal, Provider: t.Provider, Host: first.URL.Host, Type: "redirect"}
	switch {
	case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
		fault.Text = fmt.Sprintf("the answer is a redirect to %s, which was not followed", req.URL.Host)
		fault.Hint = "A proxy or a sign-in page may be in the way, or the base URL is wrong"
	case req.Method != first.Method:
		fault.Class = llm.Stop
		fault.Text = fmt.Sprintf("the address redirects to %s", req.URL.Path)
		fault.Hint = "Correct the base URL"
	case len(via) >= 5:
		fault.Text = "the address redirects in a loop"
		fault.Hint = "Correct the base URL"
	default:
		return nil
	}
	return fault
}

// watched is a body that must keep sending. It is read by one goroutine; the
// timers only cancel the request. The idle timer runs while a read waits, so
// that a reader may take its time.
type watched struct {
	t           *transport
	req         *http.Request
	ctx         context.Context
	cancel      context.CancelCauseFunc
	first, idle *time.Timer // idle is nil until the first byte
	body        io.ReadCloser
	head        []byte // read already, comes first
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	if len(w.head) > 0 {
		n := copy(p, w.head)
		w.head = w.head[n:]
		return n, nil
	}
	if w.idle != nil {
		w.idle.Reset(w.t.Idle)
	}
	n, err := w.body.Read(p)
	if w.idle != nil {
		w.idle.Stop()
	} else if n > 0 {
		w.first.Stop()
		w.idle = time.AfterFunc(w.t.Idle, func() { w.cancel(stall{w.t.Idle, false}) })
		w.idle.Stop()
	}
	if err != nil && err != io.EOF {
		err = w.t.network(w.req, w.ctx, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (w *watched) Close() error {
	err := w.body.Close()
	w.stop()
	return err
}

func (w *watched) stop() {
	w.first.Stop()
	if w.idle != nil {
		w.idle.Stop()
	}
	w.cancel(nil)
}

// stall is why a watched request was cancelled.
type stall struct {
	after time.Duration
	first bool
}

func (s stall) Error() string {
	if s.first {
		return fmt.Sprintf("no answer for %s", s.after)
	}
	return fmt.Sprintf("the answer stopped coming for %s", s.after)
}

// network makes an error of a request that had no whole answer.
func (t *transport) network(req *http.Request, ctx context.Context, err error) error {
	if req.Context().Err() != nil {
		return req.Context().Err()
	}
	var s stall
	if errors.As(context.Cause(ctx), &s) {
		return &llm.Error{
			Class: llm.RetryNow, Provider: t.Provider, Host: req.URL.Host, Type: "stall",
			Text: s.Error(), Err: s,
		}
	}
	return networkFault(t.Provider, req.URL.Host, err)
}
