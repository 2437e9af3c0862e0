package engine

import (
	"context"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// Tasks say how work is given to others: engines of their own, each with a
// session that belongs to this one's. Nil in [Config]: models have no such tool.
type Tasks struct {
	// MaxDepth is how deep tasks may give tasks; 0 means [DefaultTaskDepth].
	MaxDepth int
	// MaxParallel is how many tasks of one session run at once, the others wait; 0
	// means [DefaultParallelTasks].
	MaxParallel int
	// Equip makes what a task works with. It is called beside the owner, from
	// several goroutines at once. more are the tools of other sources that the one
	// has who gives the task. The error is told to the model.
	Equip func(ctx context.Context, t session.Task, more []tool.Tool) (Equipment, error)
}

// What [Tasks] mean where they say nothing.
const (
	DefaultTaskDepth     = 8
	DefaultParallelTasks = 4
)

// Equipment is what a task works with.
type Equipment struct {
	Model    session.ModelRef  // zero: that of the session that gives the task
	Thinking llm.ThinkingLevel // empty: likewise
	Tools    []tool.Tool
	// System, Instructions and Below are as in [Config].
	System       string
	Instructions int
	Below        func(path string) string
	// Alone: it gives no tasks itself.
	Alone bool
	// Close gives back what the tools hold. It is called once; nil for nothing.
	Close func() error
}

// TaskAnswerType is the customType of the message that gives a task's answer
// where its call has another result already. Its details are a [tool.TaskView].
const TaskAnswerType = "banyan.task-answer"

// TaskStatus is a task of the session and how it is.
type TaskStatus struct {
	session.Task
	Link  session.ID // the entry by which it was given
	Path  string     // file of its session, which may not exist yet; empty in memory
	View  tool.TaskView
	Began time.Time // zero unless it runs
}

// TaskSum is what the tasks of the active path took together, with those below
// them.
type TaskSum struct {
	Tasks       int
	Running     int // or wait to
	Tokens      int
	USD         float64
	CostUnknown bool // some of it has no known price
}

// StopTask ends one task, and what is below it. The model is told.
type StopTask struct{ Task string }

// ToTask hands a command to a task that runs: a [Submit] steers it, a [ToTask]
// goes to a task of its own.
type ToTask struct {
	Task    string
	Command Command
}

// ResumeTasks goes on with tasks of the active path that have no answer, in a
// turn that then goes on with their answers. None named: all that were
// interrupted.
type ResumeTasks struct{ Tasks []string }

// goOn goes on with a session that was interrupted, as [ResumeTasks] does; also
// where there are no such tasks.
type goOn struct{}

// closeIdle ends the engine if nothing runs.
type closeIdle struct{}

// TaskList are the tasks of the session, in the order in which they were given,
// on all branches. It comes some time after [Opened] if there are any.
type TaskList struct{ Tasks []TaskStatus }

// TaskChanged says how a task is now.
type TaskChanged struct{ Status TaskStatus }

// TaskEvent is what happens in a task, or, as a TaskEvent again, in one below it.
// Questions are not among it: they are asked here, see [Asked].
type TaskEvent struct {
	Task  string // its id
	Call  string // id of the call that gave it
	Event Event
}

func (StopTask) isCommand()    {}
func (ToTask) isCommand()      {}
func (ResumeTasks) isCommand() {}
func (goOn) isCommand()        {}
func (closeIdle) isCommand()   {}

func (TaskList) isEvent()    {}
func (TaskChanged) isEvent() {}
func (TaskEvent) isEvent()   {}
