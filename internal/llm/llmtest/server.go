package llmtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Play answers one request of a [Server].
type Play func(w http.ResponseWriter, r *http.Request)

// Server speaks a dialect on loopback. It plays one [Play] a request, the last
// one again and again, and refuses invalid requests in the provider's way.
type Server struct {
	URL     string
	dialect Dialect
	t       testing.TB

	mu       sync.Mutex // the test and the handlers
	plays    []Play
	received []Received
}

// NewServer starts a server that ends with its test.
func NewServer(t testing.TB, d Dialect, plays ...Play) *Server {
	s := &Server{dialect: d, t: t, plays: plays}
	hs := httptest.NewServer(s)
	t.Cleanup(hs.Close)
	s.URL = hs.URL
	return s
}

// Received are the requests so far.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// Play sets what comes next.
func (s *Server) Play(plays ...Play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = plays
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := Received{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	s.mu.Lock()
	s.received = append(s.received, got)
	var play Play
	if len(s.plays) > 0 {
		play = s.plays[0]
	}
	if len(s.plays) > 1 {
		s.plays = s.plays[1:]
	}
	s.mu.Unlock()
	if err := s.dialect.Validate(got); err != nil {
		s.t.Errorf("the provider would refuse the request: %v\n%s", err, body[:min(len(body), 4000)])
		Status(http.StatusBadRequest, "application/json", s.dialect.ErrorBody(BadRequest, err.Error()))(w, r)
		return
	}
	if play != nil {
		play(w, r)
	}
}

// Stream sends frames, one chunk each, and ends cleanly.
func Stream(frames ...string) Play {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Request-Id", "req_test")
		w.WriteHeader(http.StatusOK)
		flush(w)
		for _, f := range frames {
			if _, err := io.WriteString(w, f); err != nil {
				return
			}
			flush(w)
		}
	}
}

// Status sends a status and a body.
func Status(code int, kind, body string, header ...string) Play {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", "req_test")
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// Then plays frames and then something else on the same connection.
func Then(frames []string, end func(w http.ResponseWriter, r *http.Request)) Play {
	return func(w http.ResponseWriter, r *http.Request) {
		Stream(frames...)(w, r)
		end(w, r)
	}
}

// Stall sends nothing until the client goes away.
func Stall(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Reset breaks the connection with RST.
func Reset(w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: RST_STREAM
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Raw writes bytes to the connection in place of an HTTP answer, then closes it.
func Raw(bytes string) Play {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, bytes)
		_ = conn.Close()
	}
}

// Gzipped sends frames compressed and does not say so.
func Gzipped(frames ...string) Play {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		z := gzip.NewWriter(w)
		for _, f := range frames {
			_, _ = io.WriteString(z, f)
		}
		_ = z.Close()
	}
}

// chunkLie announces a chunk that is longer than what comes.
func chunkLie(frames []string) Play {
	all := ""
	for _, f := range frames {
		all += f
	}
	return Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(all)+50, all))
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
