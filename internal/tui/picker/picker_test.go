package picker_test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/tui/picker"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

var keys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl},
}

// press sends keys and typed texts, and says whether the list closed.
func press(m *picker.Model, names ...string) (done bool) {
	for _, name := range names {
		if msg, ok := keys[name]; ok {
			done, _ = m.Update(msg)
			continue
		}
		for _, r := range name {
			done, _ = m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return done
}

func TestChoosing(t *testing.T) {
	items := []picker.Item{{Title: "claude"}, {Title: "gpt"}, {Title: "gemini", Detail: "google"}, {Title: "offline"}}
	for _, tt := range []struct {
		name string
		keys []string
		want int // -1: nothing
		done bool
	}{
		{"the first", []string{"enter"}, 0, true},
		{"down", []string{"down", "down", "enter"}, 2, true},
		{"up goes around", []string{"up", "enter"}, 3, true},
		{"end", []string{"end", "enter"}, 3, true},
		{"a filter", []string{"gem", "enter"}, 2, true},
		{"a filter finds details", []string{"goog", "enter"}, 2, true},
		{"an erased filter", []string{"gem", "ctrl+u", "enter"}, 0, true},
		{"a mended filter", []string{"gpx", "backspace", "enter"}, 1, true},
		{"nothing matches", []string{"zzz", "enter"}, -1, false},
		{"esc clears first", []string{"gem", "esc", "enter"}, 0, true},
		{"esc closes", []string{"esc"}, -1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := -1
			m := picker.New(picker.Options{Items: items, Chosen: func(i int) tea.Cmd { got = i; return nil }}, theme.Theme{})
			if done := press(m, tt.keys...); got != tt.want || done != tt.done {
				t.Errorf("chose %d, done %v; want %d, %v", got, done, tt.want, tt.done)
			}
		})
	}
}

func TestActionsGetTheIndex(t *testing.T) {
	got := -1
	m := picker.New(picker.Options{
		Items:   []picker.Item{{Title: "one"}, {Title: "two"}},
		Actions: []picker.Action{{Key: "ctrl+r", Help: "renames", Run: func(i int) (bool, tea.Cmd) { got = i; return false, nil }}},
	}, theme.Theme{})
	press(m, "two", "ctrl+r")
	if got != 1 {
		t.Errorf("the action got %d", got)
	}
}

func TestItemsMayComeLater(t *testing.T) {
	m := picker.New(picker.Options{Title: "Sessions", Empty: "looking"}, theme.Theme{})
	if !strings.Contains(m.View(40, 6), "looking") {
		t.Error("an empty list says why")
	}
	m.SetItems([]picker.Item{{Title: "a"}, {Title: "b"}}, 1)
	if !strings.Contains(ansi.Strip(m.View(40, 6)), "› b") {
		t.Errorf("the cursor is at the item asked for:\n%s", m.View(40, 6))
	}
}

// Nothing that is to be read is cut while there are rows for it: a question, the
// keys, and what stands beside a long title.
func TestLongTextsHaveRoom(t *testing.T) {
	m := picker.New(picker.Options{
		Title: "Do you trust who wrote this folder? What it says will be told to the model.",
		Items: []picker.Item{{Title: strings.Repeat("long ", 20), Detail: "2m ago"}},
		Hints: [][2]string{{"ctrl+s", "sorts them all"}, {"ctrl+r", "renames"}, {"ctrl+d", "deletes"}},
	}, theme.Theme{})
	view := ansi.Strip(m.View(60, m.Height(60, 20)))
	for _, want := range []string{"told to the model.", "2m ago", "Esc closes"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if x, y, _ := m.Cursor(); x != 2 || !strings.HasPrefix(strings.Split(view, "\n")[y], "  type to filter") {
		t.Errorf("the caret is at %d, %d, not at the filter:\n%s", x, y, view)
	}
}

// Whatever is typed, exactly h rows come out, none too wide, and the item under
// the cursor is among them.
func TestViewFits(t *testing.T) {
	var items []picker.Item
	for i := range 50 {
		items = append(items, picker.Item{Title: fmt.Sprintf("item %d 世界 \x1b[31m", i), Detail: "detail", Mark: "•"})
	}
	rapid.Check(t, func(t *rapid.T) {
		m := picker.New(picker.Options{Title: "A title that is rather long, as a question may be: more than a row of it", Items: items}, theme.Must("dark", theme.TrueColor))
		press(m, rapid.SliceOfN(rapid.SampledFrom([]string{"up", "down", "pgdown", "home", "end", "1", "世", "backspace"}), 0, 20).Draw(t, "keys")...)
		w, h := rapid.IntRange(10, 80).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		if rapid.Bool().Draw(t, "sized") {
			m.Height(w, h)
		}
		view := m.View(w, h)
		lines := strings.Split(view, "\n")
		if len(lines) != h {
			t.Fatalf("%d rows, want %d", len(lines), h)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > w {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		if strings.Contains(view, "\x1b[31m") {
			t.Fatal("an escape sequence of an item got through")
		}
		if plain := ansi.Strip(view); h >= 4 && !strings.Contains(plain, "nothing") && strings.Count(plain, "› ") != 1 {
			t.Fatalf("no item under the cursor:\n%s", plain)
		}
	})
}

func BenchmarkKey10k(b *testing.B) {
	items := make([]picker.Item, 10_000)
	for i := range items {
		items[i] = picker.Item{Title: fmt.Sprintf("session %d about something", i)}
	}
	m := picker.New(picker.Options{Items: items}, theme.Theme{})
	for b.Loop() {
		press(m, "some", "ctrl+u")
		_ = m.View(100, 30)
	}
}
