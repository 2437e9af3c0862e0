package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
)

// request is something that an extension can ask for.
type request struct {
	method string
	help   string
	// do does it, in the owner's goroutine; reply is called once, then or later.
	do func(h *Host, p *peer, params json.RawMessage, reply func(any, error))
	// in and out are the zero values of the params and of the result.
	in, out any
}

// serves makes the row of a request that is answered at once.
func serves[P, R any](method, help string, do func(h *Host, p *peer, params P) (R, error)) request {
	return later(method, help, func(h *Host, p *peer, params P, reply func(R, error)) {
		reply(do(h, p, params))
	})
}

// later makes the row of a request that is answered when something has happened.
func later[P, R any](method, help string, do func(h *Host, p *peer, params P, reply func(R, error))) request {
	var in P
	var out R
	return request{method: method, help: help, in: in, out: out, do: func(h *Host, p *peer, raw json.RawMessage, reply func(any, error)) {
		params, err := parse[P](raw)
		if err != nil {
			reply(nil, err)
			return
		}
		do(h, p, params, func(r R, err error) { reply(r, err) })
	}}
}

// sends makes the row of a request that becomes one command of the engine. What
// comes of it is told by events.
func sends[P any](method, help string, command func(p *peer, params P) engine.Command) request {
	return serves(method, help, func(h *Host, p *peer, params P) (Nothing, error) {
		h.engine.Send(command(p, params))
		return Nothing{}, nil
	})
}

// requests is the table of all that extensions can ask for, in the order of the
// documents.
func requests() []request {
	return []request{
		serves("register", "replace the tools, commands, keys and flags", func(h *Host, p *peer, r Registration) (Nothing, error) {
			h.register(p, r)
			return Nothing{}, nil
		}),
		serves("progress", "show how far a call of a tool is", (*Host).progress),
		serves("notify", "tell the user something", (*Host).notify),
		sends("status", "show a few words in the footer", func(p *peer, s Status) engine.Command {
			p.panel.Status = clip(s.Text, 200)
			return p.shown()
		}),
		serves("widget", "show lines above the editor", (*Host).widget),
		ask(engine.DialogSelect, "have the user choose one of several"),
		ask(engine.DialogConfirm, "have the user say yes or no"),
		ask(engine.DialogInput, "have the user write a line"),
		ask(engine.DialogEditor, "have the user write a text"),
		later("append_entry", "keep something in the session that models never see", (*Host).appendEntry),
		later("send_message", "add a message that models see, as the user's", (*Host).sendMessage),
		sends("set_label", "name an entry", func(_ *peer, l SetLabel) engine.Command {
			return engine.SetLabel{Target: session.ID(l.Entry), Text: l.Label}
		}),
		sends("set_name", "name the session", func(_ *peer, n SetName) engine.Command { return engine.SetName{Name: n.Name} }),
		sends("set_mode", "take what follows into a mode, or out of it", func(_ *peer, m SetMode) engine.Command {
			return engine.SetMode{Mode: m.Mode, Data: m.Data}
		}),
		sends("navigate", "move the leaf", func(_ *peer, n Navigate) engine.Command {
			return engine.Navigate{Target: session.ID(n.Target), At: n.At, Summarize: n.Summarize, Instructions: n.Instructions, Label: n.Label}
		}),
		sends("branch", "take the path to an entry into a new session", func(_ *peer, b Branch) engine.Command {
			return engine.Fork{Target: session.ID(b.Entry), At: b.At}
		}),
		sends("compact", "compact the path", func(_ *peer, c Compact) engine.Command { return engine.Compact{Focus: c.Focus} }),
		serves("prompt", "send a prompt", func(h *Host, p *peer, q Prompt) (Nothing, error) {
			if strings.TrimSpace(q.Text) == "" {
				return Nothing{}, errors.New("an empty prompt")
			}
			h.engine.Send(engine.Submit{Text: q.Text, FollowUp: q.FollowUp, From: p.found.Name})
			return Nothing{}, nil
		}),
		sends("interrupt", "end what runs", func(*peer, Nothing) engine.Command { return engine.Interrupt{} }),
	}
}

