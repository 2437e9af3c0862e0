package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSaveSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	for _, c := range []struct {
		name, value string
		want        string // in the file; of the error if it begins with !
	}{
		{"theme", "light", `"theme": "light"`},
		{"mouse", "false", `"mouse": false`},
		{"maxTurns", "12", `"maxTurns": 12`},
		{"permissions.deny", `["Bash(rm *)"]`, `"deny": ["Bash(rm *)"]`},
		{"model", `"anthropic/claude"`, `"model": "anthropic/claude"`},
		{"mouse", "perhaps", "!set mouse"},
		{"theme", "", `"mouse": false`},
	} {
		err := saveSetting(file, c.name, c.value)
		if says, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s = %q: %v, want %q", c.name, c.value, err, says)
			}
			continue
		}
		text, _ := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s = %q: %v\n%s", c.name, c.value, err, text)
		}
	}
	if text, _ := os.ReadFile(file); strings.Contains(string(text), "theme") {
		t.Errorf("an empty value takes the setting out:\n%s", text)
	}
}
