package tuitest

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

var codes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"space": tea.KeySpace, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4,
}

var mods = map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}

// Key is the message of a key by its name, as tea.Key.String gives it.
func Key(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	var msg tea.KeyPressMsg
	rest := name
	for {
		mod, after, ok := strings.Cut(rest, "+")
		if m, known := mods[mod]; ok && known && after != "" {
			msg.Mod |= m
			rest = after
			continue
		}
		break
	}
	if code, ok := codes[rest]; ok {
		msg.Code = code
	} else if utf8.RuneCountInString(rest) == 1 {
		msg.Code, _ = utf8.DecodeRuneInString(rest)
		if msg.Mod&^tea.ModShift == 0 {
			msg.Text = rest
		}
	} else {
		t.Fatalf("there is no key %q", name)
	}
	if msg.Code == tea.KeySpace && msg.Mod == 0 {
		msg.Text = " "
	}
	if got := msg.String(); got != name && msg.Text == "" {
		t.Fatalf("key %q calls itself %q", name, got)
	}
	return msg
}
