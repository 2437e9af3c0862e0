package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/engine"
	"banyan/internal/mailbox"
	"banyan/internal/session"
)

// Engine is what a host sends commands to.
type Engine interface{ Send(engine.Command) }

// Options are what a host is made of.
type Options struct {
	Version     string // of this program
	Cwd         string
	Interactive bool // somebody can be asked
	// Env is the environment of extensions, without keys.
	Env []string
	// Flags are what the user set, by extension and by name.
	Flags map[string]map[string]string
	// Allowed says whether an extension may be started, just before it is; nil
	// allows all. The error says what the user can do.
	Allowed func(Found) error
	Limits  Limits // zero members mean the usual ones
}

// Limits are how much an extension may take.
type Limits struct {
	Start   time.Duration // until it has answered initialize
	Answer  time.Duration // to an event, not counting the time in which the user is asked
	Work    time.Duration // for a tool or command that says nothing of its progress
	Grace   time.Duration // to end by itself when it is asked to
	Line    int           // bytes of a line
	Text    int           // bytes of text of a tool's result
	Rate    int           // lines a second
	Burst   int           // lines at once
	Bad     int           // lines that make no sense until it is ended
	Silent  int           // events in a row without an answer until it is ended
	Open    int           // requests at once
	Notices int           // of its own, in ten seconds
	Entries int           // that it has recorded, in ten seconds
	Stderr  int           // bytes that are kept
}

func (l Limits) withDefaults() Limits {
	or := func(v *int, usual int) {
		if *v == 0 {
			*v = usual
		}
	}
	last := func(v *time.Duration, usual time.Duration) {
		if *v == 0 {
			*v = usual
		}
	}
	last(&l.Start, 10*time.Second)
	last(&l.Answer, 10*time.Second)
	last(&l.Work, 10*time.Minute)
	last(&l.Grace, time.Second)
	or(&l.Line, 16<<20)
	or(&l.Text, 64<<10)
	or(&l.Rate, 500)
	or(&l.Burst, 2000)
	or(&l.Bad, 100)
	or(&l.Silent, 3)
	or(&l.Open, 64)
	or(&l.Notices, 10)
	or(&l.Entries, 200)
	or(&l.Stderr, 16<<10)
	return l
}

// Host runs extensions and is their [engine.Hooks]. Make it with [New], give it to
// an engine, then call Start once.
type Host struct {
	opts     Options
	engine   Engine
	table    map[string]event // by name; never changed
	requests []request        // never changed
	// hearers are those who want an event, by its name, in load order. The map is
	// never changed, only exchanged by the owner; nil where nobody wants any.
	hearers atomic.Pointer[map[string][]*peer]
	ready   chan struct{}        // closed when the first extensions have started, or have not
	changes chan func()          // for the owner
	queue   *mailbox.Box[func()] // the same, from those who must not wait
	ended   chan struct{}        // closed when the owner has ended
	wg      sync.WaitGroup

	// What follows belongs to the goroutine of run.

	peers    []*peer // in load order
	starting int     // of the first ones
	dialogs  map[string]dialog
	numbers  int                  // dialogs so far
	start    *engine.SessionStart // of the session that is open, as it was when its leaf last moved
	kept     []session.Entry      // that extensions have appended since
	closing  bool
}

// New makes a host. Nothing runs before Start.
func New(o Options) *Host {
	o.Limits = o.Limits.withDefaults()
	h := &Host{
		opts: o, table: map[string]event{}, requests: requests(), ready: make(chan struct{}),
		changes: make(chan func()), queue: mailbox.New[func()](), ended: make(chan struct{}),
		dialogs: map[string]dialog{},
	}
	for _, ev := range events() {
		h.table[ev.name] = ev
	}
	return h
}

// Start runs extensions beside the engine, and is their owner's life until Close.
// It does not wait for them; what they have a say in does.
func (h *Host) Start(e Engine, found []Found) {
	h.engine = e
	h.wg.Go(h.run)
	h.do(func() {
		h.peers = h.newPeers(found)
		h.starting = 1 // until all have begun
		h.rehear()
		for _, p := range h.peers {
			h.launch(p)
		}
		h.started()
	})
}

