package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/config"
	"banyan/internal/tool"
)

// Options are what a host needs of its program. The functions are called from
// servers' goroutines.
type Options struct {
	Version string // of this program
	Dir     string // the working folder: where servers run, and the root they are told of
	PassEnv []string
	Trust   config.Trust
	Tokens  Tokens // nil: nothing is kept, and nobody can log in
	// Temp is the folder for long results, as it is by then.
	Temp func() string
	// Tell gives the user a notice. It quotes servers.
	Tell func(text string)
	// Changed tells the tools that a server gives from now on.
	Changed func(server string, tools []tool.Tool)
	// Offline: no server that is elsewhere is started.
	Offline bool
	// Again is the pause before the nth try to start a server that has ended by
	// itself, from 0, and whether there is one; nil for the usual.
	Again func(n int) (time.Duration, bool)
}

// Host runs servers. Set, Close and the orders are for one caller at a time;
// States, Wait and what uses a server are for anybody.
type Host struct {
	opts    Options
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	runners atomic.Pointer[[]*runner] // by name; the slice is never changed
}

// NewHost makes a host without servers.
func NewHost(o Options) *Host {
	if o.Again == nil {
		o.Again = again
	}
	h := &Host{opts: o}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.runners.Store(&[]*runner{})
	return h
}

// again waits 1, 2, 4, 8 and 16 seconds.
func again(n int) (time.Duration, bool) { return time.Second << n, n < 5 }

// Set makes these the servers: what was not there is started in the background,
// what is not there any more is ended, what is the same goes on. It does not
// wait for any of that.
func (h *Host) Set(servers []Server) {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = s.Name
	}
	clean := cleanNames(names, maxServerName)
	old := *h.runners.Load()
	var now []*runner
	for _, s := range servers {
		i := slices.IndexFunc(old, func(r *runner) bool { return r.server.Name == s.Name })
		if i >= 0 && old[i].server.same(s) {
			now = append(now, old[i])
			continue
		}
		now = append(now, newRunner(h.ctx, h.opts, s, clean[s.Name]))
	}
	h.runners.Store(&now)
	for _, r := range old {
		if !slices.Contains(now, r) {
			r.end()
		}
	}
	for _, r := range now {
		if !slices.Contains(old, r) {
			h.running.Go(r.run)
		}
	}
}

// Close ends all servers, side by side, and waits for their goroutines.
func (h *Host) Close() {
	h.stop()
	h.running.Wait()
}

// States are all servers, by name.
func (h *Host) States() []State {
	var states []State
	for _, r := range *h.runners.Load() {
		states = append(states, *r.state.Load())
	}
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Server.Name, b.Server.Name) })
	return states
}

// Wait waits until no server is starting any more, or ctx is done.
func (h *Host) Wait(ctx context.Context) {
	for _, r := range *h.runners.Load() {
		select {
		case <-r.settled:
		case <-ctx.Done():
			return
		}
	}
}

// Follow waits until a server has come to something that it had not at a time,
// after an order, or ctx is done.
func (h *Host) Follow(ctx context.Context, name string, since time.Time) {
	r, err := h.runner(name)
	for err == nil && ctx.Err() == nil {
		if s := r.state.Load(); s.Phase.settled() && s.Since.After(since) {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (h *Host) runner(name string) (*runner, error) {
	all := *h.runners.Load()
	for _, r := range all {
		if r.server.Name == name || r.clean == name {
			return r, nil
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no MCP server %q, and no other", name)
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.server.Name
	}
	return nil, fmt.Errorf("there is no MCP server %q; there are %s", name, strings.Join(names, ", "))
}

// State is that of one server, by its name.
func (h *Host) State(name string) (State, error) {
	r, err := h.runner(name)
	if err != nil {
		return State{}, err
	}
	return *r.state.Load(), nil
}

// Log is the end of what a server has said beside the protocol.
func (h *Host) Log(name string) (string, error) {
	r, err := h.runner(name)
	if err != nil {
		return "", err
	}
	return r.log.text(), nil
}

// Restart starts a server anew, whatever state it is in.
func (h *Host) Restart(name string) error { return h.order(name, restart) }

// Disable ends a server; Enable starts it again. Both last as long as the host.
func (h *Host) Disable(name string) error { return h.order(name, disable) }

// Enable undoes Disable, and what the settings say.
func (h *Host) Enable(name string) error { return h.order(name, enable) }

func (h *Host) order(name string, o order) error {
	r, err := h.runner(name)
	if err == nil {
		r.order(o)
	}
	return err
}

// Approve says yes to what a server asks for: that it runs, or what it says of
// its tools. asks is the [State].Asks that the user has seen: what has changed
// since then is not approved.
func (h *Host) Approve(name, asks string) error {
	r, err := h.runner(name)
	if err != nil {
		return err
	}
	s := r.state.Load()
	item := pinItem(s.Server, s.pins)
	if s.Phase == Unapproved {
		item = s.Server.item()
	}
	switch {
	case s.Asks == "":
		return fmt.Errorf("the MCP server %s asks for nothing", name)
	case item.Text != asks:
		if s.Phase == Unapproved {
			r.order(restart) // to ask for what it is now
		}
		return fmt.Errorf("the MCP server %s has changed since you looked: look again", name)
	}
	if err := h.opts.Trust.Approve(item); err != nil {
		return err
	}
	if s.Phase == Unapproved {
		r.order(restart)
	} else {
		r.look()
	}
	return nil
}

// Login logs in to a server; show is called with the address that the user must
// open. It returns when that is done, and the server starts.
func (h *Host) Login(ctx context.Context, name string, show func(address string)) error {
	r, err := h.runner(name)
	if err != nil {
		return err
	}
	if err := r.login(ctx, show); err != nil {
		return fmt.Errorf("log in to the MCP server %s: %w", name, err)
	}
	r.order(restart)
	return nil
}

// Logout forgets a server's login.
func (h *Host) Logout(name string) error {
	r, err := h.runner(name)
	if err != nil {
		return err
	}
	if h.opts.Tokens == nil {
		return errors.New("nothing is kept")
	}
	if err := h.opts.Tokens.Forget(tokenKey(r.server)); err != nil {
		return err
	}
	r.order(restart)
	return nil
}

// keep makes a file for a result that is too long for a model.
func (o Options) keep(pattern string) (*os.File, error) {
	if o.Temp == nil || o.Temp() == "" {
		return nil, errors.New("there is no folder for it")
	}
	return os.CreateTemp(o.Temp(), pattern)
}
