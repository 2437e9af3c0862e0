package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// order is what is wanted of a server's goroutine.
type order uint8

const (
	none order = iota
	restart
	disable
	enable
)

// runner is one server's life. Its goroutine alone decides; the rest is for
// others to look at, or to poke it with.
type runner struct {
	opts   Options
	server Server
	clean  string // name that is part of names of tools
	log    tail

	ctx     context.Context
	end     context.CancelFunc // ends the goroutine
	orders  chan order         // at most one waits
	changed chan struct{}      // a token: what it offers may have changed
	settled chan struct{}      // closed when its first start has come to something
	settle  sync.Once

	state   atomic.Pointer[State]
	session atomic.Pointer[sdk.ClientSession] // while it is ready
	// progress has the channel of each call that runs, by its token: answers come
	// on the SDK's goroutines.
	progress sync.Map // string → chan *sdk.ProgressNotificationParams
	tokens   atomic.Int64

	// What follows belongs to the goroutine.

	off  bool            // it is disabled
	told map[string]bool // kinds of notices that were given
}

func newRunner(ctx context.Context, o Options, s Server, clean string) *runner {
	r := &runner{
		opts: o, server: s, clean: clean, off: s.Disabled,
		orders: make(chan order, 1), changed: make(chan struct{}, 1), settled: make(chan struct{}),
		told: map[string]bool{},
	}
	r.ctx, r.end = context.WithCancel(ctx)
	r.state.Store(&State{Server: s, Phase: Starting, Since: time.Now()})
	return r
}

// order gives the goroutine an order; the newest one counts.
func (r *runner) order(o order) {
	for {
		select {
		case r.orders <- o:
			return
		default:
		}
		select {
		case <-r.orders:
		default:
		}
	}
}

// look lets the goroutine list again what the server offers.
func (r *runner) look() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// run is the goroutine: a life after another, with pauses, until it is ended.
func (r *runner) run() {
	defer r.end()
	tries := 0 // lives that ended by themselves, soon
	for r.ctx.Err() == nil {
		o, pause := none, forever
		if r.mayStart() {
			began := time.Now()
			var reached bool
			var err error
			o, reached, err = r.live()
			if time.Since(began) > time.Minute {
				tries = 0
			}
			if o == none && r.ctx.Err() == nil {
				pause = r.failed(err, reached, tries)
				tries++
			}
		}
		if o == none {
			o = r.rest(pause)
		}
		if o != none {
			r.off = o == disable || o == restart && r.off
			tries = 0
			clear(r.told)
		}
	}
	r.opts.Changed(r.server.Name, nil)
}

// forever is a pause without end.
const forever = time.Duration(-1)

// mayStart says whether the server is to run, and publishes why not.
func (r *runner) mayStart() bool {
	s := State{Server: r.server, Phase: Starting}
	switch {
	case r.off:
		s.Phase = Disabled
	case r.server.Problem != "":
		s.Phase, s.Why = Skipped, r.server.Problem
		r.tell("start", "The MCP server %s is not used: %s (%s)", r.server.Name, s.Why, r.server.Source)
	case r.opts.Offline && r.server.Transport != Stdio:
		s.Phase, s.Why = Skipped, "it is elsewhere, and --offline lets no packet leave"
	case r.server.Folder != "":
		r.approval(&s)
	}
	r.publish(s)
	if s.Phase != Starting {
		r.opts.Changed(r.server.Name, nil)
		return false
	}
	return true
}

// approval looks whether the user has approved a server of a project.
func (r *runner) approval(s *State) {
	item := r.server.item()
	a, err := r.opts.Trust.Approved(item)
	if a.OK && err == nil {
		return
	}
	s.Phase, s.Asks, s.Before = Unapproved, item.Text, a.Before
	what := "is new"
	switch {
	case err != nil:
		s.Why, what = err.Error(), err.Error()
	case a.Changed:
		s.Why, what = "it has changed since you approved it", "has changed since you approved it"
	}
	r.tell("approve", "The project's MCP server %s %s; it starts when you approve it: /mcp, or agent mcp approve %s", r.server.Name, what, r.server.Name)
}

// live is one life of the server, to its end or to an order. reached: it was
// ready.
func (r *runner) live() (o order, reached bool, err error) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.serve(ctx, &reached) }()
	select {
	case err := <-ended:
		return none, reached, err
	case o = <-r.orders:
	case <-ctx.Done():
	}
	cancel()
	return o, reached, <-ended
}

// rest waits for an order, or for as long as the pause is.
func (r *runner) rest(pause time.Duration) order {
	var over <-chan time.Time
	if pause != forever {
		over = time.After(pause)
	}
	for {
		select {
		case o := <-r.orders:
			return o
		case <-over:
			return none
		case <-r.changed: // of a life that is over
		case <-r.ctx.Done():
			return none
		}
	}
}

// failed publishes why a life has ended, and says how long to wait for the next
// one. What never was ready is not tried again.
func (r *runner) failed(err error, reached bool, tries int) time.Duration {
	s := State{Server: r.server, Phase: Failed, Why: reason(err)}
	if errors.Is(err, errLogin) {
		s.Phase = NeedsLogin
		r.tell("start", "The MCP server %s needs a login: /mcp, or agent mcp login %s", r.server.Name, r.server.Name)
	} else if !reached && tries == 0 {
		said := ""
		if last := r.log.last(); last != "" && !strings.Contains(s.Why, last) {
			said = ". It said: " + last
		}
		r.tell("start", "The MCP server %s could not be started: %s%s", r.server.Name, s.Why, said)
	} else if pause, more := r.opts.Again(tries); more {
		s.Phase = Waiting
		s.Tools = r.state.Load().Tools // they come back, as a rule
		r.publish(s)
		r.tell("ended", "The MCP server %s has ended by itself: %s. It is started again; /mcp says more", r.server.Name, s.Why)
		return pause
	}
	r.publish(s)
	r.opts.Changed(r.server.Name, nil)
	return forever
}

func (r *runner) publish(s State) {
	s.Since = time.Now()
	r.state.Store(&s)
	if s.Phase.settled() {
		r.settle.Do(func() { close(r.settled) })
	}
}

// tell gives a notice of a kind, once.
func (r *runner) tell(kind, format string, args ...any) {
	if !r.told[kind] {
		r.told[kind] = true
		r.opts.Tell(fmt.Sprintf(format, args...))
	}
}