// Close ends all extensions, and returns when nothing of them is left.
func (h *Host) Close() {
	h.do(func() {
		for _, change := range h.queue.Take() { // what was told before is told
			change()
		}
		h.closing = true
		for _, p := range h.peers {
			h.stop(p, Stopped, "")
		}
	})
	<-h.ended
	h.wg.Wait()
}

// run is the owner's loop.
func (h *Host) run() {
	defer close(h.ended)
	for {
		if h.closing && h.quiet() {
			return
		}
		select {
		case change := <-h.changes:
			change()
		case <-h.queue.Wake:
			for _, change := range h.queue.Take() {
				change()
			}
		}
	}
}

// quiet says whether no process is left.
func (h *Host) quiet() bool {
	return !slices.ContainsFunc(h.peers, func(p *peer) bool { return p.proc != nil || p.launching })
}

// do runs a change in the owner's goroutine and waits for it. It is false where
// the owner has ended.
func (h *Host) do(change func()) bool {
	done := make(chan struct{})
	select {
	case h.changes <- func() { change(); close(done) }:
		<-done
		return true
	case <-h.ended:
		return false
	}
}

// put has a change run in the owner's goroutine. It never waits.
func (h *Host) put(change func()) { h.queue.Put(change) }

// Hears is true for what an extension wants to hear, and, while extensions start,
// for what they could have a say in.
func (h *Host) Hears(name string) bool {
	hearers := h.hearers.Load()
	if hearers == nil {
		return slices.Contains(always(), name)
	}
	if _, ok := (*hearers)[name]; ok {
		return true
	}
	_, still := (*hearers)[startingKey]
	return still && h.table[name].asked
}

// startingKey stands in the hearers while the first extensions start.
const startingKey = "\x00starting"

// Ask asks those who hear of an occasion, in load order. One that fails is left
// out, and the user is told.
func (h *Host) Ask(ctx context.Context, o engine.Occasion) error {
	select {
	case <-h.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	hearers := h.hearers.Load()
	if hearers == nil {
		return nil
	}
	ev := h.table[o.Name()]
	for _, p := range (*hearers)[o.Name()] {
		if in, ok := o.(*engine.Input); ok && in.Source == p.found.Name {
			continue // its own prompt
		}
		err := h.askOne(ctx, p, ev, o)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, engine.ErrVetoed):
			return err
		case err != nil:
			h.put(func() { h.fault(p, "answer", fmt.Sprintf("its answer to %s cannot be used: %v", o.Name(), err)) })
		}
	}
	return nil
}

// askOne asks one extension. That it does not answer is no error: the owner tells.
func (h *Host) askOne(ctx context.Context, p *peer, ev event, o engine.Occasion) error {
	params, err := ev.params(o)
	if err != nil {
		return nil // what cannot be told is not ours to judge
	}
	answer, err := h.call(ctx, p, call{method: "event", params: params, what: ev.name, limit: h.opts.Limits.Answer})
	if err != nil {
		return nil
	}
	return ev.answer(o, answer, p.found.Name)
}

