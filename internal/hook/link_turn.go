package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
)

// What hooks say in a turn, in the order in which it happens.

func (l *Link) prompt(ctx context.Context, o *engine.Input) error {
	said := l.run(ctx, l.input(UserPromptSubmit, func(in *Input) { in.Prompt = o.Text }))
	if err := l.veto(said); err != nil {
		return fmt.Errorf("the prompt was not sent: %w", err)
	}
	o.Add = append(o.Add, messages(said.Context)...)
	return nil
}

// actions are the permission policy's words for decisions.
var actions = map[Decision]permission.Action{Allow: permission.Allow, Ask: permission.Ask, Deny: permission.Deny}

func (l *Link) call(ctx context.Context, o *engine.ToolCall) error {
	c := called{cwd: o.Session.Header().Cwd}
	if task := o.Session.Header().Task; task != nil {
		c.agentID, c.agentType = task.ID, task.Agent
	}
	said := l.run(ctx, l.input(PreToolUse, func(in *Input) { in.of(c, o.ID, o.Tool, o.Arguments) }))
	if said.Halt {
		return l.stopped(said.StopReason)
	}
	if said.Input != nil {
		o.Arguments = said.Input
	}
	if action, ok := actions[said.Decision]; ok {
		o.Decide(action, said.Reason, said.By)
	}
	c.context = said.Context
	l.mu.Lock()
	l.calls[o.ID] = c
	l.mu.Unlock()
	return nil
}

// of puts a call into the input.
func (in *Input) of(c called, id, tool string, args json.RawMessage) {
	in.Cwd, in.AgentID, in.AgentType = c.cwd, c.agentID, c.agentType
	in.Call(id, tool, args, c.cwd)
}

// called is what is kept of a call; done says that it is the last time.
func (l *Link) called(id string, done bool) called {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[id]
	if done {
		delete(l.calls, id)
	}
	return c
}

func (l *Link) question(ctx context.Context, o *engine.PermissionRequest) error {
	said := l.run(ctx, l.input(PermissionRequest, func(in *Input) {
		in.of(l.called(o.Call.ID, false), "", o.Call.Name, o.Call.Arguments)
	}))
	if said.Halt {
		return l.stopped(said.StopReason)
	}
	if action, ok := actions[said.Decision]; ok {
		o.Decide(action, said.Reason, said.By)
	}
	return nil
}

// result adds what hooks say to the result of a call. A turn that they end ends
// before its next request.
func (l *Link) result(ctx context.Context, o *engine.ToolResult) {
	text := llm.Message{Content: o.Content}.Text()
	event := PostToolUse
	if o.IsError {
		event = PostToolUseFailure
	}
	c := l.called(o.CallID, true)
	said := l.run(ctx, l.input(event, func(in *Input) {
		in.of(c, o.CallID, o.Tool, o.Arguments)
		if o.IsError {
			in.Error = text
		} else {
			in.ToolResponse = response(*in, text)
		}
	}))
	if said.Output != nil {
		o.Content = []llm.Block{llm.Text{Text: *said.Output}}
	}
	if texts := slices.Concat(c.context, said.Feedback, said.Context); len(texts) > 0 {
		o.Content = append(o.Content, llm.Text{Text: adds + strings.Join(texts, "\n\n")})
	}
	if said.Halt {
		l.halt.Store(&said.StopReason)
	}
}

// response is a tool's result as hooks are told it: its text, and for the tools
// whose results scripts look into what those expect.
func response(in Input, text string) json.RawMessage {
	fields := map[string]any{"content": text}
	switch in.ToolName {
	case "Bash":
		fields["stdout"], fields["stderr"], fields["interrupted"] = text, "", false
	case "Write", "Edit", "MultiEdit":
		var args struct {
			Path string `json:"file_path"`
		}
		if json.Unmarshal(in.ToolInput, &args) == nil {
			fields["filePath"], fields["success"] = args.Path, true
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil // texts always encode
	}
	return raw
}

// stop lets hooks keep a turn going, a few times.
func (l *Link) stop(ctx context.Context, event string, o *engine.AgentEnd, of func(*Input)) {
	if o.Again >= mostStops {
		l.send(engine.Notice{Level: engine.Warning, Text: fmt.Sprintf("%s hooks have kept a turn going %d times; it ends now.", event, o.Again)})
		return
	}
	active := o.Again > 0
	in := l.input(event, of)
	in.StopHookActive, in.LastAnswer = &active, o.Last.Text()
	said := l.run(ctx, in)
	if said.Decision == Deny && !said.Halt && o.Continue == "" {
		o.Continue = said.Reason
	}
}

func (l *Link) compact(ctx context.Context, o *engine.SessionBeforeCompact) error {
	said := l.run(ctx, l.input(PreCompact, func(in *Input) {
		in.Trigger, in.CustomInstructions = "auto", new(string)
		if o.Reason == engine.CompactManual {
			in.Trigger, in.CustomInstructions = "manual", &o.Instructions
		}
	}))
	return l.veto(said)
}

func (l *Link) tree(ctx context.Context, o *engine.SessionBeforeTree) error {
	said := l.run(ctx, l.input(PreTree, func(in *Input) {
		in.Tree = &Tree{
			Target: string(o.Target), OldLeaf: string(o.OldLeaf), NewLeaf: string(o.NewLeaf), Common: string(o.Common),
			Left: len(o.Left), Summarize: o.Navigate.Summarize,
		}
	}))
	if err := l.veto(said); err != nil {
		return err
	}
	wish := said.Tree
	if wish.Summary != "" {
		o.Summary = &session.BranchSummary{Summary: wish.Summary}
	}
	if wish.Instructions != "" {
		o.Instructions, o.Replace = &wish.Instructions, wish.Replace
	}
	if wish.Label != "" {
		o.Label = wish.Label
	}
	return nil
}
