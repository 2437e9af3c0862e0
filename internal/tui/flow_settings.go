package tui

import (
	"context"
	"fmt"
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
	kept     string // what was changed, if anything was
	err      error
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
		return settingsMsg{list, settings, "", err}
	}
}

// Update implements [overlay].
func (l *settingList) Update(msg tea.Msg) (bool, tea.Cmd) {
	read, ok := msg.(settingsMsg)
	if !ok {
		return l.Model.Update(msg)
	}
	if read.list != l {
		return false, nil
	}
	if read.kept != "" {
		l.m.hint(read.kept)
	}
	l.settings = read.settings
	items := make([]picker.Item, len(l.settings))
	for i, s := range l.settings {
		items[i] = picker.Item{Title: s.Name, Detail: s.Value + "  (" + s.From + ")  " + s.Help, Search: s.Name + " " + s.Help}
	}
	if read.err != nil {
		l.SetEmpty(read.err.Error())
	}
	l.SetItems(items, l.Index())
	return false, nil
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
			Chosen: func(value string) tea.Cmd { return l.save(s.Name, value) },
		})
		return nil
	}
	ways := make([]way, len(s.Choices))
	for i, value := range s.Choices {
		ways[i] = way{text: value, run: func() tea.Cmd { return l.save(s.Name, value) }}
	}
	l.m.choose(s.Name+": "+s.Help, ways...)
	return nil
}

// save keeps a value and reads the settings again.
func (l *settingList) save(name, value string) tea.Cmd {
	list, keep, read := l, l.m.opts.SaveSetting, l.m.opts.Settings
	if name == "theme" {
		l.m.setTheme(themeFor(value, l.m.theme.Dark))
	}
	return func() tea.Msg {
		if err := keep(context.Background(), name, value); err != nil {
			return failedMsg{fmt.Errorf("keeping the setting: %w", err)}
		}
		settings, err := read(context.Background())
		return settingsMsg{list, settings, kept(name, value), err}
	}
}

// kept says what becomes of a setting.
func kept(name, value string) string {
	switch {
	case strings.TrimSpace(value) == "":
		return name + " is as usual from the next start on"
	case name == "theme": // it has changed already
		return name + " is " + value
	}
	return name + " is " + value + " from the next start on"
}

// keepTheme keeps a theme for the programs to come.
func (m *Model) keepTheme(name string) tea.Cmd {
	keep := m.opts.SaveSetting
	if keep == nil {
		return nil
	}
	return work(kept("theme", name), func(ctx context.Context) error {
		if err := keep(ctx, "theme", name); err != nil {
			return fmt.Errorf("keeping the theme: %w", err)
		}
		return nil
	})
}
