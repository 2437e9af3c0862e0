package tui

import (
	"fmt"
	"strings"

	"banyan/internal/tui/editor"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// section is a group of keys.
type section struct {
	title string
	rows  []keymap.Row
}

// sections are all keys as they are now, overrides included.
func sections(overrides map[string][]string) []section {
	return []section{
		{"Screen", keymap.New(bindings(), overrides).Rows()},
		{"Editor", keymap.New(editor.Bindings(), overrides).Rows()},
		{"Lists", keymap.New(picker.Bindings(), overrides).Rows()},
		{"Sessions", keymap.New(sessionKeys(), overrides).Rows()},
		{"Tree", keymap.New(treeview.Bindings(), overrides).Rows()},
		{"Approval", keymap.New(approvalKeys(), overrides).Rows()},
		{"Selecting", keymap.New(selectKeys(), overrides).Rows()},
		{"Texts", keymap.New(pagerKeys(), overrides).Rows()},
		{"Answers in words", keymap.New(promptKeys(), overrides).Rows()},
	}
}

// help shows commands, then keys.
func (m *Model) help() tea.Cmd {
	m.page("Commands and keys", func(w int) []string {
		return append(append(m.commandLines(w), ""), m.keyLines(w)...)
	})
	return nil
}

// keysAndCommands shows keys, then commands.
func (m *Model) keysAndCommands() tea.Cmd {
	m.page("Keys and commands", func(w int) []string {
		return append(append(m.keyLines(w), ""), m.commandLines(w)...)
	})
	return nil
}

func (m *Model) commandLines(w int) []string {
	var rows [][2]string
	for _, c := range m.all() {
		rows = append(rows, [2]string{"/" + c.name + argsOf(c), c.help})
	}
	return m.table("Commands", rows, w)
}

func (m *Model) keyLines(w int) []string {
	var lines []string
	if keys := m.offers.rows(); len(keys) > 0 {
		lines = append(m.table("Keys of extensions", keys, w), "")
	}
	for i, s := range sections(m.opts.Keys) {
		if i > 0 {
			lines = append(lines, "")
		}
		var rows [][2]string
		for _, r := range s.rows {
			rows = append(rows, [2]string{r.Titles(), r.Help})
		}
		lines = append(lines, m.table(s.title, rows, w)...)
	}
	return lines
}

// table draws two columns below a title; the right one is broken where it does
// not fit, below the left one on narrow screens.
func (m *Model) table(title string, rows [][2]string, w int) []string {
	th := m.theme
	lines := []string{"  " + th.Strong.Paint(title)}
	left := min(28, w/2)
	for _, row := range rows {
		key := inert.Line(row[0])
		head := []rich.Span{rich.Chrome("  ", th.Hint), rich.Chrome(key, th.Key)}
		if gap := left - rich.Width(key); gap > 0 {
			head = append(head, rich.Chrome(strings.Repeat(" ", gap), th.Hint))
		} else {
			lines = append(lines, rich.Draw(rich.Truncate(head, w)).Text)
			head = []rich.Span{rich.Chrome(strings.Repeat(" ", left+2), th.Hint)}
		}
		for _, part := range rich.Wrap([]rich.Span{rich.Chrome(row[1], th.Hint)}, max(10, w-left-3)) {
			lines = append(lines, rich.Draw(append(head, part...)).Text)
			head = []rich.Span{rich.Chrome(strings.Repeat(" ", left+2), th.Hint)}
		}
	}
	return lines
}

// KeysMarkdown is the reference of keys and commands, for docs/keys.md.
func KeysMarkdown() string {
	var b strings.Builder
	b.WriteString("# Keys and commands\n\n")
	b.WriteString("Generated from the tables in `internal/tui`; do not edit.\n\n")
	b.WriteString("A key is changed by its id in the settings, e.g. `\"keys\": {\"palette\": [\"ctrl+space\"]}`; an empty list takes it away.\n")
	for _, s := range sections(nil) {
		fmt.Fprintf(&b, "\n## %s\n\n| key | does | id |\n|---|---|---|\n", s.title)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "| %s | %s | `%s` |\n", cell(r.Titles()), cell(r.Help), r.ID)
		}
	}
	b.WriteString("\n## Commands\n\n| command | does |\n|---|---|\n")
	for _, c := range commands() {
		name := "`/" + c.name + argsOf(c) + "`"
		for _, a := range c.aliases {
			name += ", `/" + a + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(name), cell(c.help))
	}
	return b.String()
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, `\`, `\\`).Replace(s) }
