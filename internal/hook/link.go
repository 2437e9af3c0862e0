package hook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/agent"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
)

// Link joins hooks to an engine: it is its [engine.Hooks], turns occasions into
// events, and what hooks say into answers. Make it with [NewLink].
type Link struct {
	// Alone: nobody sits at a screen.
	alone  bool
	runner atomic.Pointer[Runner]
	send   func(engine.Command) // set before the engine runs
	facts  atomic.Pointer[facts]
	begun  atomic.Pointer[begun]
	halt   atomic.Pointer[string] // why the turn is to end; nil where it is not

	sessionEnds sync.WaitGroup

	mu sync.Mutex
	// calls are those that were asked about and have no result yet, by their ids.
	// They run side by side.
	calls map[string]called
}

// called is what is kept of a call from its beginning to its result.
type called struct {
	cwd                string   // of the session that it is made in
	agentID, agentType string   // where that is a task's
	context            []string // that the model is to be told with the result
}

// facts are what every hook is told of the session. They are exchanged by the
// engine's owner and never changed.
type facts struct {
	session    session.Snapshot
	permission string
}

// begun are hooks of a session's start that run or have ended.
type begun struct {
	done chan struct{}
	said Outcome // once done is closed
}

// adds says to models that what follows is not the user's.
const adds = "[A hook adds:]\n"

// Type is the customType of what hooks tell models.
const Type = "banyan.hook"

// mostStops is how often hooks may keep a turn from ending.
const mostStops = 8

// NewLink makes a link of a runner; alone says that nobody sits at a screen.
func NewLink(r *Runner, alone bool) *Link {
	l := &Link{alone: alone, calls: map[string]called{}, send: func(engine.Command) {}}
	l.runner.Store(r)
	l.facts.Store(&facts{})
	return l
}

// Start says where what the user is to know goes. It is called once, before the
// engine runs.
func (l *Link) Start(send func(engine.Command)) { l.send = send }

// Runner is what runs hooks now.
func (l *Link) Runner() *Runner { return l.runner.Load() }

// Exchange puts other hooks in the place of those there are, and ends what these
// run in the background.
func (l *Link) Exchange(r *Runner) { l.runner.Swap(r).Close() }

// Close waits for the hooks of the session's end, and ends all others.
func (l *Link) Close() {
	l.sessionEnds.Wait()
	l.Runner().Close()
}

// hears are the events that an occasion is made for.
var hears = map[string][]string{
	(*engine.Input)(nil).Name():                {UserPromptSubmit},
	(*engine.BeforeAgentStart)(nil).Name():     {SessionStart},
	(*engine.ToolCall)(nil).Name():             {PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure},
	(*engine.PermissionRequest)(nil).Name():    {PermissionRequest},
	(*engine.ToolResult)(nil).Name():           {PreToolUse, PostToolUse, PostToolUseFailure},
	(*engine.AgentEnd)(nil).Name():             {Stop},
	(*engine.TaskStop)(nil).Name():             {SubagentStop},
	(*engine.SessionBeforeCompact)(nil).Name(): {PreCompact},
	(*engine.SessionBeforeTree)(nil).Name():    {PreTree},
	(*engine.SessionBeforeBranch)(nil).Name():  {PreBranch},
	(*engine.SessionShutdown)(nil).Name():      {SessionEnd},
	(*engine.SessionCompact)(nil).Name():       {SessionStart},
	(*engine.SessionTree)(nil).Name():          {PostTree},
	(*engine.SessionBranch)(nil).Name():        {PostBranch},
	(*engine.Notification)(nil).Name():         {Notification},
}

// Hears implements [engine.Hooks].
func (l *Link) Hears(name string) bool {
	switch name {
	case (*engine.SessionStart)(nil).Name(), (*engine.ModeSelect)(nil).Name(), (*engine.AgentStart)(nil).Name():
		return true // what hooks are told of the session is kept
	case (*engine.Context)(nil).Name():
		return l.halt.Load() != nil
	}
	r := l.Runner()
	for _, event := range hears[name] {
		if r.Hears(event) {
			return true
		}
	}
	return false
}

// Ask implements [engine.Hooks].
func (l *Link) Ask(ctx context.Context, o engine.Occasion) error {
	switch o := o.(type) {
	case *engine.Input:
		return l.prompt(ctx, o)
	case *engine.BeforeAgentStart:
		o.Add = append(o.Add, l.sessionContext(ctx)...)
	case *engine.ToolCall:
		return l.call(ctx, o)
	case *engine.PermissionRequest:
		return l.question(ctx, o)
	case *engine.ToolResult:
		l.result(ctx, o)
	case *engine.Context:
		if why := l.halt.Swap(nil); why != nil {
			return l.stopped(*why)
		}
	case *engine.AgentEnd:
		l.stop(ctx, Stop, o, nil)
	case *engine.TaskStop:
		l.stop(ctx, SubagentStop, o.AgentEnd, func(in *Input) {
			in.AgentID, in.AgentType, in.AgentPath, in.Cwd = o.ID, o.Agent, o.Session.Path(), o.Session.Header().Cwd
		})
	case *engine.SessionBeforeCompact:
		return l.compact(ctx, o)
	case *engine.SessionBeforeTree:
		return l.tree(ctx, o)
	case *engine.SessionBeforeBranch:
		said := l.run(ctx, l.input(PreBranch, func(in *Input) { in.Branch = &Branch{Entry: string(o.Entry), Leaf: string(o.Leaf)} }))
		return l.veto(said)
	}
	return nil
}

