package headless

import (
	"encoding/json"
	"slices"
	"time"

	"banyan/internal/agent"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/result"
	"banyan/internal/session"
)

// record is what is known of a run: the fold of its events.
type record struct {
	session session.Snapshot
	opened  bool
	state   engine.State

	answer  llm.Message   // the last one that says something
	entry   session.Entry // of that answer
	turns   int           // answers that were not interrupted
	usage   llm.Usage     // of answers and summaries, of this run alone
	models  map[string]llm.Usage
	denials []refusal
	last    session.Entry   // the one that was appended last
	result  *result.Outcome // of a run that must have one, else nil
	// compacting: what comes is a summary.
	compacting bool

	began   time.Time
	sent    time.Time     // since when a model is being waited for
	waited  time.Duration // for answers, in all
	first   time.Duration // until the first piece of the first answer
	isFirst bool          // first is set
}

// refusal is a call that was not run. Calls of different answers may have the
// same id.
type refusal struct {
	answer session.ID
	call   llm.ToolCall
}

func newRecord(want *result.Want) *record {
	r := &record{began: time.Now(), models: map[string]llm.Usage{}}
	if want != nil {
		r.result = want.Outcome()
	}
	return r
}

func (r *record) fold(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Opened:
		r.session, r.opened = ev.Session, true
	case engine.Moved:
		r.session = ev.Session
	case engine.State:
		r.state = ev
	case engine.Started:
		r.sent = time.Now()
	case engine.CompactionStarted:
		r.compacting = true
	case engine.CompactionEnded:
		r.compacting = false
	case engine.Progress:
		if !r.isFirst && !r.compacting {
			r.first, r.isFirst = time.Since(r.sent), true
		}
	case engine.Appended:
		r.session, r.last = ev.Session, ev.Entry
		r.appended(ev.Entry)
	case engine.TaskEvent:
		if a, ok := innermost(ev).Event.(engine.Appended); ok {
			r.spent(a.Entry.Data)
		}
	case engine.Asked:
		r.deny(ev.Call)
	}
}

// innermost is what happened in a task, at whatever depth.
func innermost(ev engine.TaskEvent) engine.TaskEvent {
	for {
		in, ok := ev.Event.(engine.TaskEvent)
		if !ok {
			return ev
		}
		ev = in
	}
}

// spent counts what an entry of a task took.
func (r *record) spent(d session.Data) {
	switch d := d.(type) {
	case session.Message:
		if d.Role == llm.Assistant {
			r.count(d.Model, d.Usage)
		}
	case session.Compaction:
		if d.Usage != nil {
			r.count(r.state.Model.Model, *d.Usage)
		}
	}
}

// deny records that a call of the last answer was refused, once: where it was
// asked about and refused, its result says so again.
func (r *record) deny(call llm.ToolCall) {
	same := func(d refusal) bool { return d.answer == r.entry.ID && d.call.ID == call.ID }
	if !slices.ContainsFunc(r.denials, same) {
		r.denials = append(r.denials, refusal{r.entry.ID, call})
	}
}

func (r *record) appended(e session.Entry) {
	switch d := e.Data.(type) {
	case session.Message:
		if r.result != nil {
			r.result.Add(d.Message)
		}
		switch d.Role {
		case llm.Assistant:
			r.answered(e, d.Message)
		case llm.ToolResult:
			r.returned(d.Message)
		}
	case session.Compaction:
		if d.Usage != nil {
			r.count(r.state.Model.Model, *d.Usage)
		}
	}
	r.sent = time.Now()
}

func (r *record) answered(e session.Entry, m llm.Message) {
	if len(m.Content) > 0 {
		r.answer, r.entry = m, e
	}
	if m.StopReason != llm.StopAborted {
		r.turns++
	}
	r.waited += time.Since(r.sent)
	r.count(m.Model, m.Usage)
}

// returned notes a call that a rule refused: its result says so.
func (r *record) returned(m llm.Message) {
	var details struct {
		Approval agent.Approval `json:"approval"`
	}
	if json.Unmarshal(m.Details, &details) != nil || details.Approval.Action != "deny" {
		return
	}
	for _, call := range r.answer.Calls() {
		if call.ID == m.CallID {
			r.deny(call)
		}
	}
}

func (r *record) count(model string, u llm.Usage) {
	r.usage = r.usage.Add(u)
	r.models[model] = r.models[model].Add(u)
}

// wantsMore says whether the last thing on the path is not what ends the turn:
// an answer without calls, or a result.
func (r *record) wantsMore() bool {
	if r.result != nil && r.result.Ending() {
		return false
	}
	m, ok := r.last.Data.(session.Message)
	return !ok || m.Role != llm.Assistant || len(m.Calls()) > 0
}
