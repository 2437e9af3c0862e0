package tool

import (
	"context"
	"encoding/json"

	"banyan/internal/llm"
)

const skillPrompt = `Gives the text of a skill: instructions for a kind of work, from the list of skills in the system prompt. Paths in the text are relative to the skill's folder, which the text names; read the files there with read.`

const skillSchema = `{"type":"object","additionalProperties":false,"required":["name"],"properties":{
"name":{"type":"string","minLength":1,"description":"as it is listed"},
"args":{"type":"string","description":"what the skill is to be used on, if its text asks for arguments"}}}`

type skillArgs struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// Skill is the tool that gives the text of a skill and the path of its file. It
// stands on no Env. The error of read names the skills that there are.
func Skill(read func(name string) (text, path string, err error)) Tool {
	return Tool{
		ToolSpec: llm.ToolSpec{Name: "skill", Description: skillPrompt, Schema: json.RawMessage(skillSchema)},
		Access:   Read,
		Subject:  func(args json.RawMessage) string { return Describe("skill", args) },
		Run: func(_ context.Context, in Input) Result {
			a, err := decodeArgs[skillArgs](in.Args)
			if err != nil {
				return Fail(err)
			}
			text, path, err := read(a.Name)
			if err != nil {
				return Fail(err)
			}
			view := Plain{Text: text, Path: path}
			if in.Given != nil && in.Given(text) {
				text = "The text of the skill " + a.Name + " stands in the conversation already, and has not changed."
				view.Text = text
			}
			if a.Args != "" {
				text += "\n\nARGUMENTS: " + a.Args
			}
			return TextResult(text, view)
		},
	}
}
