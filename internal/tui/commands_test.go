package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// No command needs anything that comes after the first frame.
func TestCommandsBeforeTheSessionIsOpen(t *testing.T) {
	for _, c := range commands() {
		for _, args := range []string{"", " x"} {
			m := New(Options{Engine: newCanned()})
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			m.Update(tea.PasteMsg{Content: "/" + c.name + args})
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			if lines := strings.Count(m.View().Content, "\n"); lines != 23 {
				t.Errorf("/%s%s draws %d lines", c.name, args, lines+1)
			}
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, c := range commands() {
		for _, name := range append([]string{c.name}, c.aliases...) {
			if other, ok := seen[name]; ok {
				t.Errorf("/%s is both /%s and /%s", name, other, c.name)
			}
			seen[name] = c.name
		}
		if c.help == "" || c.run == nil {
			t.Errorf("/%s says or does nothing", c.name)
		}
	}
}

func TestArranged(t *testing.T) {
	for _, tt := range []struct {
		height, bottom, status int
		want                   layout
	}{
		{24, 1, 2, layout{transcript: 19, status: 2, rule: 1, bottom: 1}},
		{10, 1, 1, layout{transcript: 7, status: 1, bottom: 1}},
		{10, 8, 1, layout{transcript: 1, bottom: 8}},
		{10, 9, 1, layout{bottom: 9}},
		{24, 23, 2, layout{bottom: 23}},
		{24, 99, 2, layout{bottom: 23}},
	} {
		if got := arranged(tt.height, tt.bottom, tt.status); got != tt.want {
			t.Errorf("arranged(%d, %d, %d) = %+v, want %+v", tt.height, tt.bottom, tt.status, got, tt.want)
		}
	}
}
