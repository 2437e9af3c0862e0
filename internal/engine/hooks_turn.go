package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// What hooks hear of a turn, in the order in which it happens.

// mostAgain is how often hooks may keep one turn going.
const mostAgain = 25

// admit shows prompts to the hooks, in the turn's goroutine, and records them:
// as they change them, and those that are not stopped or done with. The text of
// one that is not recorded goes back to the editor.
func (t turn) admit(ctx context.Context, prompts []Submit, steers bool) (admitted int, err error) {
	for i, s := range prompts {
		o := &Input{Source: s.From, Steers: steers, Text: s.Text, Images: s.Images}
		_ = t.do(func() error { o.Session = t.session.Snapshot(); return nil })
		asked := t.consult(ctx, o)
		if ctx.Err() != nil {
			_ = t.do(func() error { t.giveBack(prompts[i:]); return nil })
			return admitted, ctx.Err()
		}
		_ = t.do(func() error {
			switch {
			case asked != nil:
				t.giveBack(prompts[i : i+1])
				err = asked
				t.notice(Warning, "%v", asked)
			case !o.Handled:
				s.Text, s.Images = o.Text, o.Images
				if t.recordPrompt(s) && t.add(o.Add) {
					admitted++
				}
			}
			return nil
		})
	}
	return admitted, err
}

// giveBack gives prompts back that were not recorded: to the editor, or, where
// the program is ending, to the queue.
func (e *Engine) giveBack(prompts []Submit) {
	if e.closing {
		e.waiting = append(prompts, e.waiting...)
		e.emitQueue(nil)
		return
	}
	var back []string
	for _, s := range prompts {
		back = append(back, s.Text)
	}
	e.emitQueue(back)
}

// add records what hooks want models to be told.
func (e *Engine) add(messages []session.CustomMessage) bool {
	var entries []session.Data
	for _, m := range messages {
		entries = append(entries, m)
	}
	return len(entries) == 0 || e.record("record what an extension adds", entries...)
}

// beforeStart asks what is to be added to a turn that begins, and gives the
// turn's addition to the system prompt.
func (t turn) beforeStart(ctx context.Context) (system string, err error) {
	o := &BeforeAgentStart{}
	if t.hears(o.Name()) {
		_ = t.do(func() error {
			o.System, o.Session = t.Engine.systemPrompt(), t.session.Snapshot()
			o.Prompt = t.lastPrompt()
			return nil
		})
		if err := t.consult(ctx, o); err != nil {
			return "", err
		}
	}
	return o.Append, t.do(func() error {
		t.tell(&AgentStart{t.cfg.Now()})
		t.add(o.Add)
		return nil
	})
}

// lastPrompt is the text of the newest prompt on the path.
func (e *Engine) lastPrompt() string {
	snap := e.session.Snapshot()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		return "" // building the request says so
	}
	for i := len(c.Items) - 1; i >= 0; i-- {
		if m, ok := c.Items[i].Data.(session.Message); ok && m.Role == llm.User {
			return m.Text()
		}
	}
	return ""
}

// goesOn says whether a turn that would end well has to go on: somebody gave the
// model more to do. It records that.
func (t turn) goesOn(ctx context.Context, again int) (bool, error) {
	o := &AgentEnd{Again: again}
	if !t.hears(o.Name()) {
		return false, nil
	}
	_ = t.do(func() error { t.roundEnds(); o.Last, o.Session = t.heard.answer, t.session.Snapshot(); return nil })
	if err := t.consult(ctx, o); err != nil || o.Continue == "" {
		return false, err
	}
	if again >= mostAgain {
		return false, fmt.Errorf("the turn was kept going %d times and is ended now", again)
	}
	return true, t.do(func() error { return t.turnEvent(agent.Told{Text: o.Continue}) })
}

// consultRequest lets hooks change the messages of a request.
func (t turn) consultRequest(ctx context.Context, messages []llm.Message) ([]llm.Message, error) {
	o := &Context{Messages: messages}
	if !t.hears(o.Name()) {
		return messages, nil
	}
	if err := t.consult(ctx, o); err != nil {
		return nil, err
	}
	var c session.Context
	for _, m := range o.Messages {
		c.Items = append(c.Items, session.Item{Time: m.Time, Data: session.Message{Message: m}})
	}
	return c.Messages(), nil
}

