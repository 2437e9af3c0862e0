package tool

import (
	"context"
	"encoding/json"

	"banyan/internal/llm"
)

const taskPrompt = `Gives a piece of work to an agent with a conversation of its own, and returns its last answer. Use it for work that would fill this conversation with what it does not need afterwards: a search through many files, a review, an independent part of a larger change. The agent sees nothing of this conversation, so the prompt must say everything: what to do, where, what is known already, and what to answer. Several calls made at once run side by side; do not let two of them change the same files. Say in the prompt whether files may be changed. What the agent answers is for you: tell the user what of it matters.`

const taskSchema = `{"type":"object","additionalProperties":false,"required":["description","prompt"],"properties":{
"description":{"type":"string","minLength":1,"maxLength":200,"description":"three to six words, for the user's screen"},
"prompt":{"type":"string","minLength":1,"description":"all that the agent is told"},
"agent":{"type":"string","description":"name of the agent that is to do it, of those that the system prompt lists; without one, an agent like you"},
"cwd":{"type":"string","description":"folder to work in: the working folder or one below it"},
"model":{"type":"string","description":"only if the user asked for a certain model"},
"thinking":{"type":"string","enum":["off","minimal","low","medium","high","xhigh"],"description":"only if the user asked for it"},
"result":{"type":"object","description":"JSON Schema of what is wanted, where that is data and not a text: the answer is then JSON that fits it"}}}`

// TaskArgs are what a model says of a task that it gives.
type TaskArgs struct {
	Description string            `json:"description"`
	Prompt      string            `json:"prompt"`
	Agent       string            `json:"agent"` // name of a profile; empty for none
	Cwd         string            `json:"cwd"`   // relative to the working folder, or absolute; empty for the working folder
	Model       string            `json:"model"`
	Thinking    llm.ThinkingLevel `json:"thinking"`
	Result      json.RawMessage   `json:"result"` // JSON Schema; nil for text
}

// Task is the tool that gives work to an agent of its own; run does it. What
// models are told of it is always the same, whoever there is to give work to.
func Task(run func(context.Context, TaskArgs, Input) Result) Tool {
	return Tool{
		ToolSpec: llm.ToolSpec{Name: "task", Description: taskPrompt, Schema: json.RawMessage(taskSchema)},
		Access:   Delegate,
		Subject:  func(args json.RawMessage) string { return Describe("task", args) },
		Run: func(ctx context.Context, in Input) Result {
			a, err := decodeArgs[TaskArgs](in.Args)
			if err != nil {
				return Fail(err)
			}
			return run(ctx, a, in)
		},
	}
}

// TaskView is a task: how far it is, or how it ended. Description and Last are a
// model's and untrusted.
type TaskView struct {
	Task        string    `json:"task"`    // its id
	Session     string    `json:"session"` // id of its session
	Description string    `json:"description"`
	Agent       string    `json:"agent,omitempty"`
	State       TaskState `json:"state"`
	Millis      int64     `json:"ms"`     // that it ran, over all tries
	Tokens      int       `json:"tokens"` // with those of tasks below it
	USD         float64   `json:"usd"`
	CostUnknown bool      `json:"costUnknown,omitempty"` // some of it has no known price
	Answers     int       `json:"answers"`               // of its model
	Calls       int       `json:"calls"`                 // of tools
	Last        string    `json:"last,omitempty"`        // the last line of what it said or did
}

// TaskState is how a task is.
type TaskState string

// The states. The last three are of tasks that have no answer.
const (
	TaskWaiting     TaskState = "waiting" // for others to end
	TaskRunning     TaskState = "running"
	TaskDone        TaskState = "done"
	TaskFailed      TaskState = "failed"
	TaskStopped     TaskState = "stopped"     // by the user, alone
	TaskInterrupted TaskState = "interrupted" // with what gave it; it can be resumed
)

func (TaskView) view() string { return "task" }
