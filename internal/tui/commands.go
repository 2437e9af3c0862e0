package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/slip"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/fuzzy"

	tea "charm.land/bubbletea/v2"
)

// command is a row of the table of slash commands, which drives dispatch,
// completion, the palette, help and the reference.
type command struct {
	name    string
	aliases []string
	args    string // how its arguments are written, e.g. "[text]"; empty if it takes none
	help    string
	// complete gives what the arguments may be; nil if there is no telling.
	complete func(m *Model) []editor.Candidate
	run      func(m *Model, args string) tea.Cmd
}

// commands is the table, in the order of help.
func commands() []command {
	return []command{
		{name: "new", aliases: []string{"clear"}, help: "begin a new session; this one stays", run: (*Model).newSession},
		{name: "resume", aliases: []string{"sessions", "continue"}, args: "[text]", help: "open another session", run: (*Model).resume},
		{name: "search", args: "[text]", help: "look for a text in all sessions, on all branches", run: (*Model).search},
		{name: "tree", help: "the whole session as a tree: look around, go anywhere", run: (*Model).openTree},
		{name: "branch", aliases: []string{"fork"}, help: "take a prompt back into a new session file", run: (*Model).forkFlow},
		{name: "branch-here", args: "[prompt]", help: "go back before the last prompt and try another, in this file", run: (*Model).branchHere},
		{name: "branches", args: "[text]", help: "all branches of this session, newest first", run: (*Model).branches},
		{name: "switch", aliases: []string{"goto"}, args: "[id or label]", help: "go to a branch, or any entry", complete: completeEntries, run: (*Model).switchTo},
		{name: "pop", args: "[id or label]", help: "back to the last prompt, or an entry, with a summary of what is left", complete: completeEntries, run: (*Model).pop},
		{name: "undo", help: "take the last turn back", run: (*Model).undo},
		{name: "redo", help: "bring back what /undo took", run: (*Model).redo},
		{name: "cherry-pick", args: "<id or label> …", help: "copy entries onto the end of this branch", complete: completeEntries, run: (*Model).cherryPick},
		{name: "merge", args: "<id or label>", help: "take over another branch, as a summary or in full", complete: completeEntries, run: (*Model).merge},
		{name: "diff", help: "what tools changed in files on this branch", run: (*Model).showDiff},
		{name: "compare", args: "<id or label>", help: "this branch and another beside each other", complete: completeEntries, run: (*Model).compare},
		{name: "export-branch", args: "<id or label> [file]", help: "write an entry and all below it, or the path to an end, as .md, .html or .jsonl", complete: completeEntries, run: (*Model).exportBranch},
		{name: "export", args: "[file]", help: "write this conversation as .md, or the whole session as .html or .jsonl", run: (*Model).export},
		{name: "import", args: "[file]", help: "take a session file in, and open it", run: (*Model).importSession},
		{name: "clone", help: "go on in a copy of this conversation", run: (*Model).cloneSession},
		{name: "label", args: "[text]", help: "name this point of the conversation; without text, take its name away", run: (*Model).labelLeaf},
		{name: "name", aliases: []string{"rename"}, args: "[text]", help: "name the session", run: (*Model).nameSession},
		{name: "session", aliases: []string{"status"}, help: "what this session is and where it lies", run: (*Model).inspectSession},
		{name: "delete", help: "move this session, with those of its tasks, to the trash, after a question", run: (*Model).deleteSession},
		{name: "context", help: "what fills the context window", run: (*Model).showContext},
		{name: "drop", args: "<id or label>", help: "leave an entry and what follows it out of the context", complete: completeEntries, run: (*Model).dropFrom},
		{name: "usage", aliases: []string{"cost", "stats"}, args: "[id or label]", help: "tokens, cost and time of this conversation, and since an entry", complete: completeEntries, run: (*Model).showUsage},
		{name: "model", aliases: []string{"models"}, args: "[name]", help: "choose the model", run: (*Model).chooseModel},
		{name: "login", aliases: []string{"connect"}, args: "[provider]", help: "connect a provider with its key", run: (*Model).login},
		{name: "logout", args: "[provider]", help: "forget a provider's key", run: (*Model).logout},
		{name: "thinking", aliases: []string{"effort"}, args: "[level]", help: "how much the model thinks", complete: thinkingLevels, run: (*Model).setThinking},
		{name: "permissions", args: "[mode]", help: "what needs your approval: ask, edits, plan, auto", complete: permissionModes, run: (*Model).setPermission},
		{name: "sandbox", help: "the box that commands run in: how strong, what they may change and read", run: (*Model).showSandbox},
		{name: "plan", help: "look and plan only; again: as before", run: (*Model).togglePlan},
		{name: "mode", args: "[name]", help: "the mode of this branch: plan, or one of an extension; none leaves it", complete: modeNames, run: (*Model).setMode},
		{name: "trust", help: "let this folder's own instructions and settings count", run: (*Model).trust},
		{name: "skills", help: "skills and prompts, where they are from, and which are not used and why", run: (*Model).showSkills},
		{name: "mcp", help: "MCP servers: their state, tools and logs; approve, start again, disable, log in", run: (*Model).showServers},
		{name: "hooks", help: "commands that run when something happens: where they are from, how they did; approve them", run: (*Model).showHooks},
		{name: "rules", help: "what is watched for in what the model writes, and what was added on this branch", run: (*Model).showRules},
		{name: "role", args: "[name]", help: "give the agent a role; none takes it away", complete: roleNames, run: (*Model).setRole},
		{name: "agents", help: "the agents that tasks can be given to", run: (*Model).showAgents},
		{name: "tasks", help: "the tasks of this session: look, stop, go on with what was interrupted", run: (*Model).tasksFlow},
		{name: "compact", aliases: []string{"compress", "summarize"}, args: "[focus]", help: "let a summary stand for the older part", run: (*Model).compact},
		{name: "queue", help: "the follow-ups that wait: order, edit, take out", run: (*Model).queueFlow},
		{name: "copy", help: "copy the last answer", run: (*Model).copyAnswer},
		{name: "editor", help: "write the prompt in your own editor", run: func(m *Model, _ string) tea.Cmd { return m.editor.External() }},
		{name: "save", args: "<file>", help: "write the session elsewhere and go on there, e.g. when the disk is full", run: (*Model).saveElsewhere},
		{name: "extensions", help: "other programs that take part: how they are, what they bring; approve, restart, end them", run: (*Model).showExtensions},
		{name: "theme", args: "[name]", help: "choose the colours", complete: themeNames, run: (*Model).chooseTheme},
		{name: "settings", aliases: []string{"config"}, args: "[text]", help: "what is set and where; change it", run: (*Model).openSettings},
		{name: "doctor", help: "look at the terminal, settings, keys, folders and tools: what is found, and what to do", run: (*Model).examine},
		{name: "keys", aliases: []string{"keybindings"}, help: "keys and commands", run: func(m *Model, _ string) tea.Cmd { return m.keysAndCommands() }},
		{name: "help", help: "commands and keys", run: func(m *Model, _ string) tea.Cmd { return m.help() }},
		{name: "quit", aliases: []string{"exit", "q"}, help: "leave", run: func(m *Model, _ string) tea.Cmd { return m.quit() }},
	}
}

