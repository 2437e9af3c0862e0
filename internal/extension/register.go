package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// What names may look like.
const (
	toolName    = `^[A-Za-z][A-Za-z0-9_-]{0,63}$`
	commandName = `^[a-z][a-z0-9-]{0,39}$`
)

// most is how many of a kind an extension may bring.
const most = 100

// register takes what an extension brings in place of what it brought before.
// What cannot be used is left out, and the user is told once.
func (h *Host) register(p *peer, r Registration) {
	r.Tools = keep(h, p, "tool", r.Tools, func(t ToolSpec) (string, error) { return t.Name, h.checkTool(p, t) })
	r.Commands = keep(h, p, "command", r.Commands, func(c CommandSpec) (string, error) { return c.Name, h.checkCommand(p, c) })
	r.Keys = keep(h, p, "key", r.Keys, func(k KeySpec) (string, error) {
		if k.Key == "" || !slices.ContainsFunc(r.Commands, func(c CommandSpec) bool { return c.Name == k.Command }) {
			return k.Key, fmt.Errorf("it has no command %q to run", k.Command)
		}
		return k.Key, nil
	})
	r.Flags = keep(h, p, "flag", r.Flags, func(f FlagSpec) (string, error) { return f.Name, nil })
	p.about.Registration = r
	from := p.found.Name
	var tools []tool.Tool
	for _, t := range r.Tools {
		tools = append(tools, h.tool(p, t))
	}
	h.engine.Send(engine.SetTools{From: from, Tools: tools})
	offer := engine.Offer{From: from}
	for _, c := range r.Commands {
		offer.Commands = append(offer.Commands, engine.OfferedCommand{Name: c.Name, Args: c.Arguments, Help: c.Description})
	}
	for _, k := range r.Keys {
		offer.Keys = append(offer.Keys, engine.OfferedKey{Key: k.Key, Command: k.Command, Args: k.Arguments, Help: k.Description})
	}
	h.engine.Send(offer)
}

// keep leaves out what cannot be used, and what comes twice or too much.
func keep[T any](h *Host, p *peer, what string, list []T, check func(T) (string, error)) (kept []T) {
	seen := map[string]bool{}
	for _, item := range list {
		name, err := check(item)
		switch {
		case err == nil && seen[name]:
			err = errors.New("it is there twice")
		case err == nil && len(kept) >= most:
			err = fmt.Errorf("there are more than %d", most)
		}
		if err != nil {
			h.fault(p, what+" "+name, fmt.Sprintf("its %s %q is left out: %v", what, clip(name, 80), err))
			continue
		}
		seen[name] = true
		kept = append(kept, item)
	}
	return kept
}

func (h *Host) checkTool(p *peer, t ToolSpec) error {
	if ok, _ := regexp.MatchString(toolName, t.Name); !ok {
		return errors.New("a name is a letter and then letters, digits, _ and -, 64 at most")
	}
	if strings.HasPrefix(t.Name, "mcp__") {
		return errors.New("names that begin with mcp__ belong to MCP servers")
	}
	if _, ok := accesses()[t.Access]; t.Access != "" && !ok {
		return fmt.Errorf("there is no access %q; there are %s", t.Access, strings.Join(sortedKeys(accesses()), ", "))
	}
	if err := tool.CheckSchema(t.schema()); err != nil {
		return fmt.Errorf("its parameters: %w", err)
	}
	return h.unclaimed(p, func(other Registration) bool {
		return slices.ContainsFunc(other.Tools, func(o ToolSpec) bool { return o.Name == t.Name })
	})
}

func (h *Host) checkCommand(p *peer, c CommandSpec) error {
	if ok, _ := regexp.MatchString(commandName, c.Name); !ok {
		return errors.New("a name is a lower-case letter and then such letters, digits and -, 40 at most")
	}
	return h.unclaimed(p, func(other Registration) bool {
		return slices.ContainsFunc(other.Commands, func(o CommandSpec) bool { return o.Name == c.Name })
	})
}

// unclaimed says that another extension that runs has something already.
func (h *Host) unclaimed(p *peer, has func(Registration) bool) error {
	for _, other := range h.peers {
		if other != p && other.state == Running && has(other.about.Registration) {
			return fmt.Errorf("the extension %s has one of that name", other.found.Name)
		}
	}
	return nil
}

