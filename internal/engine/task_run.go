package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/result"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// The flow of a task, top to bottom: delegate (the tool, in a goroutine of the
// turn's) → order → link → attend → follow, which hears the task's own engine to
// its end → outcome. Steps of the owner are marked by do.

// task is one that waits, runs, or has ended. It belongs to the owner.
type task struct {
	TaskStatus
	engine  *Engine            // nil until it runs
	cancel  context.CancelFunc // ends it; nil when it has ended
	stopped bool               // by the user, alone
	before  time.Duration      // that it ran in earlier tries
}

// count adds what a request of the task, or of one below it, took.
func (t *task) count(u llm.Usage) {
	t.View.Tokens += u.Context()
	t.View.USD += u.Cost.Total
	t.View.CostUnknown = t.View.CostUnknown || u.CostUnknown
}

// delegate is the tool: it gives work to an engine of its own and waits.
func (e *Engine) delegate(ctx context.Context, a tool.TaskArgs, in tool.Input) tool.Result {
	order, err := e.order(a, in.CallID)
	if err != nil {
		return tool.Fail(err)
	}
	with, err := e.equip(ctx, order)
	if err != nil {
		return tool.Fail(err)
	}
	var t *task
	if err := e.do(func() error { t, err = e.link(order); return err }); err != nil {
		return tool.Fail(errors.Join(fmt.Errorf("the task could not be recorded: %w", err), with.close()))
	}
	return e.attend(ctx, t, with).result()
}

// order is the task that a model asks for, if it may be given.
func (e *Engine) order(a tool.TaskArgs, callID string) (session.Task, error) {
	h, err := e.header()
	if err != nil {
		return session.Task{}, err
	}
	var above session.Origin
	if h.Task != nil {
		above = *h.Task
	}
	most := e.cfg.Tasks.MaxDepth
	if most == 0 {
		most = DefaultTaskDepth
	}
	switch {
	case above.Depth >= most:
		return session.Task{}, fmt.Errorf("not given: tasks are %d deep here already, which is the limit (the setting maxTaskDepth). Do the work yourself", above.Depth)
	case above.Depth > 0 && e.atWork(0) >= mostTasks:
		return session.Task{}, fmt.Errorf("not given: %d tasks are at work already. Do the work yourself", mostTasks)
	case slices.Contains(above.Chain, fingerprint(a.Prompt)):
		return session.Task{}, errors.New("not given: you are working on a task with this very prompt, or a part of one. Do the work yourself, or give a smaller part of it away")
	}
	cwd, err := folderIn(e.cfg.Cwd, a.Cwd)
	if err != nil {
		return session.Task{}, err
	}
	if a.Result != nil {
		if _, err := result.Parse(a.Result); err != nil {
			return session.Task{}, fmt.Errorf("result: %w", err)
		}
	}
	id := uuid.NewString()
	return session.Task{
		ID: id, Session: session.ChildID(h.ID, id), CallID: callID, Depth: above.Depth + 1, Cwd: cwd,
		Description: a.Description, Prompt: a.Prompt, Agent: a.Agent, Model: a.Model, Thinking: a.Thinking, Result: a.Result,
	}, nil
}

func (e *Engine) header() (h session.Header, err error) {
	err = e.do(func() error { h = e.session.Snapshot().Header(); return nil })
	return h, err
}

// fingerprint tells prompts apart, whatever their white space.
func fingerprint(prompt string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(prompt), " ")))
	return hex.EncodeToString(sum[:8])
}

// folderIn is a folder that is dir or inside it, without symbolic links.
func folderIn(dir, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("the working folder: %w", err)
	}
	at, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fmt.Errorf("the folder of the task: %w", err)
	}
	if rel, err := filepath.Rel(root, at); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the folder of the task, %s, is not in the working folder %s; tasks do not leave it", at, root)
	}
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder that a task could work in", at)
	}
	return at, nil
}

func (eq *Equipment) close() error {
	if eq == nil || eq.Close == nil {
		return nil
	}
	return eq.Close()
}

func (e *Engine) equip(ctx context.Context, t session.Task) (*Equipment, error) {
	var more []tool.Tool
	if err := e.do(func() error { more = e.otherTools(); return nil }); err != nil {
		return nil, err
	}
	with, err := e.cfg.Tasks.Equip(ctx, t, more)
	return &with, err
}