// serve does what an extension asks for.
func (h *Host) serve(p *peer, l *Line) {
	if l.Method == "cancel" {
		h.cancelDialog(p, l.Params)
		return
	}
	life := p.life
	answered := false
	reply := func(result any, err error) {
		if answered || p.life != life {
			return
		}
		answered = true
		p.open--
		if l.ID == nil {
			if err != nil {
				h.fault(p, "request "+l.Method, fmt.Sprintf("%s: %v", clip(l.Method, 60), err))
			}
			return
		}
		out := Line{ID: l.ID}
		if err == nil {
			out.Result, err = json.Marshal(result)
		}
		if err != nil {
			out.Result, out.Error = nil, &Fault{faultCode, err.Error()}
		}
		h.send(p, out)
	}
	p.open++
	i := slices.IndexFunc(h.requests, func(r request) bool { return r.method == l.Method })
	switch {
	case i < 0:
		reply(nil, fmt.Errorf("there is no request %q", clip(l.Method, 60)))
	case p.state == Starting:
		reply(nil, errors.New("answer initialize first"))
	case p.open > h.opts.Limits.Open:
		reply(nil, fmt.Errorf("more than %d requests at once", h.opts.Limits.Open))
	default:
		h.requests[i].do(h, p, l.Params, reply)
	}
}

func (h *Host) progress(p *peer, g Progress) (Nothing, error) {
	for _, w := range p.pending {
		if w.progress != nil && w.id == g.CallID {
			w.since = time.Now()
			w.progress(clip(g.Text, h.opts.Limits.Text))
		}
	}
	return Nothing{}, nil
}

func (h *Host) notify(p *peer, n Notify) (Nothing, error) {
	levels := map[string]engine.Level{"": engine.Note, "note": engine.Note, "warning": engine.Warning, "error": engine.Failure}
	level, ok := levels[n.Level]
	if !ok {
		return Nothing{}, fmt.Errorf("there is no level %q; there are note, warning, error", n.Level)
	}
	if p.noticed.over(h.opts.Limits.Notices) {
		h.fault(p, "notices", "it has more to say than fits; the rest is left out")
		return Nothing{}, errors.New("too many notices at once; this one was left out")
	}
	h.notice(level, "%s: %s", p.found.Name, clip(n.Text, 2000))
	return Nothing{}, nil
}

// often are the times at which something was done.
type often []time.Time

// over says whether something was done n times in ten seconds; if not, it is done
// once more.
func (o *often) over(n int) bool {
	now := time.Now()
	*o = slices.DeleteFunc(*o, func(at time.Time) bool { return now.Sub(at) > 10*time.Second })
	if len(*o) >= n {
		return true
	}
	*o = append(*o, now)
	return false
}

// mostWidget is how many lines an extension may show.
const mostWidget = 10

func (h *Host) widget(p *peer, w Widget) (Nothing, error) {
	if len(w.Lines) > mostWidget {
		return Nothing{}, fmt.Errorf("a widget has at most %d lines", mostWidget)
	}
	p.panel.Widget = nil
	for _, line := range w.Lines {
		p.panel.Widget = append(p.panel.Widget, clip(line, 500))
	}
	h.engine.Send(p.shown())
	return Nothing{}, nil
}

// shown is what the extension shows now.
func (p *peer) shown() engine.Panel {
	return engine.Panel{From: p.found.Name, Status: p.panel.Status, Widget: slices.Clone(p.panel.Widget)}
}

func (h *Host) appendEntry(p *peer, a AppendEntry, reply func(Appended, error)) {
	if err := kind(a.Type); err != nil {
		reply(Appended{}, err)
		return
	}
	h.append(p, session.Custom{Type: p.customType(a.Type), Data: a.Data}, false, reply)
}

