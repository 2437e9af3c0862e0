package httpx

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"banyan/internal/llm"
)

// script is a transport whose answer writes itself.
type script func(ctx context.Context, w *io.PipeWriter)

func (s script) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	go s(req.Context(), w)
	context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(context.Cause(req.Context())) })
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {EventStream}}, Body: r, Request: req}, nil
}

// read asks and reads to the end, in the time of the test.
func read(t *testing.T, ctx context.Context, base http.RoundTripper) (string, error) {
	t.Helper()
	c := NewClient(Options{Provider: "p", Base: base, Want: EventStream})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.com/x", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return string(all), err
}

// TestStalls is 10 to 14 of the list of bad streams, in virtual time.
func TestStalls(t *testing.T) {
	send := func(pauses ...time.Duration) script {
		return func(ctx context.Context, w *io.PipeWriter) {
			for _, p := range pauses {
				select {
				case <-time.After(p):
				case <-ctx.Done():
					return
				}
				if _, err := io.WriteString(w, "x"); err != nil {
					return
				}
			}
			_ = w.Close()
		}
	}
	pings := make([]time.Duration, 60)
	for i := range pings {
		pings[i] = 10 * time.Second
	}
	tests := []struct {
		name  string
		base  http.RoundTripper
		stall time.Duration // when it ends with a stall; 0 if it does not
	}{
		{"first byte after 119 s", send(119 * time.Second), 0},
		{"first byte after 121 s", send(121 * time.Second), 120 * time.Second},
		{"stall of 59 s", send(0, 59*time.Second), 0},
		{"stall of 61 s", send(0, 61*time.Second), 60 * time.Second},
		{"119 s, then 59 s", send(119*time.Second, 59*time.Second), 0},
		{"pings for ten minutes", send(pings...), 0},
		{"a ping, then nothing", send(time.Second, time.Hour), 61 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				_, err := read(t, t.Context(), tt.base)
				var e *llm.Error
				if tt.stall == 0 && err != nil {
					t.Fatalf("after %s: %v", time.Since(begin), err)
				}
				if tt.stall > 0 && (!errors.As(err, &e) || e.Type != "stall" || e.Class != llm.RetryNow || time.Since(begin) != tt.stall) {
					t.Fatalf("after %s: %v", time.Since(begin), err)
				}
			})
		})
	}
}

// TestSlowReader: the idle time runs while a read waits, not while nobody reads.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClient(Options{Provider: "p", Want: EventStream, Base: script(func(_ context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, "one")
			_, _ = io.WriteString(w, "two")
			_ = w.Close()
		})})
		res, err := c.Get("http://example.com/x")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		buf := make([]byte, 3)
		for _, want := range []string{"one", "two"} {
			if _, err := io.ReadFull(res.Body, buf); err != nil || string(buf) != want {
				t.Fatalf("%q, %v", buf, err)
			}
			time.Sleep(time.Hour)
		}
	})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		_, err := read(t, ctx, script(func(_ context.Context, w *io.PipeWriter) { _, _ = io.WriteString(w, "x") }))
		if !errors.Is(err, context.Canceled) || time.Since(begin) != time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// ask gets an address through a client.
func ask(t *testing.T, o Options, url string) *llm.Error {
	t.Helper()
	o.Provider = "p"
	res, err := NewClient(o).Get(url)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	var e *llm.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("not an *llm.Error: %v", err)
	}
	return e
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", EventStream)
		_, _ = io.WriteString(w, "data: 1\n\n")
		if r.URL.Path == "/cut" { // 23: without TLS's own goodbye
			_ = http.NewResponseController(w).Flush()
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*tls.Conn).NetConn().Close()
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of our distrust
	s.StartTLS()
	defer s.Close()
	if e := ask(t, Options{}, s.URL); e == nil || e.Type != "tls" || e.Class != llm.Stop || e.Hint == "" {
		t.Errorf("an unknown authority: %v", e)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if e := ask(t, Options{}, strings.Replace(plain.URL, "http:", "https:", 1)); e == nil || e.Type != "tls" || e.Class != llm.Stop {
		t.Errorf("no TLS: %v", e)
	}
	if e := ask(t, Options{Base: s.Client().Transport}, s.URL); e != nil {
		t.Errorf("a trusted server: %v", e)
	}
	if e := ask(t, Options{Base: s.Client().Transport}, s.URL+"/cut"); e == nil || e.Class != llm.RetryNow || e.Type != "reset" {
		t.Errorf("TLS cut: %v", e)
	}
}

// TestHTTP2 is 20 and 21: GOAWAY lets the stream end, RST_STREAM cuts it.
func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", EventStream)
		if r.URL.Path == "/goaway" {
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/reset" {
			panic(http.ErrAbortHandler)
		}
		if r.ProtoMajor != 2 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	o := Options{Base: s.Client().Transport, Want: EventStream}
	if e := ask(t, o, s.URL+"/goaway"); e != nil {
		t.Errorf("GOAWAY: %v", e)
	}
	if e := ask(t, o, s.URL+"/reset"); e == nil || e.Class != llm.RetryNow || e.Status != 0 {
		t.Errorf("RST_STREAM: %v", e)
	}
}

func TestNames(t *testing.T) {
	if e := ask(t, Options{}, "http://no-such-host.invalid/"); e == nil || e.Type != "dns" || !strings.Contains(e.Error(), "no-such-host.invalid") {
		t.Errorf("%v", e)
	}
}

// TestFaultsAreToldSoon: what is wrong is told when the body that explains it
// does not end.
func TestFaultsAreToldSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		base := script(func(ctx context.Context, w *io.PipeWriter) {
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`)
		})
		_, err := read(t, t.Context(), status{529, base})
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != llm.RetryNow || e.Text != "busy" || time.Since(begin) != faultTime {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// status is a transport whose answers have another status, in JSON.
type status struct {
	code int
	base http.RoundTripper
}

func (s status) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.base.RoundTrip(req)
	if err == nil {
		res.StatusCode = s.code
		res.Header.Set("Content-Type", JSON)
	}
	return res, err
}

// TestProxy: what a proxy does wrong is not said of the provider.
func TestProxy(t *testing.T) {
	base := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }}
	if e := ask(t, Options{Base: base}, "https://example.com/"); e == nil || e.Type != "proxy" || !strings.Contains(e.Hint, "HTTPS_PROXY") {
		t.Errorf("%v", e)
	}
}

// TestRedirect within the origin is followed, with its body.
func TestRedirect(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", EventStream)
		_, _ = w.Write(body)
	}))
	defer s.Close()
	res, err := NewClient(Options{Provider: "p", Want: EventStream}).Post(s.URL+"/old", JSON, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "hello" {
		t.Errorf("%q, %v", body, err)
	}
}

// TestLargeFaults: a long explanation is read to its end, and shortened.
func TestLargeFaults(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", JSON)
		w.WriteHeader(http.StatusBadRequest)
		if r.URL.Path == "/odd" {
			_, _ = io.WriteString(w, `{"reasons":[1,2]}`)
			return
		}
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"bad schema: `+strings.Repeat("x ", 10_000)+`"}}`)
	}))
	defer s.Close()
	if e := ask(t, Options{}, s.URL); e == nil || !strings.HasPrefix(e.Text, "bad schema") || len(e.Text) > 500 {
		t.Errorf("%v", e)
	}
	if e := ask(t, Options{}, s.URL+"/odd"); e == nil || e.Text != "bad request" {
		t.Errorf("%v", e)
	}
}
