package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// Setting is a setting as it counts now.
type Setting struct {
	Name    string
	Value   string // as it is written
	From    string // where it comes from
	Help    string
	Choices []string // what it may be; nil if that cannot be listed
	Live    bool     // a change counts at once, not from the next start on
}

// settingList is the list of settings. It may take a moment to come.
type settingList struct {
	*picker.Model
	m        *Model
	settings []Setting
}

// settingsMsg are the settings.
type settingsMsg struct {
	list     *settingList
	settings []Setting
	err      error
}

// savedMsg is a setting that was kept, and the settings as they are then.
type savedMsg struct {
	name, value string
	preferences Preferences
	settings    []Setting
	err         error // of reading them
}

func (msg savedMsg) apply(m *Model) tea.Cmd {
	cmd := m.prefer(msg.preferences)
	m.hint(msg.told())
	for _, o := range m.overlays {
		if l, ok := o.(*settingList); ok {
			l.show(msg.settings, msg.err)
		}
	}
	return cmd
}

// told says what becomes of the setting.
func (msg savedMsg) told() string {
	what := msg.name + " is " + msg.value
	if strings.TrimSpace(msg.value) == "" {
		what = msg.name + " is as usual"
	}
	i := slices.IndexFunc(msg.settings, func(s Setting) bool { return s.Name == msg.name })
	switch {
	case i < 0: // a name that the user made up, of a key for one
		return what
	case msg.value != "" && !msg.settings[i].says(msg.value):
		return what + " for you; here " + msg.settings[i].From + " goes before it"
	case msg.settings[i].Live:
		return what
	}
	return what + " from the next start on"
}

// says whether a setting has a value as it is typed.
func (s Setting) says(value string) bool {
	return s.Value == value || s.Value == strconv.Quote(value)
}

// openSettings shows what is set and where; a setting that is chosen can be
// changed.
func (m *Model) openSettings(text string) tea.Cmd {
	if m.opts.Settings == nil {
		m.refuse("There are no settings")
		return nil
	}
	l := &settingList{m: m}
	l.Model = picker.New(picker.Options{
		Title: "Settings", Empty: "reading …", Query: text, Keep: true, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd { return l.change(l.settings[i]) },
	}, m.theme)
	m.push(l)
	return l.read()
}

func (l *settingList) read() tea.Cmd {
	list, read := l, l.m.opts.Settings
	return func() tea.Msg {
		settings, err := read(context.Background())
		return settingsMsg{list, settings, err}
	}
}

// Update implements [overlay].
func (l *settingList) Update(msg tea.Msg) (bool, tea.Cmd) {
	read, ok := msg.(settingsMsg)
	if !ok {
		return l.Model.Update(msg)
	}
	if read.list == l {
		l.show(read.settings, read.err)
	}
	return false, nil
}

// show lists settings.
func (l *settingList) show(settings []Setting, err error) {
	l.settings = settings
	items := make([]picker.Item, len(l.settings))
	for i, s := range l.settings {
		items[i] = picker.Item{Title: s.Name, Detail: s.Value + "  (" + s.From + ")  " + s.Help, Search: s.Name + " " + s.Help}
	}
	if err != nil {
		l.SetEmpty(err.Error())
	}
	l.SetItems(items, l.Index())
}

// change asks for another value: one of a few, or in words.
func (l *settingList) change(s Setting) tea.Cmd {
	if l.m.opts.SaveSetting == nil {
		l.m.refuse("Settings cannot be changed here: " + s.From)
		return nil
	}
	if len(s.Choices) == 0 {
		l.m.prompt(promptOptions{
			Title: s.Name + ": " + s.Help, Hint: "nothing takes the setting away", Text: s.Value,
			Chosen: func(value string) tea.Cmd { return l.m.saveSetting(s.Name, value) },
		})
		return nil
	}
	ways := make([]way, len(s.Choices))
	for i, value := range s.Choices {
		ways[i] = way{text: value, run: func() tea.Cmd { return l.m.saveSetting(s.Name, value) }}
		if strings.Trim(s.Value, `"`) == value {
			ways[i].detail = "as it is now"
		}
	}
	l.m.choose(s.Name+": "+s.Help, ways...)
	return nil
}

// saveSetting keeps a setting and lets it count.
func (m *Model) saveSetting(name, value string) tea.Cmd {
	keep, read := m.opts.SaveSetting, m.opts.Settings
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		preferences, err := keep(context.Background(), name, value)
		if err != nil {
			return failedMsg{fmt.Errorf("keeping the setting: %w", err)}
		}
		msg := savedMsg{name: name, value: value, preferences: preferences}
		if read != nil {
			msg.settings, msg.err = read(context.Background())
		}
		return msg
	}
}
