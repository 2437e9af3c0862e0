package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// approval asks whether a call may run. It shows exactly what would run, all of
// it, and never takes a key for an answer that was meant for something else:
// keys count only after a moment without any.
type approval struct {
	m      *Model
	asked  engine.Asked
	keys   keymap.Table[*approval]
	choice int       // into answers
	scroll int       // lines of the picture above its window
	quiet  time.Time // when the last key came that was not for us

	// How it was last laid out.
	drawn     drawn
	tight     bool // there is no room for blanks
	answersAt int  // the row where the answers begin
}

// drawn is the picture of what would run, for a width and a theme.
type drawn struct {
	width int
	theme theme.Theme
	lines []string
}

// quietTime is how long no key may have come before the first one counts.
const quietTime = 300 * time.Millisecond

// answer is one way to answer.
type answer struct {
	letter   string
	text     string
	decision engine.Decision
}

// answers are the ways, in the order of their numbers. No is where the cursor
// stands at first, so that Enter alone allows nothing.
func (a *approval) answers() []answer {
	as := []answer{{"y", "Yes, this once", engine.Allow}}
	if a.asked.Always != "" {
		as = append(as, answer{"a", "Yes, and from now on: " + a.asked.Always, engine.Always})
	}
	return append(as, answer{"n", "No", engine.Deny})
}

// asked opens the question, below one that is open already: the older one is
// answered first.
func (m *Model) asked(ev engine.Asked) {
	a := &approval{m: m, asked: ev, keys: keymap.New(approvalKeys(), m.opts.Keys), quiet: m.opts.Now()}
	a.choice = len(a.answers()) - 1
	m.editor.Dismiss()
	at := slices.IndexFunc(m.overlays, isApproval)
	if at < 0 {
		at = len(m.overlays)
	}
	m.overlays = slices.Insert(m.overlays, at, overlay(a))
}

// withdrawn closes a question that no longer stands, and what was opened from it.
func (m *Model) withdrawn(ask int) {
	for i, o := range m.overlays {
		if a, ok := o.(*approval); ok && a.asked.Ask == ask {
			end := i + 1
			for end < len(m.overlays) && !isApproval(m.overlays[end]) {
				end++
			}
			m.overlays = slices.Delete(m.overlays, i, end)
			return
		}
	}
}

func isApproval(o overlay) bool { _, ok := o.(*approval); return ok }

// asking says whether a question is open, ours or an extension's.
func (m *Model) asking() bool {
	return slices.ContainsFunc(m.overlays, func(o overlay) bool { _, ok := o.(*dialog); return ok || isApproval(o) })
}

// approvalKeys are the keys of the question.
func approvalKeys() []keymap.Binding[*approval] {
	answer := func(letter string) func(*approval) tea.Cmd {
		return func(a *approval) tea.Cmd { a.pick(letter); return nil }
	}
	move := func(by int) func(*approval) tea.Cmd {
		return func(a *approval) tea.Cmd { a.move(by); return nil }
	}
	scroll := func(by int) func(*approval) tea.Cmd {
		return func(a *approval) tea.Cmd { a.scroll = max(0, a.scroll+by); return nil }
	}
	return []keymap.Binding[*approval]{
		{ID: "approve.yes", Keys: []string{"y"}, Also: "1", Help: "let the call run", Run: answer("y")},
		{ID: "approve.always", Keys: []string{"a"}, Also: "2", Help: "and all like it while this session is open", When: func(a *approval) bool { return a.asked.Always != "" }, Run: answer("a")},
		{ID: "approve.no", Keys: []string{"n"}, Also: "3", Help: "do not let it run; the model goes on", Run: answer("n")},
		{ID: "approve.comment", Keys: []string{"tab"}, Help: "no, and tell the model why", Run: (*approval).comment},
		{ID: "approve.stop", Keys: []string{"esc", "ctrl+c"}, Help: "no, and end the turn", Run: func(a *approval) tea.Cmd { a.decide(engine.Stop, ""); return nil }},
		{ID: "approve.choose", Keys: []string{"enter"}, Help: "the answer under the cursor; at first that is no", Run: func(a *approval) tea.Cmd { a.choose(a.choice); return nil }},
		{ID: "approve.up", Keys: []string{"up", "ctrl+p"}, Help: "answer above", Run: move(-1)},
		{ID: "approve.down", Keys: []string{"down", "ctrl+n"}, Help: "answer below", Run: move(1)},
		{ID: "approve.page-up", Keys: []string{"pgup"}, Help: "see what is above", Run: scroll(-5)},
		{ID: "approve.page-down", Keys: []string{"pgdown"}, Help: "see what is below", Run: scroll(5)},
	}
}

