package reader

import (
	"fmt"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
)

// command is a row of the table of commands. What else the screen has needs a
// screen, or a command of the program: agent session, agent models.
type command struct {
	name, args, help string
	run              func(t *talk, args string) error
}

func commands() []command {
	send := func(make func(args string) engine.Command) func(*talk, string) error {
		return func(t *talk, args string) error { t.engine.Send(make(args)); return nil }
	}
	return []command{
		{"help", "", "read the commands", (*talk).help},
		{"quit", "", "leave", func(t *talk, _ string) error { t.leave(); return nil }},
		{"new", "", "begin a new session", send(func(string) engine.Command { return engine.NewSession{} })},
		{"resume", "<id or file>", "open another session; agent session list reads them", (*talk).resume},
		{"switch", "<id or label>", "go to an entry of this session; agent session tree reads them", (*talk).switchTo},
		{"name", "<text>", "name the session", send(func(s string) engine.Command { return engine.SetName{Name: s} })},
		{"label", "<text>", "label this point", send(func(s string) engine.Command { return engine.SetLabel{Text: s} })},
		{"compact", "[focus]", "let a summary stand for the older part", send(func(s string) engine.Command { return engine.Compact{Focus: s} })},
		{"model", "<provider/model>", "choose the model", (*talk).model},
		{"thinking", "<level>", "how much the model thinks", send(func(s string) engine.Command { return engine.SetThinking{Level: llm.ThinkingLevel(s)} })},
		{"permissions", "<mode>", "what needs your approval: " + strings.Join(engine.Modes, ", "), send(func(s string) engine.Command { return engine.SetPermission{Mode: s} })},
		{"mode", "<name>", "the mode of this branch: plan, or one of an extension; none leaves it", send(func(s string) engine.Command { return engine.SetMode{Mode: s} })},
		{"tasks", "[resume [n], stop n, tell n text]", "read the tasks; go on with those that were interrupted; stop one, or tell it something", (*talk).tasksCommand},
	}
}

// isCommand says whether a line is meant as a command, and not as a path: such a
// line is never sent to a model as it is.
func isCommand(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return len(name) > 1 && name[0] == '/' && !strings.Contains(name[1:], "/")
}

// command runs a line that is one of ours; false if it is none.
func (t *talk) command(line string) bool {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	args = strings.TrimSpace(args)
	for _, c := range commands() {
		if c.name != name && (c.name != "quit" || name != "exit") {
			continue
		}
		var err error
		if strings.HasPrefix(c.args, "<") && args == "" {
			err = fmt.Errorf("/%s needs %s", c.name, c.args)
		} else {
			err = c.run(t, args)
		}
		if err != nil {
			t.say.label("Error", err.Error())
		}
		t.prompt()
		return true
	}
	return false
}

func (t *talk) help(string) error {
	for _, c := range commands() {
		t.say.label(strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
	return nil
}

func (t *talk) resume(text string) error {
	path := text
	if t.o.Find != nil {
		var err error
		if path, err = t.o.Find(text); err != nil {
			return err
		}
	}
	t.engine.Send(engine.Open{Path: path})
	return nil
}

func (t *talk) switchTo(text string) error {
	id, err := t.session.Resolve(text)
	if err != nil {
		return err
	}
	t.engine.Send(engine.Navigate{Target: id, At: id != "" && len(t.session.Children(id)) == 0})
	return nil
}

func (t *talk) model(text string) error {
	provider, model, ok := strings.Cut(text, "/")
	if !ok {
		return fmt.Errorf("name the provider, too: /model anthropic/%s; agent models reads them", text)
	}
	t.engine.Send(engine.SetModel{Model: session.ModelRef{Provider: provider, Model: model}})
	return nil
}