// withdraw takes back what an extension has brought and shows.
func (h *Host) withdraw(p *peer) {
	from := p.found.Name
	p.panel = engine.Panel{}
	h.engine.Send(engine.SetTools{From: from})
	h.engine.Send(engine.Offer{From: from})
	h.engine.Send(engine.Panel{From: from})
}

// schema is the tool's, or that of any object.
func (t ToolSpec) schema() json.RawMessage {
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.Parameters
}

// tool makes a tool of an extension one of the engine's.
func (h *Host) tool(p *peer, spec ToolSpec) tool.Tool {
	access := tool.Execute
	if spec.Access != "" {
		access = accesses()[spec.Access]
	}
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: spec.Name, Description: spec.Description, Schema: spec.schema()},
		Access:   access,
		Subject:  func(args json.RawMessage) string { return tool.Describe(spec.Name, args) },
		Run:      func(ctx context.Context, in tool.Input) tool.Result { return h.runTool(ctx, p, spec.Name, in) },
	}
}

// runTool has an extension run a call, in the goroutine of the call.
func (h *Host) runTool(ctx context.Context, p *peer, name string, in tool.Input) tool.Result {
	params, err := json.Marshal(ToolRun{in.CallID, name, in.Args})
	if err != nil {
		return tool.Fail(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var raw json.RawMessage
	steps, done := make(chan string, 1), make(chan struct{})
	h.wg.Go(func() {
		defer close(done)
		raw, err = h.call(ctx, p, call{method: "tool", params: params, what: name, limit: h.opts.Limits.Work, id: in.CallID, progress: func(text string) {
			select {
			case <-steps: // what nobody has seen yet is old
			default:
			}
			steps <- text
		}})
	})
	for {
		select {
		case text := <-steps:
			in.Progress(tool.Plain{Text: text})
			continue
		case <-done:
		}
		break
	}
	if err != nil {
		return tool.Fail(fmt.Errorf("%s: %w", name, err))
	}
	return h.toolResult(p, name, raw)
}

// toolResult makes a result of what a tool gave.
func (h *Host) toolResult(p *peer, name string, raw json.RawMessage) tool.Result {
	out, err := parse[ToolOutput](raw)
	var content []llm.Block
	if err == nil && len(out.Content) > 0 {
		content, err = session.UnmarshalContent(out.Content)
	}
	if err != nil {
		return tool.Fail(fmt.Errorf("%s: what the extension %s answered is no result: %w", name, p.found.Name, err))
	}
	room := h.opts.Limits.Text
	var kept []llm.Block
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			b.Text = cutText(b.Text, room)
			b.Signature = ""
			room = max(0, room-len(b.Text))
			kept = append(kept, b)
		case llm.Image:
			kept = append(kept, b)
		}
	}
	r := tool.Result{Content: kept}
	if out.Shown != "" {
		r.View = tool.Plain{Text: cutText(out.Shown, h.opts.Limits.Text)}
	}
	if out.IsError {
		r.Err = errors.New(firstLine(kept, name+" failed"))
	}
	return r
}

// cutText keeps the beginning of a text that is too long, and says so.
func cutText(text string, room int) string {
	if len(text) <= room {
		return text
	}
	return strings.ToValidUTF8(text[:room], "") + fmt.Sprintf("\n[%d of %d bytes were left out]", len(text)-room, len(text))
}

// firstLine is the first line of a text, or else what is given.
func firstLine(content []llm.Block, otherwise string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(llm.Message{Content: content}.Text()), "\n")
	if line == "" {
		return otherwise
	}
	return clip(line, 300)
}

// invoke runs a command that the user has called.
func (h *Host) invoke(o *engine.Invoke) {
	i := slices.IndexFunc(h.peers, func(p *peer) bool { return p.found.Name == o.From })
	params, err := json.Marshal(CommandRun{o.Command, o.Args})
	if i < 0 || err != nil {
		return
	}
	h.begin(h.peers[i], call{method: "command", params: params, what: "/" + o.Command, limit: h.opts.Limits.Work}, func(_ json.RawMessage, err error) {
		if err != nil {
			h.notice(engine.Failure, "/%s: %s", o.Command, clip(err.Error(), 2000))
		}
	})
}
