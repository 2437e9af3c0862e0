package tui

import (
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// dialog is a question of an extension's: its text, and below it the list or the
// field that answers. Like an approval it takes no key for an answer that was
// meant for the editor.
type dialog struct {
	overlay // that answers
	m       *Model
	asked   engine.Dialog
	quiet   time.Time // when the last key came that was not for us
	said    bool      // it is answered
	rows    int       // of the text, as it was last laid out
}

// textRows is the most rows that the text of a question takes.
const textRows = 8

// dialog opens a question, below an approval that is open already.
func (m *Model) dialog(ev engine.Dialog) tea.Cmd {
	d := &dialog{m: m, asked: ev, quiet: m.opts.Now()}
	title := ev.From + ": " + ev.Title
	at := len(m.overlays)
	switch ev.Kind {
	case engine.DialogSelect:
		ways := make([]way, len(ev.Options))
		for i, option := range ev.Options {
			ways[i] = way{text: option, run: func() tea.Cmd { return d.answer(engine.DialogAnswer{OK: true, Choice: i}) }}
		}
		m.choose(title, ways...)
	case engine.DialogConfirm:
		m.choose(title,
			way{text: "No", run: func() tea.Cmd { return d.answer(engine.DialogAnswer{}) }},
			way{text: "Yes", run: func() tea.Cmd { return d.answer(engine.DialogAnswer{OK: true}) }})
	default:
		m.prompt(promptOptions{Title: title, Text: ev.Text, Chosen: func(text string) tea.Cmd {
			return d.answer(engine.DialogAnswer{OK: true, Text: text})
		}})
	}
	d.overlay = m.overlays[at]
	m.overlays = m.overlays[:at]
	if first := slices.IndexFunc(m.overlays, isApproval); first >= 0 {
		at = first
	}
	m.overlays = slices.Insert(m.overlays, at, overlay(d))
	return m.notify("asks something")
}

// answer says what the user has said.
func (d *dialog) answer(a engine.DialogAnswer) tea.Cmd {
	a.ID = d.asked.ID
	d.said = true
	d.m.opts.Engine.Send(a)
	return nil
}

// dialogClosed takes a question back, and what was opened from it.
func (m *Model) dialogClosed(id string) {
	m.overlays = slices.DeleteFunc(m.overlays, func(o overlay) bool {
		d, ok := o.(*dialog)
		return ok && d.asked.ID == id
	})
}

// Update implements [overlay].
func (d *dialog) Update(msg tea.Msg) (bool, tea.Cmd) {
	now := d.m.opts.Now()
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Text != "" && now.Sub(d.quiet) < quietTime {
			d.quiet = now
			return false, d.m.editor.Insert(msg.Text)
		}
	case tea.MouseClickMsg:
		msg.Y -= d.rows
		return d.hand(msg)
	}
	return d.hand(msg)
}

// hand gives a message to the list or field. Where the user went away from it the
// answer is none.
func (d *dialog) hand(msg tea.Msg) (bool, tea.Cmd) {
	done, cmd := d.overlay.Update(msg)
	if done && !d.said {
		d.answer(engine.DialogAnswer{})
	}
	return done, cmd
}

// text is what is asked, wrapped; of fields it stands in them.
func (d *dialog) text(w int) []string {
	if d.asked.Text == "" || d.asked.Kind != engine.DialogConfirm && d.asked.Kind != engine.DialogSelect {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(inert.Text(d.asked.Text), "\n") {
		for _, part := range rich.Wrap([]rich.Span{rich.Chrome("  "+line, d.m.theme.Text)}, w) {
			lines = append(lines, rich.Draw(part).Text)
		}
	}
	if len(lines) > textRows {
		lines = append(lines[:textRows-1], d.m.theme.Dim.Paint("  …"))
	}
	return lines
}

// Height implements [overlay].
func (d *dialog) Height(w, limit int) int {
	d.rows = min(len(d.text(w)), limit/2)
	return d.rows + d.overlay.Height(w, limit-d.rows)
}

// View implements [overlay].
func (d *dialog) View(w, h int) string {
	rows := min(d.rows, h)
	lines := append(slices.Clone(d.text(w)[:rows]), d.overlay.View(w, h-rows))
	return strings.Join(lines, "\n")
}

// Cursor implements [overlay].
func (d *dialog) Cursor() (x, y int, ok bool) {
	x, y, ok = d.overlay.Cursor()
	return x, y + d.rows, ok
}
