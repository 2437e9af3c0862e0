package tool

import (
	"context"
	"fmt"
	"strings"
)

const todoPrompt = `Keeps a list of steps for the user to see, for work of three steps and more. Each call gives the whole list anew. Have one step in progress at a time, and mark it done as soon as it is.`

const todoSchema = `{"type":"object","additionalProperties":false,"required":["items"],"properties":{
"items":{"type":"array","maxItems":100,"items":{"type":"object","additionalProperties":false,"required":["text","status"],"properties":{
"text":{"type":"string","minLength":1},
"status":{"type":"string","enum":["pending","in_progress","done"]}}}}}}`

type todoArgs struct {
	Items []struct {
		Text   string `json:"text"`
		Status string `json:"status"`
	} `json:"items"`
}

var todoMarks = map[string]string{"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}

// todo stores nothing: the list is in the call, and so on the branch of the
// conversation that it belongs to.
func (e *Env) todo() Tool {
	return spec[todoArgs]{
		name: "todo", access: Read, prompt: todoPrompt, schema: todoSchema,
		run: func(_ context.Context, a todoArgs, _ func(View)) Result {
			var list strings.Builder
			done := 0
			for _, item := range a.Items {
				fmt.Fprintf(&list, "%s %s\n", todoMarks[item.Status], item.Text)
				if item.Status == "done" {
					done++
				}
			}
			return TextResult(fmt.Sprintf("%d of %s done.", done, plural(len(a.Items), "step")), Plain{Text: list.String()})
		},
	}.tool()
}
