package extension

import (
	"cmp"
	"encoding/json"
	"errors"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// The payloads and answers of a turn's events. Messages and content have the
// shape of the session file.
type (
	// InputEvent says that a prompt is to be recorded.
	InputEvent struct {
		Text   string `json:"text"`
		Images int    `json:"images,omitempty" jsonschema:"how many pictures come with it"`
		Source string `json:"source,omitempty" jsonschema:"the extension that sent it; empty for the user"`
		Steers bool   `json:"steers,omitempty" jsonschema:"a turn is running"`
	}
	// InputAnswer is what is to be otherwise.
	InputAnswer struct {
		Veto
		Text    *string `json:"text,omitempty" jsonschema:"goes instead of the user's"`
		Handled bool    `json:"handled,omitempty" jsonschema:"it is done with: nothing is recorded and no model is asked"`
		Add     string  `json:"add,omitempty" jsonschema:"models are told this after it"`
	}
	// BeforeAgentEvent says that a turn is to begin.
	BeforeAgentEvent struct {
		Prompt  string  `json:"prompt"`
		System  string  `json:"systemPrompt"`
		Session Session `json:"session"`
	}
	// BeforeAgentAnswer adds to it.
	BeforeAgentAnswer struct {
		Append  string `json:"appendSystemPrompt,omitempty" jsonschema:"for this turn"`
		Message string `json:"message,omitempty" jsonschema:"models are told this after the prompt"`
		Hidden  bool   `json:"hidden,omitempty" jsonschema:"people do not see the message"`
	}
	// AgentStartEvent says that a turn has begun.
	AgentStartEvent struct {
		Time int64 `json:"timestamp" jsonschema:"Unix time in ms"`
	}
	// AgentEndEvent says that a turn is to end, or has ended with an error.
	AgentEndEvent struct {
		Error string          `json:"error,omitempty" jsonschema:"it has ended; nothing is asked then"`
		Last  json.RawMessage `json:"lastMessage,omitempty" jsonschema:"the newest answer"`
		Again int             `json:"again,omitempty" jsonschema:"how often it was kept going already"`
	}
	// AgentEndAnswer may keep it going.
	AgentEndAnswer struct {
		Continue string `json:"continue,omitempty" jsonschema:"the model is told this, and the turn goes on"`
	}
	// ContextEvent says that a request is to be sent.
	ContextEvent struct {
		Messages []json.RawMessage `json:"messages"`
	}
	// ContextAnswer has the messages to send instead.
	ContextAnswer struct {
		Messages []json.RawMessage `json:"messages,omitempty" jsonschema:"all of them; absent for no change"`
	}
	// TurnStartEvent says that a round of a turn has begun: a request and its calls.
	TurnStartEvent struct {
		Index int   `json:"index"`
		Time  int64 `json:"timestamp" jsonschema:"Unix time in ms"`
	}
	// TurnEndEvent says that a round has ended.
	TurnEndEvent struct {
		Index   int               `json:"index"`
		Message json.RawMessage   `json:"message,omitempty"`
		Results []json.RawMessage `json:"toolResults"`
	}
	// MessageEvent says that a message begins, or is on the path.
	MessageEvent struct {
		Entry   string          `json:"entryId,omitempty" jsonschema:"where it is on the path"`
		Message json.RawMessage `json:"message"`
	}
	// MessageUpdateEvent is a piece of an answer.
	MessageUpdateEvent struct {
		Kind string `json:"kind" jsonschema:"text, thinking or toolCall"`
		Text string `json:"text" jsonschema:"what came; of a toolCall a piece of its arguments"`
		Tool string `json:"toolName,omitempty"`
	}
	// ToolCallEvent says that a call is to be judged and run.
	ToolCallEvent struct {
		CallID    string          `json:"callId"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
		Access    string          `json:"access" jsonschema:"read, edit, execute or network"`
	}
	// ToolCallAnswer is what is to be otherwise.
	ToolCallAnswer struct {
		Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"run with these"`
		Decision  string          `json:"decision,omitempty" jsonschema:"allow (spares a question, beats no rule), ask or deny"`
		Reason    string          `json:"reason,omitempty" jsonschema:"with decision: for the model where it is denied, else for the user"`
	}
	// PermissionEvent says that the user is to be asked about a call.
	PermissionEvent struct {
		CallID    string          `json:"callId"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
		Why       string          `json:"reason"`
	}
	// PermissionAnswer answers in the user's place.
	PermissionAnswer struct {
		Decision string `json:"decision,omitempty" jsonschema:"allow or deny; nothing leaves it to the user"`
		Reason   string `json:"reason,omitempty"`
	}
	// ToolResultEvent says that a call has ended.
	ToolResultEvent struct {
		CallID    string          `json:"callId"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"isError"`
		Details   json.RawMessage `json:"details,omitempty"`
	}
	// ToolResultAnswer is what the model is told instead.
	ToolResultAnswer struct {
		Content json.RawMessage `json:"content,omitempty"`
		IsError *bool           `json:"isError,omitempty"`
	}
	// UserBashEvent says that a command of the user's is to run.
	UserBashEvent struct {
		Command string `json:"command"`
		Exclude bool   `json:"excludeFromContext,omitempty"`
	}
	// UserBashAnswer is what is to be otherwise.
	UserBashAnswer struct {
		Veto
		Command  string  `json:"command,omitempty" jsonschema:"runs instead"`
		Output   *string `json:"output,omitempty" jsonschema:"taken for what it prints; nothing runs then"`
		ExitCode int     `json:"exitCode,omitempty" jsonschema:"with output"`
	}
	// TaskEvent says that a child task has begun or ended.
	TaskEvent struct {
		ID     string `json:"id"`
		Agent  string `json:"agent,omitempty"`
		Prompt string `json:"prompt,omitempty"`
		File   string `json:"file,omitempty" jsonschema:"of the child's session"`
		Result string `json:"result,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	// TaskStopEvent says that the agent of a child task is to end.
	TaskStopEvent struct {
		ID    string          `json:"id"`
		Agent string          `json:"agent,omitempty"`
		Last  json.RawMessage `json:"lastMessage,omitempty" jsonschema:"the newest answer"`
		Again int             `json:"again,omitempty" jsonschema:"how often it was kept going already"`
	}
	// NotificationEvent says that the user is waited for.
	NotificationEvent struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
)

func turnEvents() []event {
	return []event{
		asks(func(o *engine.Input) (InputEvent, error) {
			return InputEvent{o.Text, len(o.Images), o.Source, o.Steers}, nil
		}, answerInput),
		asks(func(o *engine.BeforeAgentStart) (BeforeAgentEvent, error) {
			return BeforeAgentEvent{o.Prompt, o.System, where(o.Session)}, nil
		}, answerBeforeAgent),
		tells(func(o *engine.AgentStart) (AgentStartEvent, error) { return AgentStartEvent{millis(o.At)}, nil }),
		asks(agentEnd, func(o *engine.AgentEnd, a AgentEndAnswer, _ string) error {
			o.Continue = join(o.Continue, a.Continue)
			return nil
		}),
		asks(func(o *engine.Context) (ContextEvent, error) {
			list, err := messages(o.Messages)
			return ContextEvent{list}, err
		}, answerContext),
		tells(func(o *engine.TurnStart) (TurnStartEvent, error) { return TurnStartEvent{o.Index, millis(o.At)}, nil }),
		tells(turnEnd),
		tells(func(o *engine.MessageStart) (MessageEvent, error) {
			m, err := session.MarshalMessage(o.Message)
			return MessageEvent{Message: m}, err
		}),
		tells(messageUpdate),
		tells(func(o *engine.MessageEnd) (MessageEvent, error) {
			m, err := session.MarshalMessage(o.Message)
			return MessageEvent{string(o.Entry), m}, err
		}),
		asks(func(o *engine.ToolCall) (ToolCallEvent, error) {
			return ToolCallEvent{o.ID, o.Tool, o.Arguments, accessName(o.Access)}, nil
		}, answerToolCall),
		asks(func(o *engine.ToolResult) (ToolResultEvent, error) {
			content, err := session.MarshalContent(o.Content)
			return ToolResultEvent{o.CallID, o.Tool, o.Arguments, content, o.IsError, o.Details}, err
		}, answerToolResult),
		asks(func(o *engine.PermissionRequest) (PermissionEvent, error) {
			return PermissionEvent{o.Call.ID, o.Call.Name, o.Call.Arguments, o.Why}, nil
		}, answerPermission),
		asks(func(o *engine.UserBash) (UserBashEvent, error) { return UserBashEvent{o.Command, o.Exclude}, nil }, answerUserBash),
		tells(func(o *engine.TaskStart) (TaskEvent, error) {
			return TaskEvent{ID: o.ID, Agent: o.Agent, Prompt: o.Prompt, File: o.Path}, nil
		}),
		asks(func(o *engine.TaskStop) (TaskStopEvent, error) {
			end, err := agentEnd(o.AgentEnd)
			return TaskStopEvent{o.ID, o.Agent, end.Last, end.Again}, err
		}, func(o *engine.TaskStop, a AgentEndAnswer, _ string) error {
			o.Continue = join(o.Continue, a.Continue)
			return nil
		}),
		tells(func(o *engine.TaskEnd) (TaskEvent, error) {
			return TaskEvent{ID: o.ID, Agent: o.Agent, File: o.Path, Result: o.Result, Error: errorText(o.Err)}, nil
		}),
		tells(func(o *engine.Notification) (NotificationEvent, error) { return NotificationEvent{o.Kind, o.Text}, nil }),
	}
}

// told makes the message that an extension has models told.
func told(by, text string, hidden bool) session.CustomMessage {
	return session.CustomMessage{Type: by, Content: []llm.Block{llm.Text{Text: text}}, Display: !hidden}
}

func answerInput(o *engine.Input, a InputAnswer, by string) error {
	if a.Text != nil {
		o.Text = *a.Text
	}
	if a.Add != "" {
		o.Add = append(o.Add, told(by, a.Add, false))
	}
	o.Handled = o.Handled || a.Handled
	return a.err(by)
}

func answerBeforeAgent(o *engine.BeforeAgentStart, a BeforeAgentAnswer, by string) error {
	o.Append = join(o.Append, a.Append)
	if a.Message != "" {
		o.Add = append(o.Add, told(by, a.Message, a.Hidden))
	}
	return nil
}

func join(before, more string) string {
	if before == "" || more == "" {
		return before + more
	}
	return before + "\n\n" + more
}

func agentEnd(o *engine.AgentEnd) (AgentEndEvent, error) {
	ev := AgentEndEvent{Error: errorText(o.Err), Again: o.Again}
	var err error
	if o.Last.Role != "" {
		ev.Last, err = session.MarshalMessage(o.Last)
	}
	return ev, err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func answerContext(o *engine.Context, a ContextAnswer, _ string) error {
	if a.Messages == nil {
		return nil
	}
	var list []llm.Message
	for _, line := range a.Messages {
		m, err := session.UnmarshalMessage(line)
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return errors.New("a request without messages cannot be sent")
	}
	o.Messages = list
	return nil
}

func turnEnd(o *engine.TurnEnd) (TurnEndEvent, error) {
	results, err := messages(o.Results)
	ev := TurnEndEvent{Index: o.Index, Results: results}
	if err == nil && o.Message.Role != "" {
		ev.Message, err = session.MarshalMessage(o.Message)
	}
	return ev, err
}

// errSilent says that there is nothing to tell.
var errSilent = errors.New("nothing to tell")

func messageUpdate(o *engine.MessageUpdate) (MessageUpdateEvent, error) {
	switch ev := o.Event.(type) {
	case llm.TextDelta:
		return MessageUpdateEvent{Kind: "text", Text: ev.Text}, nil
	case llm.ThinkingDelta:
		return MessageUpdateEvent{Kind: "thinking", Text: ev.Text}, nil
	case llm.CallDelta:
		return MessageUpdateEvent{Kind: "toolCall", Text: ev.Arguments, Tool: ev.Name}, nil
	}
	return MessageUpdateEvent{}, errSilent
}

func answerToolCall(o *engine.ToolCall, a ToolCallAnswer, by string) error {
	if a.Decision != "" {
		act, err := action(a.Decision)
		if err != nil {
			return err
		}
		o.Decide(act, cmp.Or(a.Reason, "the extension "+by+" says so"), by)
	}
	if len(a.Arguments) > 0 && string(a.Arguments) != "null" {
		o.Arguments = a.Arguments
	}
	return nil
}

func answerToolResult(o *engine.ToolResult, a ToolResultAnswer, _ string) error {
	if len(a.Content) > 0 && string(a.Content) != "null" {
		content, err := session.UnmarshalContent(a.Content)
		if err != nil {
			return err
		}
		o.Content = content
	}
	if a.IsError != nil {
		o.IsError = *a.IsError
	}
	return nil
}

func answerPermission(o *engine.PermissionRequest, a PermissionAnswer, by string) error {
	if a.Decision == "" {
		return nil
	}
	act, err := action(a.Decision)
	if err == nil {
		o.Decide(act, cmp.Or(a.Reason, "the extension "+by+" says so"), by)
	}
	return err
}

func answerUserBash(o *engine.UserBash, a UserBashAnswer, by string) error {
	if a.Command != "" {
		o.Command = a.Command
	}
	if a.Output != nil {
		o.Output, o.ExitCode = a.Output, a.ExitCode
	}
	return a.err(by)
}

// accesses are the words for what a tool may do.
func accesses() map[string]tool.Access {
	return map[string]tool.Access{"read": tool.Read, "edit": tool.Edit, "execute": tool.Execute, "network": tool.Network}
}

func accessName(a tool.Access) string {
	for name, access := range accesses() {
		if access == a {
			return name
		}
	}
	return ""
}