// Tell implements [engine.Hooks].
func (l *Link) Tell(o engine.Occasion) {
	switch o := o.(type) {
	case *engine.SessionStart:
		l.facts.Store(&facts{o.Session, o.Permission})
		l.begin(startSources[o.Reason])
	case *engine.SessionCompact:
		l.begin("compact")
	case *engine.ModeSelect:
		l.facts.Store(&facts{l.facts.Load().session, o.Permission})
	case *engine.AgentStart:
		l.halt.Store(nil)
		l.mu.Lock()
		l.calls = map[string]called{}
		l.mu.Unlock()
	case *engine.SessionShutdown:
		in := l.input(SessionEnd, func(in *Input) { in.Reason = l.endReason(o.Reason) })
		l.sessionEnds.Go(func() { l.run(context.Background(), in) })
	case *engine.SessionTree:
		t := &Tree{OldLeaf: string(o.OldLeaf), NewLeaf: string(o.NewLeaf), Target: string(o.NewLeaf)}
		if o.Summary != nil {
			t.Summarize, t.Summary = true, string(o.Summary.ID)
		}
		l.after(l.input(PostTree, func(in *Input) { in.Tree = t }))
	case *engine.SessionBranch:
		l.after(l.input(PostBranch, func(in *Input) {
			in.Branch = &Branch{Parent: o.Parent, Path: o.Session.Path(), Leaf: string(o.Session.Leaf())}
		}))
	case *engine.Notification:
		l.after(l.input(Notification, func(in *Input) {
			in.Message, in.NotificationType = o.Text, o.Kind
			if o.Kind == "permission" {
				in.NotificationType = "permission_prompt"
			}
		}))
	}
}

// startSources are Claude Code's words for why a session is there.
var startSources = map[string]string{"startup": "startup", "resume": "resume", "new": "clear", "fork": "fork"}

// endReason is Claude Code's word for why a session is left.
func (l *Link) endReason(ours string) string {
	switch {
	case ours == "new":
		return "clear"
	case ours == "quit" && !l.alone:
		return "prompt_input_exit"
	case ours == "resume":
		return ours
	}
	return "other"
}

// input is what hooks are told of an event.
func (l *Link) input(event string, set func(*Input)) Input {
	f := l.facts.Load()
	in := Input{Event: event, SessionID: f.session.Header().ID, TranscriptPath: f.session.Path(), PermissionMode: Mode(f.permission)}
	if set != nil {
		set(&in)
	}
	return in
}

// patience is how long hooks are waited for without a word.
const patience = 300 * time.Millisecond

// panel is what the footer says meanwhile.
const panel = "hooks"

// run runs the hooks of an event and tells the user what they are to know: also
// which are waited for, where that takes a while.
func (l *Link) run(ctx context.Context, in Input) Outcome {
	r := l.Runner()
	shown := make(chan struct{})
	waiting := time.AfterFunc(patience, func() {
		defer close(shown)
		l.send(engine.Panel{From: panel, Status: r.status(in)})
	})
	said := r.Run(ctx, in)
	if !waiting.Stop() {
		<-shown
		l.send(engine.Panel{From: panel})
	}
	for _, f := range said.Faults {
		l.send(engine.Notice{Level: engine.Warning, Text: f.String()})
	}
	for _, text := range said.Messages {
		l.send(engine.Notice{Level: engine.Note, Text: text})
	}
	return said
}

// after runs hooks of what has happened, which nobody waits for.
func (l *Link) after(in Input) {
	if r := l.Runner(); r.Hears(in.Event) {
		r.beside(func(ctx context.Context) { l.run(ctx, in) })
	}
}

// veto is the error of what hooks do not want to happen.
func (l *Link) veto(said Outcome) error {
	switch {
	case said.Halt:
		return l.stopped(said.StopReason)
	case said.Decision == Deny:
		return fmt.Errorf("%w: %s", refusal{said.By}, said.Reason)
	}
	return nil
}

// refusal is a veto that says whose it is.
type refusal struct{ by string }

func (r refusal) Error() string        { return r.by + " says no" }
func (r refusal) Is(target error) bool { return target == engine.ErrVetoed }

// stopped tells the user why the turn ends, and gives the error that ends it.
func (l *Link) stopped(why string) error {
	h := halted{why}
	l.send(engine.Notice{Level: engine.Warning, Text: h.Error()})
	return h
}

// halted is a veto that ends the turn, too.
type halted struct{ why string }

func (h halted) Error() string {
	return strings.TrimSuffix("A hook ended the turn: "+h.why, ": ")
}

func (h halted) Is(target error) bool {
	return target == engine.ErrVetoed || target == agent.ErrStop
}

// messages are texts that models are told, in one message.
func messages(texts []string) []session.CustomMessage {
	if len(texts) == 0 {
		return nil
	}
	return []session.CustomMessage{{
		Type: Type, Content: []llm.Block{llm.Text{Text: adds + strings.Join(texts, "\n\n")}}, Display: true,
	}}
}

// begin runs the hooks of a session's start beside everything else. What they
// say is told with the next prompt.
func (l *Link) begin(source string) {
	in := l.input(SessionStart, func(in *Input) { in.Source = source })
	r := l.Runner()
	if !r.Hears(SessionStart) {
		return
	}
	b := &begun{done: make(chan struct{})}
	before := l.begun.Swap(b)
	r.beside(func(ctx context.Context) {
		defer close(b.done)
		b.said = l.run(ctx, in)
		if before != nil && source == "compact" { // not told yet
			<-before.done
			b.said.Context = append(before.said.Context, b.said.Context...)
		}
	})
}

// sessionContext is what the hooks of the session's start have to say, once.
func (l *Link) sessionContext(ctx context.Context) []session.CustomMessage {
	b := l.begun.Swap(nil)
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return messages(b.said.Context)
	case <-ctx.Done():
		l.begun.CompareAndSwap(nil, b) // for the next turn
		return nil
	}
}