// Update implements [overlay].
func (a *approval) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return false, a.key(msg)
	case tea.MouseWheelMsg:
		by := 3
		if msg.Button == tea.MouseWheelUp {
			by = -3
		}
		a.scroll = max(0, a.scroll+by)
	case tea.MouseClickMsg:
		i := msg.Y - a.answersAt
		if msg.Button == tea.MouseLeft && i >= 0 && i < len(a.answers()) && !a.early() {
			a.choose(i)
		}
	case tea.PasteMsg:
		a.quiet = a.m.opts.Now()
		a.m.editor.Paste(msg.Content)
	}
	return false, nil
}

// key answers, or, in the moment after the question came up, goes on with what
// was being written: that key was not meant for us.
func (a *approval) key(msg tea.KeyPressMsg) tea.Cmd {
	stroke := msg.String()
	if a.early() && stroke != "esc" && stroke != "ctrl+c" {
		a.quiet = a.m.opts.Now()
		if msg.Text != "" {
			return a.m.editor.Insert(msg.Text)
		}
		return nil
	}
	if n := int(msg.Code - '1'); msg.Text != "" && n >= 0 && n < len(a.answers()) {
		a.choose(n)
		return nil
	}
	if b, ok := a.keys.Find(a, stroke); ok {
		return b.Run(a)
	}
	return nil
}

// early says whether what comes now may have been meant for something else.
func (a *approval) early() bool { return a.m.opts.Now().Sub(a.quiet) < quietTime }

func (a *approval) move(by int) {
	n := len(a.answers())
	a.choice = (a.choice + by + n) % n
}

func (a *approval) pick(letter string) {
	a.choose(slices.IndexFunc(a.answers(), func(x answer) bool { return x.letter == letter }))
}

func (a *approval) choose(i int) { a.decide(a.answers()[i].decision, "") }

func (a *approval) decide(d engine.Decision, comment string) {
	a.m.remove(a)
	a.m.opts.Engine.Send(engine.Answer{Ask: a.asked.Ask, Decision: d, Comment: comment})
}

// comment asks for a word to the model; without one it comes back here.
func (a *approval) comment() tea.Cmd {
	a.m.prompt(promptOptions{
		Title:  "No, because",
		Hint:   "the model is told, and goes on",
		Chosen: func(text string) tea.Cmd { a.decide(engine.Deny, text); return nil },
	})
	return nil
}

// Cursor implements [overlay]: there is nothing to write here.
func (a *approval) Cursor() (x, y int, ok bool) { return 0, 0, false }

// roomy is the height from which on there is room for blanks.
const roomy = 12

// Height implements [overlay].
func (a *approval) Height(w, limit int) int {
	if a.tight = limit < roomy; a.drawn.width != w || a.drawn.theme != a.m.theme {
		a.drawn = drawn{w, a.m.theme, a.picture(w)}
	}
	picture, tail := a.drawn.lines, a.tail(w)
	head := len(a.head(w))
	h := min(limit, head+len(picture)+len(tail))
	room := h - head - len(tail)
	if room < len(picture) {
		room-- // the note
	}
	a.scroll = max(0, min(a.scroll, len(picture)-room))
	a.answersAt = h - len(tail)
	if !a.tight {
		a.answersAt++
	}
	return h
}

// View implements [overlay]: what would run, then the answers, which always
// have their place.
func (a *approval) View(w, h int) string {
	picture, tail := a.drawn.lines, a.tail(w)
	lines := a.head(w)
	room := max(0, h-len(lines)-len(tail))
	if room >= len(picture) {
		lines = append(lines, picture...)
	} else if room > 0 {
		end := min(a.scroll+room-1, len(picture))
		lines = append(lines, picture[min(a.scroll, end):end]...)
		note := fmt.Sprintf("  … line %d of %d; %s shows the rest", end, len(picture), keymap.Title(a.keys.Key("approve.page-down")))
		lines = append(lines, a.m.theme.Warning.Paint(rich.TruncateText(note, w)))
	}
	for len(lines)+len(tail) < h {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, tail...)[:h], "\n")
}

// reasonRows is how many rows a question and its reason may take.
const reasonRows = 3

