package keymap_test

import (
	"testing"

	"banyan/internal/tui/keymap"

	tea "charm.land/bubbletea/v2"
)

type thing struct {
	empty bool
	did   string
}

func table(overrides map[string][]string) keymap.Table[*thing] {
	do := func(name string) func(*thing) tea.Cmd {
		return func(th *thing) tea.Cmd { th.did = name; return nil }
	}
	return keymap.New([]keymap.Binding[*thing]{
		{ID: "quit", Keys: []string{"ctrl+d"}, When: func(th *thing) bool { return th.empty }, Run: do("quit")},
		{ID: "delete", Keys: []string{"ctrl+d", "delete"}, Run: do("delete")},
		{ID: "mouse", Keys: []string{"ctrl+x m"}, Run: do("mouse")},
	}, overrides)
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name      string
		overrides map[string][]string
		empty     bool
		key       string
		want      string
	}{
		{"first that holds", nil, true, "ctrl+d", "quit"},
		{"next that holds", nil, false, "ctrl+d", "delete"},
		{"second key", nil, true, "delete", "delete"},
		{"sequence", nil, true, "ctrl+x m", "mouse"},
		{"none", nil, true, "ctrl+x", ""},
		{"moved", map[string][]string{"quit": {"f10"}}, true, "f10", "quit"},
		{"moved away", map[string][]string{"quit": {"f10"}}, true, "ctrl+d", "delete"},
		{"taken away", map[string][]string{"mouse": {}}, true, "ctrl+x m", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			th := &thing{empty: tt.empty}
			if b, ok := table(tt.overrides).Find(th, tt.key); ok {
				b.Run(th)
			}
			if th.did != tt.want {
				t.Errorf("%s did %q, want %q", tt.key, th.did, tt.want)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	tab := table(nil)
	if !tab.IsPrefix("ctrl+x") || tab.IsPrefix("ctrl+x m") || tab.IsPrefix("ctrl+d") {
		t.Error("only ctrl+x begins a sequence")
	}
}

func TestTitle(t *testing.T) {
	for key, want := range map[string]string{
		"ctrl+x m": "Ctrl+X M", "pgup": "PgUp", "?": "?", "g": "g", "G": "G", "alt+,": "Alt+,", "shift+tab": "Shift+Tab", "ctrl++": "Ctrl++",
	} {
		if got := keymap.Title(key); got != want {
			t.Errorf("Title(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestKey(t *testing.T) {
	tab := table(map[string][]string{"quit": {"f10", "f12"}, "mouse": {}})
	for id, want := range map[string]string{"quit": "f10", "delete": "ctrl+d", "mouse": "", "fly": ""} {
		if got := tab.Key(id); got != want {
			t.Errorf("Key(%s) = %q, want %q", id, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	rows := table(nil).Rows()
	if errs := keymap.Check(map[string][]string{"quit": nil, "fly": nil}, rows); len(errs) != 1 {
		t.Errorf("Check = %v, want one error about fly", errs)
	}
}
