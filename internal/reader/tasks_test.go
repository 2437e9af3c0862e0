package reader

import (
	"testing"

	"banyan/internal/llm/llmtest"
)

// Tasks are read out when they begin and end, and a question says which one asks.
func TestTasks(t *testing.T) {
	r := enter(t, "",
		llmtest.Call("c1", "task", `{"description":"look around","prompt":"p"}`),
		llmtest.Call("r1", "run", `{"x":1}`), llmtest.Text("seen"), llmtest.Text("all"))
	r.hears("You: ").types("go").hears("Task 1 look around: running\n", "may this run? run", "Task: look around\n")
	r.types("y").hears("Task 1 look around: done, ", "1 call, 220 tokens\n", "Assistant: all\n")
	r.types("/tasks").hears("Task 1 look around: done").types("/tasks stop 2").hears("Error: /tasks stop needs the number")
	r.types("/tasks tell 1 hello").hears("This task is not running", "Not sent: hello").types("/tasks resume").hears("no such task").types("/quit")
	r.leaves()
}