// link records a task. From here on it is known, whatever happens.
func (e *Engine) link(order session.Task) (*task, error) {
	if err := e.append(order.Entry()); err != nil {
		return nil, err
	}
	snap := e.session.Snapshot()
	t := &task{TaskStatus: status(snap, session.Link{Task: order, Entry: snap.Leaf()})}
	e.tasks = append(e.tasks, t)
	return t, nil
}

// status is that of a task of which no more is known than its link.
func status(snap session.Snapshot, l session.Link) TaskStatus {
	return TaskStatus{Task: l.Task, Link: l.Entry, Path: snap.TaskPath(l.Task), View: tool.TaskView{
		Task: l.ID, Session: l.Session, Description: l.Description, Agent: l.Agent, State: tool.TaskInterrupted,
	}}
}

// attend works on a task until it has ended, in a goroutine of the turn's.
// Without equipment it makes some.
func (e *Engine) attend(ctx context.Context, t *task, with *Equipment) (out outcome) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_ = e.do(func() error {
		t.cancel, t.stopped, t.View.State = cancel, false, tool.TaskWaiting
		e.changed(t)
		return nil
	})
	defer func() {
		if p := recover(); p != nil {
			out = outcome{err: fmt.Errorf("a fault in this program ended the task: %v", p)}
		}
		if err := with.close(); err != nil && out.err == nil {
			_ = e.do(func() error { e.notice(Warning, "Task %s: %v", t.Description, err); return nil })
		}
		_ = e.do(func() error { e.taskEnds(ctx, t, &out); return nil })
	}()
	if err := e.untilSaved(ctx); err != nil {
		return outcome{err: err}
	}
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return outcome{err: ctx.Err()}
	}
	if with == nil {
		var err error
		if with, err = e.equip(ctx, t.Task); err != nil {
			return outcome{err: err}
		}
	}
	return e.follow(ctx, t, with)
}

// follow runs a task's engine and hears it to its end.
func (e *Engine) follow(ctx context.Context, t *task, with *Equipment) outcome {
	f := follower{task: t, outcome: outcome{err: context.Canceled}} // until it says otherwise
	var want *result.Want
	if t.Result != nil {
		var err error
		if want, err = result.Parse(t.Result); err != nil {
			return outcome{err: err}
		}
		f.result = want.Outcome()
	}
	var child *Engine
	if err := e.do(func() error { child = e.child(t, with, want); return nil }); err != nil {
		return outcome{err: err}
	}
	f.child = child
	e.atWork(1)
	defer e.atWork(-1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		child.Run(context.WithoutCancel(ctx)) // it is told to close, so that nothing of it is lost
	}()
	stop := ctx.Done()
	for {
		select {
		case ev, ok := <-child.Events():
			if !ok {
				<-ended
				return f.end()
			}
			f.take(ev)
			_ = e.do(func() error { e.heardOf(t, child, ev); return nil })
		case <-stop:
			stop = nil
			child.Send(Close{})
		}
	}
}

// child is the engine of a task. It lives on what this one has, and asks it for
// what there is one of.
func (e *Engine) child(t *task, with *Equipment, want *result.Want) *Engine {
	snap := e.session.Snapshot()
	chain := []string{fingerprint(t.Prompt)}
	if up := snap.Header().Task; up != nil {
		chain = append(slices.Clone(up.Chain), chain...)
	}
	order, options := t.Task, e.cfg.Session
	cfg := Config{
		Open: func() (*session.Manager, error) { return snap.OpenTask(order, chain, options) },
		Cwd:  order.Cwd, Session: options, Models: e.cfg.Models,
		Model: e.model, ModelChosen: true, Thinking: e.thinking, ThinkingChosen: true,
		Tools: with.Tools, System: with.System, Instructions: with.Instructions, Below: with.Below,
		Policy:      permission.New(permission.Workspace{}), // that of the first engine counts
		StreamRules: e.cfg.StreamRules,
		Compaction:  e.cfg.Compaction, MaxRounds: e.cfg.MaxRounds, RetryAfter: e.cfg.RetryAfter, Now: e.cfg.Now,
		Tasks: e.cfg.Tasks, above: &above{e, t},
	}
	if with.Model != (session.ModelRef{}) {
		cfg.Model = with.Model
	}
	if with.Thinking != "" {
		cfg.Thinking = with.Thinking
	}
	if with.Alone {
		cfg.Tasks = nil
	}
	if want != nil {
		cfg.Tools, cfg.Ending = slices.Concat(with.Tools, want.Tools()), want.Ending
	}
	switch h := e.cfg.Hooks.(type) {
	case nil:
	case taskHooks: // they are the same at every depth
		cfg.Hooks = h
	default:
		cfg.Hooks = taskHooks{h}
	}
	return New(cfg)
}