// consultCall lets hooks change a call's arguments, and gives what they say to it.
func (e *Engine) consultCall(ctx context.Context, call *llm.ToolCall, t tool.Tool) (Opinion, error) {
	o := &ToolCall{ID: call.ID, Tool: call.Name, Access: t.Access, Arguments: call.Arguments}
	if !e.hears(o.Name()) {
		return Opinion{}, nil
	}
	_ = e.do(func() error { o.Session = e.session.Snapshot(); return nil })
	if err := e.consult(ctx, o); err != nil {
		return Opinion{}, err
	}
	if string(o.Arguments) != string(call.Arguments) {
		if err := tool.Validate(t, o.Arguments); err != nil {
			return Opinion{}, fmt.Errorf("an extension changed the arguments: %w", err)
		}
		call.Arguments = o.Arguments
	}
	return o.Opinion, nil
}

// weighed is a verdict after hooks gave their opinion: they can forbid and have
// the user asked, and spare the user a question that no rule wants asked.
func weighed(v permission.Verdict, o Opinion) permission.Verdict {
	switch {
	case !o.Said || v.Action == permission.Deny:
	case o.Action == permission.Deny,
		o.Action == permission.Ask && v.Action == permission.Allow,
		o.Action == permission.Allow && v.Rule == "":
		return permission.Verdict{Action: o.Action, Source: o.By, Reason: o.Reason}
	}
	return v
}

// consultResult lets hooks change the result of a call that ran before it is
// recorded. What it did is recorded, whatever they say, and also when the user
// does not wait for them.
func (t turn) consultResult(ctx context.Context, m llm.Message, ran map[string]json.RawMessage) llm.Message {
	o := &ToolResult{CallID: m.CallID, Tool: m.ToolName, Details: m.Details, Content: m.Content, IsError: m.IsError}
	var did bool
	if o.Arguments, did = ran[m.CallID]; !did || !t.hears(o.Name()) {
		return m
	}
	switch err := t.consult(ctx, o); {
	case err == nil:
		m.Content, m.IsError = o.Content, o.IsError
	case ctx.Err() == nil:
		_ = t.do(func() error { t.notice(Warning, "%v", err); return nil })
	}
	return m
}

// hearing is what is kept of a turn for those who are told of it.
type hearing struct {
	round   int
	open    bool // the round has not ended
	begun   bool // the answer has begun
	answer  llm.Message
	results []llm.Message
}

// hear tells of what happened in a turn.
func (e *Engine) hear(ev agent.Event) {
	if e.cfg.Hooks == nil {
		return
	}
	h := &e.heard
	switch ev := ev.(type) {
	case agent.Delta:
		if !h.begun {
			h.begun = true
			e.tell(&MessageStart{llm.Message{Role: llm.Assistant, API: e.info.API, Provider: e.model.Provider, Model: e.model.Model}})
		}
		if e.hears((*MessageUpdate)(nil).Name()) {
			e.cfg.Hooks.Tell(&MessageUpdate{ev.Event})
		}
	case agent.Answered:
		h.answer = ev.Message
	case agent.Returned:
		h.results = append(h.results, ev.Message)
	}
}

// roundBegins tells that a request and the calls of its answer are to come.
func (e *Engine) roundBegins() {
	if e.cfg.Hooks == nil {
		return
	}
	e.roundEnds()
	e.heard = hearing{round: e.heard.round, open: true}
	e.tell(&TurnStart{e.heard.round, e.cfg.Now()})
}

// roundEnds tells that a round is over, if one was open.
func (e *Engine) roundEnds() {
	if h := &e.heard; h.open {
		h.open = false
		e.tell(&TurnEnd{h.round, h.answer, h.results})
		h.round++
	}
}

// tellMessage tells of a message that was recorded. What is no answer begins and
// ends at once.
func (e *Engine) tellMessage(entry session.Entry) {
	m, ok := entry.Data.(session.Message)
	if !ok || e.cfg.Hooks == nil {
		return
	}
	if m.Role != llm.Assistant {
		e.tell(&MessageStart{m.Message})
	}
	e.tell(&MessageEnd{entry.ID, m.Message})
}
