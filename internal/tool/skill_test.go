package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

func TestSkill(t *testing.T) {
	skill := tool.Skill(func(name string) (string, string, error) {
		if name != "oak" {
			return "", "", errors.New("there is no such skill; there is oak")
		}
		return "Count the rings.", "/s/oak/SKILL.md", nil
	})
	const again = "The text of the skill oak stands in the conversation already, and has not changed."
	for _, c := range []struct{ given, args, want, fails string }{
		{"", `{"name":"oak"}`, "Count the rings.", ""},
		{"", `{"name":"oak","args":"a b"}`, "Count the rings.\n\nARGUMENTS: a b", ""},
		{"Count the rings.", `{"name":"oak"}`, again, ""},
		{"Count the rings.", `{"name":"oak","args":"a"}`, again + "\n\nARGUMENTS: a", ""},
		{"Count the leaves.", `{"name":"oak"}`, "Count the rings.", ""},
		{"", `{"name":"elm"}`, "", "there is no such skill; there is oak"},
	} {
		if err := tool.Validate(skill, json.RawMessage(c.args)); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		in := tool.Input{Args: json.RawMessage(c.args), Given: func(text string) bool { return text == c.given }}
		r := skill.Run(context.Background(), in)
		if c.fails != "" {
			if r.Err == nil || r.Err.Error() != c.fails {
				t.Errorf("%s: %v", c.args, r.Err)
			}
			continue
		}
		if got := (llm.Message{Content: r.Content}).Text(); r.Err != nil || got != c.want {
			t.Errorf("%s with %q given: %v, %q", c.args, c.given, r.Err, got)
		}
		if v, ok := r.View.(tool.Plain); !ok || v.Path != "/s/oak/SKILL.md" {
			t.Errorf("%s: the view is %#v", c.args, r.View)
		}
	}
	for _, bad := range []string{`{}`, `{"name":""}`, `{"name":1}`, `{"name":"oak","more":1}`} {
		if tool.Validate(skill, json.RawMessage(bad)) == nil {
			t.Errorf("%s fits the schema", bad)
		}
	}
	if got := skill.Subject(json.RawMessage(`{"args":"a","name":"oak"}`)); got != "oak" {
		t.Errorf("it is recognised by %q", got)
	}
}
