package tui

import (
	"strings"

	"banyan/internal/tui/editor"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// promptOptions describe a question that is answered in words.
type promptOptions struct {
	Title string
	Hint  string // shown while nothing is written
	Text  string // to begin with
	// Secret shows dots for what is written.
	Secret bool
	// Chosen gets the answer, which may be empty.
	Chosen func(text string) tea.Cmd
}

// prompt asks for a few words.
type prompt struct {
	m     *Model
	opts  promptOptions
	keys  keymap.Table[*prompt]
	field *editor.Model
	done  bool
}

func (m *Model) prompt(o promptOptions) {
	p := &prompt{m: m, opts: o, keys: keymap.New(promptKeys(), m.opts.Keys), field: editor.New(editor.Options{Placeholder: o.Hint, Keys: m.opts.Keys, Secret: o.Secret})}
	p.field.SetTheme(m.theme)
	p.field.SetValue(o.Text, nil)
	m.push(p)
}

// SetTheme says how it is painted.
func (p *prompt) SetTheme(th theme.Theme) { p.field.SetTheme(th) }

// promptKeys are the keys of questions that are answered in words; the others
// are the editor's.
func promptKeys() []keymap.Binding[*prompt] {
	return []keymap.Binding[*prompt]{
		{ID: "words.take", Keys: []string{"enter"}, Help: "that is the answer", Run: (*prompt).take},
		{ID: "words.close", Keys: []string{"esc", "ctrl+c"}, Help: "no answer; back to what was before", Run: func(p *prompt) tea.Cmd { p.done = true; return nil }},
	}
}

func (p *prompt) take() tea.Cmd {
	if more, cmd := p.field.Continue(); more {
		return cmd
	}
	text, _ := p.field.Value()
	p.done = true
	return p.opts.Chosen(strings.TrimSpace(text))
}

// Update implements [overlay].
func (p *prompt) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if b, ok := p.keys.Find(p, msg.String()); ok {
			cmd := b.Run(p)
			return p.done, cmd
		}
	case tea.PasteMsg:
		return false, p.field.Paste(msg.Content)
	}
	_, cmd := p.field.Update(msg)
	return false, cmd
}

// Height implements [overlay].
func (p *prompt) Height(w, limit int) int {
	p.field.SetSize(w, max(1, limit/2))
	return min(limit, p.field.Height()+3)
}

// Cursor implements [overlay].
func (p *prompt) Cursor() (x, y int, ok bool) {
	x, y = p.field.Cursor()
	return x, y + 1, true
}

// View implements [overlay].
func (p *prompt) View(w, h int) string {
	th := p.m.theme
	lines := []string{th.Title.Paint(rich.TruncateText("  "+inert.Line(p.opts.Title), w))}
	lines = append(lines, strings.Split(p.field.View(), "\n")...)
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	hints := p.m.hints(p.keys.Key("words.take"), "takes it", p.keys.Key("words.close"), "goes back")
	return strings.Join(append(lines, rich.Draw(rich.Truncate(hints, w)).Text)[:h], "\n")
}
