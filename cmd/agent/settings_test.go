package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/config"
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

// What is said to count at once is what the screen is told of; the rest is not.
func TestLiveSettingsAreTheScreens(t *testing.T) {
	t.Setenv("BANYAN_CONFIG_DIR", t.TempDir())
	paths, err := config.FindPaths()
	if err != nil {
		t.Fatal(err)
	}
	_, values, _ := config.Load(paths, "", false, nil)
	before, _, _ := config.Load(paths, "", false, nil)
	live := 0
	for _, v := range values {
		other := `"something"`
		switch {
		case v.JSON == "true":
			other = "false"
		case v.JSON == "false":
			other = "true"
		case len(v.Choices) > 0:
			other = v.Choices[len(v.Choices)-1]
			if strconv.Quote(other) == v.JSON {
				other = v.Choices[0]
			}
		case strings.Trim(v.JSON, "0123456789.") == "":
			other = "7"
		}
		if err := saveSetting(paths.UserFile(), v.Path, other); err != nil {
			if v.Live {
				t.Errorf("%s: %v", v.Path, err)
			}
			continue // of a kind that the screen has none of
		}
		after, _, _ := config.Load(paths, "", false, nil)
		if changed := !reflect.DeepEqual(preferences(before), preferences(after)); changed != v.Live {
			t.Errorf("%s = %s changes the screen: %v, but it is said to count at once: %v", v.Path, other, changed, v.Live)
		}
		if v.Live {
			live++
		}
		if err := saveSetting(paths.UserFile(), v.Path, ""); err != nil {
			t.Fatal(err)
		}
	}
	if live < 9 {
		t.Errorf("only %d settings count at once", live)
	}
}