// head is the question with the reason for it, all of it and a blank row where
// there is room.
func (a *approval) head(w int) []string {
	th, rows := a.m.theme, reasonRows
	if a.tight {
		rows = 1
	}
	line := []rich.Span{rich.Chrome("May this run? ", th.Title), rich.Chrome(inert.Line(a.asked.Call.Name), th.Tool)}
	if of := a.asked.Tasks; len(of) > 0 {
		line = append(line, rich.Chrome(" for the task "+inert.Line(strings.Join(of, " › ")), th.Accent))
	}
	if a.asked.Reason != "" {
		line = append(line, rich.Chrome("  "+inert.Line(a.asked.Reason), th.Dim))
	}
	var lines []string
	for _, part := range rich.WrapTo(line, w-2, rows) {
		lines = append(lines, rich.Draw(append([]rich.Span{rich.Chrome("  ", th.Title)}, part...)).Text)
	}
	if !a.tight {
		lines = append(lines, "")
	}
	return lines
}

// tail are the answers and the other keys.
func (a *approval) tail(w int) []string {
	th := a.m.theme
	var lines []string
	if !a.tight {
		lines = append(lines, "")
	}
	for i, x := range a.answers() {
		below, pointer := theme.Style{}, "  "
		if i == a.choice {
			below, pointer = th.Selection, "› "
		}
		line := rich.Truncate([]rich.Span{
			rich.Chrome(pointer, th.Accent.On(below)),
			rich.Chrome(fmt.Sprintf("%d %s  ", i+1, x.letter), th.Key.On(below)),
			rich.Chrome(inert.Line(x.text), th.Text.On(below)),
		}, w)
		line = append(line, rich.Chrome(strings.Repeat(" ", max(0, w-rich.LineWidth(line))), below))
		lines = append(lines, rich.Draw(line).Text)
	}
	hints := a.m.hints(a.keys.Key("approve.comment"), "no, with a word", a.keys.Key("approve.stop"), "no, and stop")
	if !a.tight {
		lines = append(lines, "")
	}
	return append(lines, rich.Draw(rich.Truncate(hints, w)).Text)
}

// picture is what would run, exactly and in full.
func (a *approval) picture(w int) []string {
	switch p := a.asked.Preview.(type) {
	case tool.Diff:
		lines := a.m.wrapped(p.Path, a.m.theme.Strong, w)
		for _, line := range transcript.Draw(p, w-3, a.m.theme) {
			lines = append(lines, "  "+line)
		}
		return lines
	case tool.Plain:
		if p.Text != "" {
			return a.m.wrapped(p.Text, a.m.theme.Text, w)
		}
	}
	return a.arguments(w)
}

// arguments writes the call's arguments, every byte of them: first, and without
// its name, what is run or looked at.
func (a *approval) arguments(w int) []string {
	th := a.m.theme
	var fields []field
	if err := decodeFields(a.asked.Call.Arguments, &fields); err != nil || len(fields) == 0 {
		return a.m.wrapped(string(a.asked.Call.Arguments), th.Text, w)
	}
	main := max(0, slices.IndexFunc(fields, func(f field) bool { return f.name == "command" }))
	lines := a.m.wrapped(fields[main].value, th.Text, w)
	for i, f := range fields {
		switch {
		case i == main:
		case strings.Contains(f.value, "\n"):
			lines = append(lines, a.m.wrapped(f.name+":", th.Dim, w)...)
			lines = append(lines, a.m.wrapped(f.value, th.Text, w)...)
		default:
			lines = append(lines, a.m.wrapped(f.name+": "+f.value, th.Dim, w)...)
		}
	}
	return lines
}

// field is one argument.
type field struct{ name, value string }

// decodeFields reads the fields of a JSON object in their order. Strings stand
// for themselves, everything else as it is written.
func decodeFields(raw json.RawMessage, into *[]field) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("not an object: %v %w", t, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		f := field{name: fmt.Sprint(name), value: string(value)}
		var s string
		if json.Unmarshal(value, &s) == nil {
			f.value = s
		}
		*into = append(*into, f)
	}
	return nil
}

// wrapped is a text, indented, broken into lines of at most w cells.
func (m *Model) wrapped(text string, style theme.Style, w int) []string {
	var lines []string
	for _, line := range strings.Split(strings.TrimRight(inert.Text(text), "\n"), "\n") {
		spans := rich.Tabs(nil, line, style, 0)
		for _, part := range rich.Hard(spans, w-3) {
			lines = append(lines, "  "+rich.Draw(part).Text)
		}
	}
	return lines
}
