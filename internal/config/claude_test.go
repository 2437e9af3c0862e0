package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func hookTexts(raws []Raw) string {
	var out []string
	for _, r := range raws {
		out = append(out, r.Source.Scope.String()+" "+strings.Join(strings.Fields(string(r.JSON)), ""))
	}
	return strings.Join(out, "\n")
}

func TestHooksOfAllFilesCount(t *testing.T) {
	h := newHome(t)
	h.user(`{
		"hooks": {"Stop": []}} // as Claude Code has them`)
	h.shared(`{"hooks": {"PreToolUse": [1,]}}`)
	h.localFile(`{"hooks": 7}`)
	s, _, problems := h.load()
	if got, want := hookTexts(s.Hooks), "user {\"Stop\":[]}\nproject {\"PreToolUse\":[1]}"; got != want {
		t.Errorf("hooks\n%s\nwant\n%s", got, want)
	}
	if s.Hooks[0].Source.Line != 2 || len(problems) != 1 || problems[0].Path != "hooks" || !problems[0].Loosens {
		t.Errorf("%+v, %v", s.Hooks, problems)
	}
}

func TestClaudeHooks(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".claude", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(project, want string, problems int) {
		t.Helper()
		hooks, found := ClaudeHooks(home, project)
		if got := hookTexts(hooks); got != want || len(found) != problems {
			t.Errorf("hooks\n%s\nwant\n%s\nproblems %v", got, want, found)
		}
	}
	check(project, "", 0)
	write(home, "settings.json", `{"model": "x", "hooks": {"a": []}}`)
	write(project, "settings.json", `{"hooks": {"b": []}, "env": {"K": "v"}}`)
	write(project, "settings.local.json", `{"hooks": {"c": []}}`)
	check(project, "user {\"a\":[]}\nproject {\"b\":[]}\nlocal {\"c\":[]}", 0)
	check("", "user {\"a\":[]}", 0) // not trusted: not opened
	write(project, "settings.local.json", `{"disableAllHooks": true}`)
	check(project, "user {\"a\":[]}", 0) // a project turns off its own only
	write(project, "settings.local.json", `{"hooks": [`)
	check(project, "user {\"a\":[]}\nproject {\"b\":[]}", 1)
	write(project, "settings.local.json", `{"hooks": []}`)
	check(project, "user {\"a\":[]}\nproject {\"b\":[]}", 1)
	write(project, "settings.local.json", "")
	write(home, "settings.json", `{"hooks": {"a": []}, "disableAllHooks": true}`)
	check(project, "project {\"b\":[]}", 0)

	// A link out of the project is not followed, and nothing is waited for.
	outside := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(outside, []byte(`{"hooks": {"evil": []}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(project, ".claude", "settings.json")
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, at); err != nil {
		t.Fatal(err)
	}
	check(project, "", 1)
}
