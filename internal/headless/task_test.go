package headless

import (
	"context"
	"encoding/json"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// What tasks say stands in the stream with the call that gave them, at every
// depth, and what they took counts for the run.
func TestTasksInTheStream(t *testing.T) {
	give := func(id, prompt string) llmtest.Turn {
		return llmtest.Call(id, "task", `{"description":"d","prompt":"`+prompt+`"}`)
	}
	w := newWorld(t, give("c1", "outer"), give("c2", "inner"), llmtest.Text("from within"), llmtest.Text("from it"), llmtest.Text("all"))
	w.config.Tasks = &engine.Tasks{Equip: func(context.Context, session.Task, []tool.Tool) (engine.Equipment, error) {
		return engine.Equipment{}, nil
	}}
	if err := w.run(context.Background(), Options{Prompt: "go", Format: StreamJSON}); err != nil {
		t.Fatal(err)
	}
	above := map[string]string{}
	var cost float64
	for dec := json.NewDecoder(&w.out); dec.More(); {
		var line struct {
			Type    string
			Above   *string `json:"parent_tool_use_id"`
			Task    string  `json:"task_id"`
			Cost    float64 `json:"total_cost_usd"`
			Message struct{ Content []struct{ Text string } }
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		cost += line.Cost
		if line.Type == "assistant" && len(line.Message.Content) > 0 && line.Message.Content[0].Text != "" {
			of := ""
			if line.Above != nil {
				of = *line.Above
			}
			if (of == "") != (line.Task == "") {
				t.Errorf("%q of the task %q", of, line.Task)
			}
			above[line.Message.Content[0].Text] = of
		}
	}
	if above["from within"] != "c2" || above["from it"] != "c1" || above["all"] != "" || len(above) != 3 {
		t.Errorf("%v", above)
	}
	if cost < 4.99 || cost > 5.01 {
		t.Errorf("the run cost %v, five answers at 1 USD each", cost)
	}
}
