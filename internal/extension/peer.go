package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
)

// Condition is how an extension is.
type Condition string

// The conditions.
const (
	Waiting  Condition = "waiting" // for approval, or to be started
	Starting Condition = "starting"
	Running  Condition = "running"
	Failed   Condition = "failed"
	Stopped  Condition = "stopped"
	Disabled Condition = "disabled"
)

// peer is one extension as the owner knows it.
type peer struct {
	found Found
	state Condition
	why   string // of state Failed or Waiting, for people
	life  int    // counts its processes: what comes from an older one is not heard

	launching bool
	first     bool // the first events wait for it
	again     bool // to be started when it has ended
	proc      *process
	lastID    int64
	pending   map[int64]*waiting
	given     map[int64]bool // ids of requests that were given up: an answer to them means nothing
	open      int            // requests of its own that are not answered
	asking    int            // dialogs that are open

	about  Initialized
	events []string
	stderr tail
	panel  engine.Panel // what it shows

	told     map[string]bool // kinds of faults that the user knows
	bad      int             // lines that made no sense
	silent   int             // events in a row that it did not answer
	noticed  often           // when it told the user something
	recorded often           // when it had an entry recorded
}

// Info is what people are told of an extension.
type Info struct {
	Found
	State    Condition
	Why      string // it is not running
	About    Initialized
	Messages string // the last that it wrote to standard error
}

func (p *peer) status() Info {
	return Info{Found: p.found, State: p.state, Why: p.why, About: p.about, Messages: p.stderr.String()}
}

func (p *peer) wants(event string) bool {
	return p.state == Running && slices.Contains(p.events, event)
}

func (h *Host) newPeers(found []Found) (peers []*peer) {
	for _, f := range found {
		if slices.ContainsFunc(peers, func(p *peer) bool { return p.found.Name == f.Name }) {
			h.notice(engine.Warning, "The extension %s of %s is left out: there is one of that name.", f.Name, f.Path)
			continue
		}
		peers = append(peers, &peer{
			found: f, state: Waiting, told: map[string]bool{}, stderr: tail{max: h.opts.Limits.Stderr},
			pending: map[int64]*waiting{}, given: map[int64]bool{},
		})
	}
	return peers
}

// launch starts a process for an extension, beside the owner.
func (h *Host) launch(p *peer) {
	p.life++
	p.launching, p.again, p.state, p.why = true, false, Starting, ""
	p.told, p.bad, p.silent, p.open, p.asking = map[string]bool{}, 0, 0, 0, 0
	if h.starting > 0 {
		p.first = true
		h.starting++
	}
	life, found := p.life, p.found
	h.wg.Go(func() {
		var proc *process
		var err error
		waits := false
		if h.opts.Allowed != nil {
			err = h.opts.Allowed(found)
			waits = err != nil
		}
		if err == nil {
			proc, err = startProcess(found.Path, h.opts.Cwd, h.opts.Env, h.opts.Limits, &h.wg, func(r received) {
				h.do(func() { h.receive(p, life, r) })
			})
		}
		h.put(func() { h.launched(p, life, proc, waits, err) })
	})
}

// launched takes over what launch has started.
func (h *Host) launched(p *peer, life int, proc *process, waits bool, err error) {
	p.launching = false
	if proc != nil {
		h.wg.Go(func() {
			proc.wait()
			h.put(func() { h.exited(p, life, proc) })
		})
	}
	switch {
	case proc != nil && p.state != Starting: // stopped meanwhile
		p.proc = proc
		proc.end(0, &h.wg)
	case waits:
		p.state, p.why = Waiting, err.Error()
		h.notice(engine.Note, "The extension %s of this project does not run: %v. /extensions shows it.", p.found.Name, err)
		h.settle(p)
	case err != nil:
		h.fail(p, fmt.Sprintf("it cannot be started: %v", err))
	default:
		p.proc = proc
		h.initialize(p)
	}
}

// initialize greets an extension and takes what it wants and brings.
func (h *Host) initialize(p *peer) {
	flags := h.opts.Flags[p.found.Name]
	if flags == nil {
		flags = map[string]string{}
	}
	params, err := json.Marshal(Initialize{
		Protocol: Version, Oldest: Oldest, Host: "banyan " + h.opts.Version, Name: p.found.Name,
		Cwd: h.opts.Cwd, Interactive: h.opts.Interactive, Flags: flags,
	})
	if err != nil {
		h.fail(p, err.Error())
		return
	}
	h.begin(p, call{method: "initialize", params: params, what: "initialize", limit: h.opts.Limits.Start}, func(raw json.RawMessage, err error) {
		switch {
		case p.state != Starting: // it has ended, which was said
		case errors.Is(err, errNoAnswer):
			h.fail(p, fmt.Sprintf("it did not answer initialize within %s", h.opts.Limits.Start))
		case err != nil:
			h.fail(p, fmt.Sprintf("it refused to start: %v", err))
		default:
			h.initialized(p, raw)
		}
	})
}

