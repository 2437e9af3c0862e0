package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
)

// webClient is how a server behind HTTP is reached: with the headers of its file
// for its own host, and with answers that are bounded.
//
// When life is done, all that still goes on ends.
func webClient(life context.Context, s Server, host string, log *tail, keep func() (*os.File, error)) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = s.CallTime
	return &http.Client{Transport: &bounded{life: life, base: base, host: host, headers: s.Headers, log: log, keep: keep}}
}

// bounded is a transport that adds headers and bounds answers.
type bounded struct {
	life    context.Context
	base    *http.Transport
	host    string
	headers map[string]string // may be secret: for host only, whatever it redirects to
	log     *tail
	keep    func() (*os.File, error)
}

// RoundTrip implements [http.RoundTripper].
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	release := context.AfterFunc(b.life, cancel)
	end := func() error { release(); cancel(); return nil }
	req = req.Clone(ctx)
	if req.URL.Host == b.host {
		for name, value := range b.headers {
			req.Header.Set(name, value)
		}
	}
	resp, err := b.base.RoundTrip(req)
	if err != nil {
		_ = end()
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body := resp.Body
	closer := closerFunc(func() error { return errors.Join(body.Close(), end()) })
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		resp.Body = closing{io.LimitReader(body, headOfLong), closer}
	case kind == "text/event-stream":
		resp.Body = closing{newFilter(body, "data:", b.log, b.keep), closer}
	case kind == "application/json":
		resp.Body = closing{&whole{in: body, keep: b.keep}, closer}
		resp.ContentLength = -1
	default:
		resp.Body = closing{io.LimitReader(body, maxFrame), closer}
	}
	return resp, nil
}

// closing closes another than it reads.
type closing struct {
	io.Reader
	io.Closer
}

// whole reads an answer that is one message.
type whole struct {
	in    io.Reader
	keep  func() (*os.File, error)
	ready *bytes.Reader
}

// Read implements [io.Reader].
func (w *whole) Read(p []byte) (int, error) {
	if w.ready == nil {
		text, err := w.all()
		if err != nil {
			return 0, err
		}
		w.ready = bytes.NewReader(text)
	}
	return w.ready.Read(p)
}

func (w *whole) all() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(w.in, maxFrame+1))
	if err != nil || len(text) <= maxFrame {
		return text, err
	}
	s := newSpill(w.keep)
	s.write(text)
	if _, err := io.Copy(writerFunc(s.write), w.in); err != nil {
		s.close(true)
		return nil, err
	}
	if answer := s.answer(); answer != nil {
		return answer, nil
	}
	return nil, errors.New("an answer of more than it may have answers nothing")
}

type closerFunc func() error

func (c closerFunc) Close() error { return c() }

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) { w(p); return len(p), nil }

// longOf reads what stands in the place of an answer that is too long.
func longOf(data json.RawMessage) (long longAnswer, ok bool) {
	err := json.Unmarshal(data, &long)
	return long, err == nil && long.Bytes > 0
}
