package summary

import (
	"encoding/json"
	"fmt"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// The file of a skill that was used is among those that a summary names.
func TestSkillsAreAmongTheFiles(t *testing.T) {
	result := func(tool, details string, failed bool) session.Message {
		return session.Message{Message: llm.Message{Role: llm.ToolResult, ToolName: tool, Details: json.RawMessage(details), IsError: failed}}
	}
	files := newFileSet()
	for _, d := range []session.Data{
		result("skill", `{"view":"plain","path":"/s/oak/SKILL.md"}`, false),
		result("skill", `{"view":"plain","path":"/s/none/SKILL.md"}`, true),
		result("skill", `damaged`, false),
		result("grep", `{"path":"/no/skill"}`, false),
		session.CustomMessage{Type: session.SkillType, Details: json.RawMessage(`{"name":"elm","path":"/s/elm.md"}`)},
		session.CustomMessage{Type: session.SkillType},
		session.CustomMessage{Type: "other", Details: json.RawMessage(`{"path":"/no/skill"}`)},
	} {
		files.add(d)
	}
	if got := fmt.Sprint(files.lists().Read); got != "[/s/elm.md /s/oak/SKILL.md]" {
		t.Errorf("the files are %s", got)
	}
}