func (h *Host) initialized(p *peer, raw json.RawMessage) {
	about, err := parse[Initialized](raw)
	switch {
	case err != nil:
		h.fail(p, fmt.Sprintf("its answer to initialize cannot be used: %v", err))
		return
	case about.Protocol < Oldest || about.Protocol > Version:
		h.fail(p, fmt.Sprintf("it speaks version %d of the protocol, this program %d to %d", about.Protocol, Oldest, Version))
		return
	}
	p.state, p.about = Running, about
	p.events = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(about.Events))), func(name string) bool {
		if _, known := h.table[name]; !known {
			h.fault(p, "event "+name, fmt.Sprintf("there is no event %q", clip(name, 60)))
			return true
		}
		return false
	})
	h.register(p, about.Registration)
	h.checkFlags(p)
	h.rehear()
	if h.start != nil {
		h.tellState(p)
		if p.wants(h.start.Name()) {
			if params, err := h.table[h.start.Name()].params(h.start); err == nil {
				h.send(p, Line{Method: "event", Params: params})
			}
		}
	}
	h.settle(p)
}

// checkFlags says which flags of the user's the extension does not know.
func (h *Host) checkFlags(p *peer) {
	for _, name := range sortedKeys(h.opts.Flags[p.found.Name]) {
		if !slices.ContainsFunc(p.about.Flags, func(f FlagSpec) bool { return f.Name == name }) {
			h.fault(p, "flag "+name, fmt.Sprintf("it has no flag %q", name))
		}
	}
}

// settle says that the first events need not wait for an extension any more.
func (h *Host) settle(p *peer) {
	if p.first {
		p.first = false
		h.started()
	}
}

// fail ends an extension that cannot go on, and tells the user why.
func (h *Host) fail(p *peer, why string) {
	if p.state != Running && p.state != Starting {
		return
	}
	text := fmt.Sprintf("The extension %s is not used: %s. /extensions has more.", p.found.Name, why)
	if p.state == Running {
		text = fmt.Sprintf("The extension %s was ended: %s. The session goes on; /extensions can restart it.", p.found.Name, why)
	}
	h.notice(engine.Warning, "%s", text)
	h.stop(p, Failed, why)
}

// fault tells the user once that an extension does something wrong.
func (h *Host) fault(p *peer, kind, text string) {
	if p.told[kind] || p.state != Running && p.state != Starting {
		return
	}
	p.told[kind] = true
	h.notice(engine.Warning, "The extension %s: %s.", p.found.Name, text)
}

// stop takes back all that an extension has brought, and ends its process.
func (h *Host) stop(p *peer, state Condition, why string) {
	was := p.state
	p.state, p.why, p.events = state, why, nil
	for id, w := range p.pending {
		delete(p.pending, id)
		w.timer.Stop()
		w.reply(nil, errGone)
	}
	h.closeDialogs(p)
	if was == Running {
		h.withdraw(p)
	}
	if p.proc != nil {
		grace := h.opts.Limits.Grace
		if state == Failed {
			grace = 0
		} else {
			h.write(p, Line{Method: "shutdown"})
		}
		p.proc.end(grace, &h.wg)
	} else if p.again && !p.launching && !h.closing {
		h.launch(p)
	}
	h.rehear()
	h.settle(p)
}

// exited takes the end of a process into account.
func (h *Host) exited(p *peer, life int, proc *process) {
	if p.state == Running || p.state == Starting {
		h.fail(p, exitText(p, proc))
	}
	proc.end(0, &h.wg)
	p.proc = nil
	if p.again && !h.closing {
		h.launch(p)
	}
	h.rehear()
}

// exitText says how an extension ended by itself.
func exitText(p *peer, proc *process) string {
	status := proc.kept.Status()
	text := fmt.Sprintf("it ended by itself with code %d", status.Code)
	if status.Signal != "" {
		text = "it ended by itself: " + status.Signal
	}
	if lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n"); lines[len(lines)-1] != "" {
		text += fmt.Sprintf(" (%s)", clip(lines[len(lines)-1], 200))
	}
	return text
}

// clip cuts a text for a notice.
func clip(text string, n int) string {
	if len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}

// write queues a line, if there is room.
func (h *Host) write(p *peer, l Line) bool {
	l.RPC = "2.0"
	line, err := json.Marshal(l)
	if err != nil {
		return true // it is ours, not theirs
	}
	return p.proc.send(append(line, '\n'))
}

// send queues a line for an extension that runs. One that does not read is ended.
func (h *Host) send(p *peer, l Line) {
	if p.proc != nil && !h.write(p, l) {
		h.fail(p, "it does not read what it is sent")
	}
}
