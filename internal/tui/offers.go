package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// offers are what extensions bring and show, one for each, in the order of their
// names.
type offers []offered

type offered struct {
	engine.Offer
	panel engine.Panel
}

// extended takes what an extension does.
func (m *Model) extended(ev engine.Event) tea.Cmd {
	switch ev := ev.(type) {
	case engine.Offer:
		m.offered(ev)
	case engine.Panel:
		m.offers.of(ev.From).panel = ev
	case engine.Dialog:
		return m.dialog(ev)
	case engine.DialogClosed:
		m.dialogClosed(ev.ID)
	}
	return nil
}

// of is the place of an extension, made if there is none.
func (o *offers) of(from string) *offered {
	i, found := slices.BinarySearchFunc(*o, from, func(x offered, name string) int { return strings.Compare(x.From, name) })
	if !found {
		*o = slices.Insert(*o, i, offered{Offer: engine.Offer{From: from}})
	}
	return &(*o)[i]
}

// offeredKey is what a keystroke of an extension looks like: never a letter alone.
const offeredKey = `^((ctrl|alt)\+(shift\+)?\S+|f([1-9]|1[0-2]))( \S+)?$`

// offered takes what an extension brings. Our own commands and keys stay ours.
func (m *Model) offered(ev engine.Offer) {
	own := commands()
	taken := map[string]bool{}
	for _, s := range sections(m.opts.Keys) {
		for _, r := range s.rows {
			for _, key := range r.Keys {
				taken[key] = true
			}
		}
	}
	leaveOut := func(what string) {
		m.say(engine.Warning, fmt.Sprintf("The extension %s: %s is taken, and left out.", ev.From, what))
	}
	ev.Commands = slices.DeleteFunc(slices.Clone(ev.Commands), func(c engine.OfferedCommand) bool {
		is := slices.ContainsFunc(own, func(x command) bool { return x.is(c.Name) })
		if is {
			leaveOut("the command /" + c.Name)
		}
		return is
	})
	form := regexp.MustCompile(offeredKey)
	ev.Keys = slices.DeleteFunc(slices.Clone(ev.Keys), func(k engine.OfferedKey) bool {
		prefix, _, _ := strings.Cut(k.Key, " ")
		bad := taken[k.Key] || taken[prefix] || m.keys.IsPrefix(k.Key) || !form.MatchString(k.Key)
		if bad {
			leaveOut("the key " + keymap.Title(k.Key))
		}
		return bad
	})
	m.offers.of(ev.From).Offer = ev
}

// commands are a table and after it what extensions bring.
func (o offers) commands(all []command) []command {
	for _, x := range o {
		for _, c := range x.Commands {
			all = append(all, command{
				name: c.Name, args: inert.Line(c.Args), help: inert.Line(c.Help) + " (" + inert.Line(x.From) + ")",
				run: func(m *Model, args string) tea.Cmd {
					m.opts.Engine.Send(engine.Invoke{From: x.From, Command: c.Name, Args: args})
					return nil
				},
			})
		}
	}
	return all
}

// key is what an extension's keystroke does, and whether it begins one.
func (o offers) key(stroke string) (run func(*Model), prefix bool) {
	for _, x := range o {
		for _, k := range x.Keys {
			if k.Key == stroke {
				return func(m *Model) {
					m.opts.Engine.Send(engine.Invoke{From: x.From, Command: k.Command, Args: k.Args})
				}, false
			}
			prefix = prefix || strings.HasPrefix(k.Key, stroke+" ")
		}
	}
	return nil, prefix
}

// rows are the keys of extensions, for help.
func (o offers) rows() (rows [][2]string) {
	for _, x := range o {
		for _, k := range x.Keys {
			help := k.Help
			if help == "" {
				help = "/" + k.Command
			}
			rows = append(rows, [2]string{keymap.Title(k.Key), inert.Line(help) + " (" + inert.Line(x.From) + ")"})
		}
	}
	return rows
}

// statusCells is the width of what one extension says in the footer.
const statusCells = 24

// statuses are what extensions say in the footer.
func (m *Model) statuses() (segments []segment) {
	for _, x := range m.offers {
		if x.panel.Status != "" {
			segments = append(segments, segment{7, []rich.Span{rich.Chrome(rich.TruncateText(inert.Line(x.panel.Status), statusCells), m.theme.Footer)}})
		}
	}
	return segments
}

// widgets are the lines that extensions show above the editor, no more than a
// third of the screen.
func (m *Model) widgets() (rows []string) {
	for _, x := range m.offers {
		for _, line := range x.panel.Widget {
			spans := []rich.Span{rich.Chrome("  "+inert.Line(line), m.theme.Dim)}
			rows = append(rows, rich.Draw(rich.Truncate(spans, m.width)).Text)
		}
	}
	if most := m.height / 3; len(rows) > most {
		rows = append(rows[:max(0, most-1)], m.theme.Dim.Paint("  …"))
	}
	return rows
}

// showExtensions lists the extensions.
func (m *Model) showExtensions(string) tea.Cmd {
	return m.askItems("Extensions", "There are no extensions; docs/extensions.md says how to write one", m.opts.Extensions)
}
