package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// SetHistory gives the prompts of the past, oldest first. What was sent since
// stays after them.
func (m *Model) SetHistory(prompts []string) {
	fresh := make([]string, 0, len(prompts)+len(m.past))
	for _, p := range prompts {
		fresh = append(fresh, m.fold(p))
	}
	m.past = append(fresh, m.past...)
	m.recall = len(m.past)
}

// History are the prompts of the past in full, newest first, each once.
func (m *Model) History() []string {
	var prompts []string
	had := map[string]bool{}
	for i := len(m.past) - 1; i >= 0; i-- {
		text, _ := m.expand(m.past[i])
		if !had[text] {
			had[text] = true
			prompts = append(prompts, text)
		}
	}
	return prompts
}

// remember adds a prompt to the history.
func (m *Model) remember(text string) {
	if strings.TrimSpace(text) != "" && (len(m.past) == 0 || m.past[len(m.past)-1] != text) {
		m.past = append(m.past, text)
	}
	m.recall = len(m.past)
	m.present = ""
}

// up goes a row up, or to the prompt before when there is no row.
func (m *Model) up() tea.Cmd {
	if !m.vertical(-1) {
		m.show(m.recall - 1)
	}
	return nil
}

// down goes a row down, or to the prompt after when there is no row.
func (m *Model) down() tea.Cmd {
	if !m.vertical(1) {
		m.show(m.recall + 1)
	}
	return nil
}

// show puts a prompt of the past in the field; beyond the newest, what was being written.
func (m *Model) show(i int) {
	if i < 0 || i > len(m.past) {
		return
	}
	if m.recall == len(m.past) {
		m.present = m.buf.text()
	}
	m.recall = i
	if i == len(m.past) {
		m.setRaw(m.present)
	} else {
		m.setRaw(m.past[i])
	}
	m.closePopup()
	m.pop.dismissed = true // a recalled command is not being written
}