// params are an event's members as JSON.
func (ev event) params(o engine.Occasion) (json.RawMessage, error) {
	payload, err := ev.payload(o)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(ev.name)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"event":`), name...)
	if len(body) > 2 {
		head = append(append(head, ','), body[1:]...)
	} else {
		head = append(head, '}')
	}
	return head, nil
}

// Tell has an occasion told to those who hear of it. It never waits.
func (h *Host) Tell(o engine.Occasion) {
	switch o := o.(type) {
	case *engine.Invoke:
		h.put(func() { h.invoke(o) })
		return
	case *engine.DialogAnswer:
		h.put(func() { h.answered(o) })
		return
	}
	h.put(func() { h.tell(o) })
}

// tell is the owner's part of Tell.
func (h *Host) tell(o engine.Occasion) {
	ev := h.table[o.Name()]
	switch o := o.(type) {
	case *engine.SessionStart:
		h.start, h.kept = o, nil
		h.tellState(h.peers...)
	case *engine.SessionTree:
		now := engine.SessionStart{Session: o.Session}
		if h.start != nil {
			now.Reason, now.Previous = h.start.Reason, h.start.Previous
		}
		h.start, h.kept = &now, nil
		h.tellState(h.peers...)
	}
	if ev.payload == nil {
		return
	}
	var params json.RawMessage
	for _, p := range h.peers {
		if !p.wants(ev.name) {
			continue
		}
		if params == nil {
			var err error
			if params, err = ev.params(o); err != nil {
				return
			}
		}
		if _, piece := o.(*engine.MessageUpdate); piece && p.proc.slow() {
			continue // pieces may be left out
		}
		h.send(p, Line{Method: "event", Params: params})
	}
}

// always are the occasions that the host itself needs while it has extensions.
func always() []string {
	return []string{
		(*engine.SessionStart)(nil).Name(), (*engine.SessionTree)(nil).Name(),
		(*engine.Invoke)(nil).Name(), (*engine.DialogAnswer)(nil).Name(),
	}
}

// rehear works out anew who hears what.
func (h *Host) rehear() {
	hearers := map[string][]*peer{}
	for _, p := range h.peers {
		for _, name := range p.events {
			hearers[name] = append(hearers[name], p)
		}
	}
	if h.starting > 0 {
		hearers[startingKey] = nil
	}
	for _, name := range always() {
		hearers[name] = append(hearers[name], nil...)
	}
	if len(hearers) == len(always()) {
		h.hearers.Store(nil)
		return
	}
	h.hearers.Store(&hearers)
}

// started counts one of those that are waited for at first.
func (h *Host) started() {
	if h.starting--; h.starting == 0 {
		h.rehear()
		close(h.ready)
	}
}

// List says what there is, in load order.
func (h *Host) List() (list []Info) {
	h.do(func() {
		for _, p := range h.peers {
			list = append(list, p.status())
		}
	})
	return list
}

// Update takes another list of extensions: those that are new are started, those
// that are gone are stopped, and those that were not allowed are tried again.
func (h *Host) Update(found []Found) {
	h.do(func() {
		fresh := h.newPeers(found)
		for i, p := range fresh {
			if at := slices.IndexFunc(h.peers, func(old *peer) bool { return old.found.Path == p.found.Path }); at >= 0 {
				fresh[i] = h.peers[at]
			}
		}
		for _, old := range h.peers {
			if !slices.Contains(fresh, old) {
				h.stop(old, Stopped, "")
			}
		}
		h.peers = fresh
		h.rehear()
		for _, p := range h.peers {
			if p.state == Waiting && !p.launching {
				h.launch(p)
			}
		}
	})
}

// Restart ends an extension if it runs, and starts it again.
func (h *Host) Restart(name string) error {
	return h.change(name, func(p *peer) { p.again = true; h.stop(p, Waiting, "") })
}

// Disable ends an extension for as long as this program runs.
func (h *Host) Disable(name string) error {
	return h.change(name, func(p *peer) { h.stop(p, Disabled, "") })
}

func (h *Host) change(name string, do func(*peer)) (err error) {
	ok := h.do(func() {
		at := slices.IndexFunc(h.peers, func(p *peer) bool { return p.found.Name == name })
		if at < 0 {
			err = fmt.Errorf("there is no extension %q; there are %s", name, strings.Join(h.names(), ", "))
			return
		}
		do(h.peers[at])
	})
	if !ok {
		err = errEnded
	}
	return err
}

var errEnded = errors.New("the program is ending")

func (h *Host) names() (names []string) {
	for _, p := range h.peers {
		names = append(names, p.found.Name)
	}
	return names
}

// Notice tells the user something, once the host has begun.
func (h *Host) Notice(n engine.Notice) { h.put(func() { h.engine.Send(n) }) }

func (h *Host) notice(level engine.Level, format string, args ...any) {
	h.engine.Send(engine.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
