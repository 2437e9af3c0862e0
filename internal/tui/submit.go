package tui

import (
	"context"
	"strings"

	"banyan/internal/engine"

	tea "charm.land/bubbletea/v2"
)

// submit sends what is in the editor, or runs it if it is a command.
func (m *Model) submit(followUp bool) tea.Cmd {
	if m.editor.Completing() && !m.editor.Accept() {
		return nil // there is more to be written
	}
	if ok, cmd := m.editor.Continue(); ok {
		return cmd
	}
	text, images := m.editor.Value()
	if strings.TrimSpace(text) == "" && len(images) == 0 {
		return nil
	}
	if name, args, ok := slash(text); ok {
		return m.command(name, args)
	}
	if m.tasks.view != nil {
		return m.steerTask(engine.Submit{Text: text, Images: images, FollowUp: followUp})
	}
	m.editor.Clear()
	m.transcript.Bottom()
	if run, ok := shellCommand(text); ok {
		m.opts.Engine.Send(run)
	} else {
		return tea.Batch(m.sendPrompt(engine.Submit{Text: text, Images: images, FollowUp: followUp}), m.remember(text))
	}
	return m.remember(text)
}

// sendPrompt sends a prompt, with what it names.
func (m *Model) sendPrompt(prompt engine.Submit) tea.Cmd {
	var read func(context.Context) (*engine.Expansion, error)
	if m.opts.Mentions != nil {
		read = m.opts.Mentions(prompt.Text)
	}
	if read == nil {
		m.opts.Engine.Send(prompt)
		return nil
	}
	return func() tea.Msg {
		stands, err := read(context.Background())
		if err != nil {
			return unsentMsg{prompt, err}
		}
		prompt.Stands = stands
		return sendMsg(prompt)
	}
}

// sendMsg is a prompt whose mentions were read.
type sendMsg engine.Submit

func (msg sendMsg) apply(m *Model) tea.Cmd {
	m.opts.Engine.Send(engine.Submit(msg))
	return nil
}

// unsentMsg is a prompt that names what cannot be had. It goes back to the
// editor, unless something else is there by now; the history has it, too.
type unsentMsg struct {
	prompt engine.Submit
	err    error
}

func (msg unsentMsg) apply(m *Model) tea.Cmd {
	m.say(engine.Failure, "The prompt was not sent: "+msg.err.Error())
	if text, images := m.editor.Value(); text != "" || len(images) > 0 {
		return nil
	}
	return m.editor.SetValue(msg.prompt.Text, msg.prompt.Images)
}

// slash takes "/name args" apart. A path is not a command.
func slash(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	name, args, _ = strings.Cut(rest, " ")
	if strings.ContainsAny(name, "/\\\n.") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

// shellCommand reads "!command", and "!!command" for one that models do not see.
func shellCommand(text string) (engine.RunCommand, bool) {
	rest, ok := strings.CutPrefix(text, "!")
	rest, exclude := strings.CutPrefix(rest, "!")
	rest = strings.TrimSpace(rest)
	return engine.RunCommand{Command: rest, Exclude: exclude}, ok && rest != ""
}

// remember keeps a prompt for other sessions.
func (m *Model) remember(prompt string) tea.Cmd {
	keep := m.opts.Remember
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		if err := keep(prompt); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

// historyMsg are the prompts of other sessions.
type historyMsg []string

func (msg historyMsg) apply(m *Model) tea.Cmd { m.editor.SetHistory(msg); return nil }

func (m *Model) readHistory() tea.Cmd {
	read := m.opts.History
	if read == nil {
		return nil
	}
	return func() tea.Msg {
		prompts, err := read()
		if err != nil {
			return failedMsg{err}
		}
		return historyMsg(prompts)
	}
}