func (h *Host) sendMessage(p *peer, m SendMessage, reply func(Appended, error)) {
	content, err := session.UnmarshalContent(m.Content)
	if err == nil {
		err = kind(m.Type)
	}
	content = slices.DeleteFunc(content, func(b llm.Block) bool {
		switch b.(type) {
		case llm.Text, llm.Image:
			return false
		}
		return true
	})
	switch {
	case err != nil:
		reply(Appended{}, err)
	case len(content) == 0:
		reply(Appended{}, errors.New("a message without content"))
	default:
		h.append(p, session.CustomMessage{Type: p.customType(m.Type), Content: content, Display: !m.Hidden}, m.Turn, reply)
	}
}

// kind says whether a text can be part of a customType.
func kind(text string) error {
	if len(text) > 64 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a type is at most 64 printable ASCII characters, without blanks")
	}
	return nil
}

func (h *Host) append(p *peer, d session.Data, turn bool, reply func(Appended, error)) {
	if p.recorded.over(h.opts.Limits.Entries) {
		h.fault(p, "entries", fmt.Sprintf("it wants more than %d entries in ten seconds recorded; the rest is refused", h.opts.Limits.Entries))
		reply(Appended{}, errors.New("too many entries at once"))
		return
	}
	h.engine.Send(engine.Append{From: p.found.Name, Entries: []session.Data{d}, Turn: turn, Done: func(made []session.Entry, err error) {
		h.put(func() {
			if err == nil && len(made) == 0 {
				err = errors.New("nothing was appended")
			}
			if err != nil {
				reply(Appended{}, err)
				return
			}
			if _, state := d.(session.Custom); state {
				h.kept = append(h.kept, made[0])
			}
			reply(Appended{string(made[0].ID)}, nil)
		})
	}})
}

// dialog is a question of an extension's that is open.
type dialog struct {
	p     *peer
	ask   Ask
	kind  engine.DialogKind
	reply func(Asked, error)
}

// mostDialogs is how many questions an extension may have open.
const mostDialogs = 8

// ask makes the row of a kind of dialog.
func ask(kind engine.DialogKind, help string) request {
	return later(string(kind), help, func(h *Host, p *peer, a Ask, reply func(Asked, error)) {
		switch {
		case kind == engine.DialogSelect && (len(a.Options) == 0 || len(a.Options) > 1000):
			reply(Asked{}, errors.New("a selection has 1 to 1000 options"))
		case p.asking >= mostDialogs:
			reply(Asked{}, errors.New("too many questions at once"))
		case !h.opts.Interactive:
			reply(Asked{}, nil)
		default:
			h.numbers++
			id := fmt.Sprintf("%s.%d", p.found.Name, h.numbers)
			h.dialogs[id] = dialog{p: p, ask: a, kind: kind, reply: reply}
			p.asking++
			h.engine.Send(engine.Dialog{ID: id, From: p.found.Name, Kind: kind, Title: clip(a.Title, 500), Text: a.Text, Options: a.Options})
		}
	})
}

// answered takes the user's answer to the extension.
func (h *Host) answered(a *engine.DialogAnswer) {
	d, ok := h.dialogs[a.ID]
	if !ok {
		return
	}
	h.forget(a.ID)
	said := Asked{OK: a.OK, Text: a.Text}
	if d.kind == engine.DialogSelect && a.OK {
		if a.Choice < 0 || a.Choice >= len(d.ask.Options) {
			said.OK = false
		} else {
			said.Text = d.ask.Options[a.Choice]
		}
	}
	d.reply(said, nil)
}

// forget takes a dialog off the list; what the extension was asked has its time
// again from now on.
func (h *Host) forget(id string) {
	d := h.dialogs[id]
	delete(h.dialogs, id)
	d.p.asking--
	for _, w := range d.p.pending {
		w.since = time.Now()
	}
}

// closeDialogs takes the questions of an extension back.
func (h *Host) closeDialogs(p *peer) {
	for _, id := range sortedKeys(h.dialogs) {
		if d := h.dialogs[id]; d.p == p {
			h.forget(id)
			d.reply(Asked{}, nil)
			h.engine.Send(engine.DialogClosed{ID: id})
		}
	}
}

// cancelDialog takes back all questions of an extension that says so: it has no
// other request that takes time.
func (h *Host) cancelDialog(p *peer, _ json.RawMessage) { h.closeDialogs(p) }
