package tui

import (
	"context"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// modelList is the picker of models. The list may take a moment to come.
type modelList struct {
	*picker.Model
	m       *Model
	choices []Choice
}

// modelsMsg are the models that were found.
type modelsMsg struct {
	list    *modelList
	choices []Choice
	err     error
}

// chooseModel offers the models, those first that are meant by text.
func (m *Model) chooseModel(text string) tea.Cmd {
	find := m.opts.Models
	if find == nil {
		m.refuse("There are no models to choose from")
		return nil
	}
	l := &modelList{m: m}
	l.Model = picker.New(picker.Options{
		Title: "Model", Empty: "looking for models …", Query: text, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd {
			m.opts.Engine.Send(engine.SetModel{Model: l.choices[i].Model})
			return nil
		},
	}, m.theme)
	m.push(l)
	return func() tea.Msg {
		choices, err := find(context.Background())
		return modelsMsg{l, choices, err}
	}
}

// Update implements [overlay].
func (l *modelList) Update(msg tea.Msg) (bool, tea.Cmd) {
	found, ok := msg.(modelsMsg)
	if !ok {
		return l.Model.Update(msg)
	}
	if found.list != l {
		return false, nil
	}
	l.choices = found.choices
	items := make([]picker.Item, len(l.choices))
	cursor := 0
	for i, c := range l.choices {
		items[i] = picker.Item{Title: c.Name, Detail: c.Detail, Mark: " ", Search: c.Name + " " + c.Model.Provider + "/" + c.Model.Model}
		if c.Name == "" {
			items[i].Title = c.Model.Provider + "/" + c.Model.Model
		}
		if c.Model == l.m.state.Model {
			items[i].Mark, cursor = "•", i
		}
	}
	l.SetEmpty("no models were found")
	if found.err != nil {
		l.SetEmpty(found.err.Error())
	}
	l.SetItems(items, cursor)
	return false, nil
}

// nextThinking goes to the next level, from the highest to off.
func (m *Model) nextThinking() tea.Cmd {
	levels := llm.ThinkingLevels
	i := slices.Index(levels, m.state.Thinking) // -1, unknown, goes to off
	m.think(levels[(i+1)%len(levels)])
	return nil
}

func (m *Model) setThinking(args string) tea.Cmd {
	if args == "" {
		return m.chooseThinking()
	}
	level := llm.ThinkingLevel(strings.ToLower(args))
	if !slices.Contains(llm.ThinkingLevels, level) {
		m.refuse("There is no thinking level " + args + ": off, minimal, low, medium, high, xhigh")
		return nil
	}
	m.think(level)
	return nil
}

func (m *Model) chooseThinking() tea.Cmd {
	levels := llm.ThinkingLevels
	items := make([]picker.Item, len(levels))
	for i, level := range levels {
		items[i].Title = string(level)
	}
	m.push(picked{picker.New(picker.Options{
		Title: "How much the model thinks", Items: items, Keys: m.opts.Keys,
		Cursor: max(0, slices.Index(levels, m.state.Thinking)),
		Chosen: func(i int) tea.Cmd { m.think(levels[i]); return nil },
	}, m.theme)})
	return nil
}

func (m *Model) think(level llm.ThinkingLevel) {
	m.opts.Engine.Send(engine.SetThinking{Level: level})
	m.hint("Thinking: " + string(level))
}

func thinkingLevels(*Model) []editor.Candidate {
	var texts []string
	for _, l := range llm.ThinkingLevels {
		texts = append(texts, string(l))
	}
	return words(texts...)
}

// modeHelp says what the permission modes mean.
var modeHelp = map[string]string{
	"ask":   "everything but looking is asked",
	"edits": "files may be edited without asking",
	"plan":  "looking and planning only",
	"auto":  "everything runs without asking",
}

// nextPermission goes to the next mode.
func (m *Model) nextPermission() tea.Cmd {
	i := slices.Index(engine.Modes, m.state.Permission)
	m.permit(engine.Modes[(i+1)%len(engine.Modes)])
	return nil
}

func (m *Model) setPermission(args string) tea.Cmd {
	if args == "" {
		return m.choosePermission()
	}
	if !slices.Contains(engine.Modes, args) {
		m.refuse("There is no mode " + args + ": " + strings.Join(engine.Modes, ", "))
		return nil
	}
	m.permit(args)
	return nil
}

func (m *Model) choosePermission() tea.Cmd {
	var items []picker.Item
	for _, mode := range engine.Modes {
		items = append(items, picker.Item{Title: mode, Detail: modeHelp[mode]})
	}
	m.push(picked{picker.New(picker.Options{
		Title: "What needs your approval", Items: items, Keys: m.opts.Keys,
		Cursor: max(0, slices.Index(engine.Modes, m.state.Permission)),
		Chosen: func(i int) tea.Cmd { m.permit(engine.Modes[i]); return nil },
	}, m.theme)})
	return nil
}

func (m *Model) permit(mode string) {
	m.opts.Engine.Send(engine.SetPermission{Mode: mode})
	m.hint("Permissions: " + mode + ", " + modeHelp[mode])
}

func permissionModes(*Model) []editor.Candidate {
	candidates := words(engine.Modes...)
	for i := range candidates {
		candidates[i].Detail = modeHelp[candidates[i].Text]
	}
	return candidates
}

// chooseTheme sets the theme by name, or offers all, each tried on while the
// cursor is on it.
func (m *Model) chooseTheme(args string) tea.Cmd {
	if args != "" {
		if m.setTheme(args) {
			return m.saveSetting("theme", args)
		}
		return nil
	}
	names, before := theme.Names(), m.theme.Name
	items := make([]picker.Item, len(names))
	for i, name := range names {
		items[i].Title = name
	}
	m.push(picked{picker.New(picker.Options{
		Title: "Theme", Items: items, Cursor: max(0, slices.Index(names, before)), Keys: m.opts.Keys,
		Moved:  func(i int) { m.setTheme(names[i]) },
		Closed: func() { m.setTheme(before) },
		Chosen: func(i int) tea.Cmd { m.setTheme(names[i]); return m.saveSetting("theme", names[i]) },
	}, m.theme)})
	return nil
}

func themeNames(*Model) []editor.Candidate { return words(theme.Names()...) }