// all are the table's commands and the user's templates, which never take a
// command's place.
func (m *Model) all() []command {
	all := m.offers.commands(commands())
	if m.opts.Templates == nil {
		return all
	}
	for _, t := range m.opts.Templates() {
		if slices.ContainsFunc(all, func(c command) bool { return c.is(t.Name) }) {
			continue
		}
		all = append(all, command{name: t.Name, args: t.Args, help: t.Help, run: func(m *Model, args string) tea.Cmd {
			return m.fill(t, args)
		}})
	}
	return all
}

// is says whether a command goes by a name.
func (c command) is(name string) bool { return c.name == name || slices.Contains(c.aliases, name) }

func (m *Model) find(name string) (command, bool) {
	all := m.all()
	i := slices.IndexFunc(all, func(c command) bool { return c.is(name) })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// Template is a prompt of the user's, or a skill, that is sent by a command.
type Template struct {
	Name string // without the slash
	Args string // how its arguments are written, e.g. "<file>"; empty if it takes none
	Help string
	// Expand makes the prompt: what was typed, and what that stands for. It may
	// read files.
	Expand func(ctx context.Context, args string) (engine.Submit, error)
}

// filledMsg is a template that was filled in.
type filledMsg engine.Submit

func (msg filledMsg) apply(m *Model) tea.Cmd {
	m.transcript.Bottom()
	m.opts.Engine.Send(engine.Submit(msg))
	return m.remember(msg.Text)
}

// fill makes a template's prompt and sends it.
func (m *Model) fill(t Template, args string) tea.Cmd {
	return func() tea.Msg {
		prompt, err := t.Expand(context.Background(), args)
		if err != nil {
			return failedMsg{fmt.Errorf("/%s: %w", t.Name, err)}
		}
		return filledMsg(prompt)
	}
}

// command runs a slash command. An unknown one stays in the editor, to be mended.
func (m *Model) command(name, args string) tea.Cmd {
	c, ok := m.find(name)
	if !ok {
		m.refuse("There is no /" + name + "." + m.nearest(name))
		m.editor.Refuse()
		return nil
	}
	m.editor.Clear()
	return c.run(m, args)
}

// nearest names the commands that were perhaps meant.
func (m *Model) nearest(name string) string {
	var names []string
	for _, c := range m.all() {
		names = append(append(names, c.name), c.aliases...)
	}
	near := slip.Near(name, names, 2)
	for i, n := range near {
		near[i] = "/" + n
	}
	if len(near) == 0 {
		return " /help lists the commands"
	}
	return " Did you mean " + strings.Join(near, " or ") + "?"
}

// sources are what the editor completes.
func (m *Model) sources() []editor.Source {
	return []editor.Source{
		{Match: commandAt, List: m.completeCommand},
		{Match: argumentAt, List: m.completeArgument},
		{Match: mentionAt, Ask: m.completeFile},
		{Match: wordAt, Ask: m.completeFile, Asked: true},
	}
}

// commandAt: a slash command's name is being written.
func commandAt(line int, before string) (int, bool) {
	_, _, ok := slash(before)
	return 0, ok && line == 0 && !strings.ContainsRune(before, ' ')
}

func (m *Model) completeCommand(query string) []editor.Candidate {
	all := m.all()
	var found []editor.Candidate
	if c, ok := m.find(query[1:]); ok && "/"+c.name != query { // an alias, in full
		found = append(found, editor.Candidate{Text: query, Detail: c.help, Done: true})
	}
	ranked := fuzzy.Rank(query[1:], len(all), func(i int) string { return all[i].name }, 0)
	if i := slices.IndexFunc(ranked, func(m fuzzy.Match) bool { return all[m.Index].name == query[1:] }); i > 0 { // in full: /mode before /model
		whole := ranked[i]
		ranked = slices.Insert(slices.Delete(ranked, i, i+1), 0, whole)
	}
	for _, match := range ranked {
		c := all[match.Index]
		candidate := editor.Candidate{Text: "/" + c.name, Detail: c.help, Done: true}
		if c.args != "" {
			candidate.Label = "/" + c.name + " " + c.args
			if c.args[0] == '<' { // it does nothing without
				candidate.Text, candidate.Done = candidate.Text+" ", false
			}
		}
		found = append(found, candidate)
	}
	return found
}

// argumentAt: a slash command's arguments are being written.
func argumentAt(line int, before string) (int, bool) {
	_, _, ok := slash(before)
	space := strings.IndexByte(before, ' ')
	return space + 1, ok && line == 0 && space > 0
}

func (m *Model) completeArgument(query string) []editor.Candidate {
	name, _, _ := slash(m.editor.Before())
	c, ok := m.find(name)
	if !ok || c.complete == nil {
		return nil
	}
	all := c.complete(m)
	var found []editor.Candidate
	for _, match := range fuzzy.Rank(query, len(all), func(i int) string { return all[i].Text }, 0) {
		found = append(found, all[match.Index])
	}
	return found
}

// words makes candidates that end a command.
func words(texts ...string) []editor.Candidate {
	candidates := make([]editor.Candidate, len(texts))
	for i, text := range texts {
		candidates[i] = editor.Candidate{Text: text, Done: true}
	}
	return candidates
}