// follower knows what a task's engine has told so far.
type follower struct {
	task   *task
	child  *Engine
	result *result.Outcome // of what it said; nil unless data are wanted
	outcome
}

// outcome is how a task ended.
type outcome struct {
	said string // the last that it said, or the data
	err  error  // nil if that is its answer; context.Canceled when it was ended
	view tool.TaskView
}

// take hears an event of the task's engine, and sees to it that it works and then ends.
func (f *follower) take(ev Event) {
	switch ev := ev.(type) {
	case Opened:
		f.opened(ev.Session)
	case Appended:
		f.add(ev.Entry.Data)
	case Queue:
		if len(ev.TakenBack) > 0 {
			f.err = errors.New("its session takes no prompts")
			f.child.Send(closeIdle{})
		}
	case Finished:
		if ev.What == "turn" {
			f.err = ev.Err
			f.child.Send(closeIdle{})
		}
	case Closed:
		if ev.Err != nil {
			f.err = ev.Err
		}
	}
}

// opened begins the work, or goes on with it, or finds that it was done before.
func (f *follower) opened(snap session.Snapshot) {
	path, err := snap.Branch(snap.Leaf())
	if err != nil {
		f.err = err
		f.child.Send(Close{})
		return
	}
	begun := false
	for _, entry := range path {
		begun = f.add(entry.Data) || begun
	}
	switch {
	case f.concluded(path):
		f.err = nil
		f.child.Send(Close{})
	case begun:
		f.child.Send(goOn{})
	default:
		f.child.Send(Submit{Text: f.task.Prompt, From: "task"})
	}
}

// add takes what was said into account; false for what is no message.
func (f *follower) add(d session.Data) bool {
	m, ok := d.(session.Message)
	if !ok {
		return false
	}
	if f.result != nil {
		f.result.Add(m.Message)
	}
	if text := m.Text(); m.Role == llm.Assistant && text != "" {
		f.said = text
	}
	return true
}

// concluded says whether a path ends with an answer.
func (f *follower) concluded(path []session.Entry) bool {
	if f.result != nil {
		return f.result.Value != nil || f.result.Reason != ""
	}
	for _, entry := range slices.Backward(path) {
		switch d := entry.Data.(type) {
		case session.Message:
			return d.Role == llm.Assistant && len(d.Calls()) == 0 && (d.StopReason == llm.StopEnd || d.StopReason == llm.StopLength)
		case session.CustomMessage:
			return false
		}
	}
	return false
}

// end is the outcome when the engine has ended.
func (f *follower) end() outcome {
	if f.result != nil {
		if f.err = f.result.Err(f.err); f.err == nil {
			f.said = string(f.result.Value)
		}
	}
	return f.outcome
}

// result is what the model is told that gave the task.
func (o outcome) result() tool.Result {
	r := tool.Result{View: o.view}
	text := o.said
	switch o.view.State {
	case tool.TaskDone:
		if text == "" {
			text = "(It ended without saying anything.)"
		}
		return tool.TextResult(text, o.view)
	case tool.TaskStopped:
		r.Err = errors.New("the user stopped this task; do not give it again unless they ask for it")
	case tool.TaskInterrupted:
		r.Err = errors.New("the user interrupted, and this task with it")
	default:
		r.Err = fmt.Errorf("the task failed: %w", o.err)
	}
	if text != "" {
		r.Content = []llm.Block{llm.Text{Text: "It had said last: " + text}}
	}
	return r
}
