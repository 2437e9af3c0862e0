package tui

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// queueFlow shows the follow-ups that wait, oldest first: to be put in another
// order, taken out, or taken back to the editor.
func (m *Model) queueFlow(string) tea.Cmd {
	if len(m.queue.FollowUps) == 0 {
		m.refuse("Nothing waits. Alt+Enter queues a follow-up while something runs")
		return nil
	}
	// The list is the user's own from here on; the engine is told each change.
	waiting := slices.Clone(m.queue.FollowUps)
	var list *picker.Model
	set := func(cursor int) (bool, tea.Cmd) {
		m.opts.Engine.Send(engine.SetQueue{FollowUps: slices.Clone(waiting)})
		list.SetItems(queueItems(waiting), cursor)
		return len(waiting) == 0, nil
	}
	move := func(by int) func(int) (bool, tea.Cmd) {
		return func(i int) (bool, tea.Cmd) {
			to := i + by
			if to < 0 || to >= len(waiting) {
				return false, nil
			}
			waiting[i], waiting[to] = waiting[to], waiting[i]
			return set(to)
		}
	}
	remove := func(i int) string {
		text := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		return text
	}
	list = picker.New(picker.Options{
		Title: "Waiting for the end of this turn", Items: queueItems(waiting), Keys: m.opts.Keys, InOrder: true,
		Actions: []picker.Action{
			{Key: "alt+up", Help: "earlier", Run: move(-1)},
			{Key: "alt+down", Help: "later", Run: move(1)},
			{Key: "ctrl+d", Help: "takes it out", Run: func(i int) (bool, tea.Cmd) {
				remove(i)
				return set(min(i, len(waiting)-1))
			}},
		},
		Chosen: func(i int) tea.Cmd {
			if text, _ := m.editor.Value(); strings.TrimSpace(text) != "" {
				m.refuse("There is something in the editor already; it would be lost")
				return nil
			}
			text := remove(i)
			set(0)
			return m.editor.SetValue(text, nil)
		},
	}, m.theme)
	m.push(list)
	return nil
}

func queueItems(prompts []string) []picker.Item {
	items := make([]picker.Item, len(prompts))
	for i, text := range prompts {
		items[i] = picker.Item{Title: text, Lead: fmt.Sprintf("%d ", i+1)}
	}
	return items
}
