package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// waiting is a request to an extension that it has not answered.
type waiting struct {
	call
	reply func(json.RawMessage, error)
	timer *time.Timer
	since time.Time // or the last sign of life
}

// call is a request.
type call struct {
	method   string
	params   json.RawMessage
	what     string // for people
	limit    time.Duration
	id       string       // of the tool call, for progress
	progress func(string) // called by the owner; nil for none
}

var (
	errGone     = errors.New("the extension is not running")
	errNoAnswer = errors.New("the extension did not answer in time")
)

// begin sends a request. Reply is called exactly once, by the owner.
func (h *Host) begin(p *peer, c call, reply func(json.RawMessage, error)) (id int64) {
	if p.proc == nil || p.state != Running && p.state != Starting {
		reply(nil, errGone)
		return 0
	}
	p.lastID++
	id = p.lastID
	w := &waiting{call: c, reply: reply, since: time.Now()}
	life := p.life
	w.timer = time.AfterFunc(c.limit, func() { h.put(func() { h.expired(p, life, id) }) })
	p.pending[id] = w
	h.send(p, Line{ID: json.RawMessage(strconv.FormatInt(id, 10)), Method: c.method, Params: c.params})
	return id
}

// call sends a request from any goroutine and waits for the answer. When ctx is
// done the extension is told, and its answer counts no more.
func (h *Host) call(ctx context.Context, p *peer, c call) (json.RawMessage, error) {
	type answer struct {
		raw json.RawMessage
		err error
	}
	answered := make(chan answer, 1)
	var id int64
	if !h.do(func() { id = h.begin(p, c, func(raw json.RawMessage, err error) { answered <- answer{raw, err} }) }) {
		return nil, errEnded
	}
	select {
	case a := <-answered:
		return a.raw, a.err
	case <-ctx.Done():
		h.put(func() { h.giveUp(p, id) })
		return nil, ctx.Err()
	}
}

// giveUp tells an extension that a request is no longer waited for.
func (h *Host) giveUp(p *peer, id int64) (w *waiting) {
	w, ok := p.pending[id]
	if !ok {
		return nil
	}
	w.timer.Stop()
	delete(p.pending, id)
	if len(p.given) < 1000 { // who has not answered so many will not
		p.given[id] = true
	}
	if len(p.pending) == 0 {
		h.closeDialogs(p)
	}
	if params, err := json.Marshal(Cancel{json.RawMessage(strconv.FormatInt(id, 10))}); err == nil {
		h.send(p, Line{Method: "cancel", Params: params})
	}
	return w
}

// expired gives a request up that was not answered in time, unless the user is
// being asked, or there was a sign of life.
func (h *Host) expired(p *peer, life int, id int64) {
	w, ok := p.pending[id]
	if !ok || p.life != life {
		return
	}
	left := w.limit - time.Since(w.since)
	if p.asking > 0 {
		left = w.limit
	}
	if left > 0 {
		w.timer.Reset(left)
		return
	}
	h.giveUp(p, id)
	w.reply(nil, errNoAnswer)
	if w.method != "event" {
		return // who waits for it says so
	}
	if p.silent++; p.silent >= h.opts.Limits.Silent {
		h.fail(p, fmt.Sprintf("it did not answer %d events in a row", p.silent))
		return
	}
	h.fault(p, "silent", fmt.Sprintf("it did not answer %s within %s, and was passed over", w.what, w.limit))
}

// receive takes what came from a process.
func (h *Host) receive(p *peer, life int, r received) {
	if r.err != "" {
		_, _ = p.stderr.Write([]byte(r.err)) // also the last words of one that was ended
	}
	if life != p.life || p.state != Running && p.state != Starting {
		return
	}
	if r.bad != "" {
		h.badLine(p, r)
		return
	}
	if r.line == nil {
		return
	}
	if r.line.Method == "" {
		h.takeAnswer(p, r.line)
		return
	}
	h.serve(p, r.line)
}

// badLine counts lines that make no sense. One that begins with them is no
// extension; one that sends too many is ended.
func (h *Host) badLine(p *peer, r received) {
	if id, err := strconv.ParseInt(string(r.long), 10, 64); err == nil {
		if w, ok := p.pending[id]; ok {
			w.timer.Stop()
			delete(p.pending, id)
			w.reply(nil, errors.New(r.bad))
		}
	}
	if p.state == Starting {
		h.fail(p, r.bad)
		return
	}
	h.fault(p, r.bad, r.bad)
	if p.bad++; p.bad >= h.opts.Limits.Bad {
		h.fail(p, r.bad+", and goes on with it")
	}
}

// takeAnswer gives an answer to who waits for it.
func (h *Host) takeAnswer(p *peer, l *Line) {
	id, err := strconv.ParseInt(string(l.ID), 10, 64)
	w, ok := p.pending[id]
	switch {
	case err == nil && p.given[id]: // too late; it counts no more
		delete(p.given, id)
		return
	case err != nil || !ok:
		h.fault(p, "stray", fmt.Sprintf("it answered what was not asked, or twice (id %s)", clip(string(l.ID), 40)))
		return
	}
	w.timer.Stop()
	delete(p.pending, id)
	p.silent = 0
	if l.Error != nil {
		if w.method == "event" {
			h.fault(p, "error "+w.what, fmt.Sprintf("it failed at %s: %s", w.what, clip(l.Error.Message, 300)))
		}
		w.reply(nil, l.Error)
		return
	}
	w.reply(l.Result, nil)
}
