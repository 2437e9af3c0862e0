package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/hook"
	"banyan/internal/permission"
	"banyan/internal/tui"
)

// hookFiles are the values of "hooks" in all files of settings, with where they
// stand; nil where they are turned off.
func (s *setup) hookFiles() (files []hookFile, problems []string) {
	if s.settings.DisableAllHooks {
		return nil, nil
	}
	for _, raw := range s.settings.Hooks {
		project := raw.Source.Scope.OfProject()
		files = append(files, hookFile{raw.JSON, hook.Source{File: raw.Source.File, Asks: project, Project: project}})
	}
	home, _ := os.UserHomeDir() // without one there is nothing in it
	others, wrong := config.ClaudeHooks(home, s.project)
	for _, raw := range others {
		files = append(files, hookFile{raw.JSON, hook.Source{File: raw.Source.File, Asks: true, Others: true, Project: raw.Source.Scope.OfProject()}})
	}
	for _, p := range wrong {
		problems = append(problems, p.String())
	}
	return files, problems
}

type hookFile struct {
	json   []byte
	source hook.Source
}

// findHooks reads the hooks of all settings that count. It says what is to be
// known of them in one line.
func (s *setup) findHooks() (r *hook.Runner, notices []engine.Notice) {
	files, problems := s.hookFiles()
	var hooks []hook.Hook
	mistakes := len(problems)
	for _, f := range files {
		found, wrong := hook.Parse(f.json, f.source)
		hooks = append(hooks, found...)
		for _, p := range wrong {
			problems = append(problems, p.String())
			if !p.Source.Others {
				mistakes++
			}
		}
	}
	r = hook.New(hook.Config{
		Dir: s.Cwd, Project: s.project, PassEnv: s.settings.ShellEnv, Trust: s.trust(), Meets: meets(s.workspace, s.project), Now: time.Now,
	}, hooks)
	s.hookProblems = problems
	var said []string
	if n := len(r.Waiting()); n > 0 {
		said = append(said, fmt.Sprintf("hooks that wait for your approval and do not run: %d", n))
	}
	if mistakes > 0 {
		said = append(said, fmt.Sprintf("hooks that are not used, because something is wrong with them: %d", mistakes))
	}
	if len(said) == 0 {
		return r, nil
	}
	return r, []engine.Notice{{Level: engine.Note, Text: "There are " + strings.Join(said, "; ") + ". /hooks shows them."}}
}

// meets makes the test whether a permission rule is about a call, for the "if" of
// hooks.
func meets(w permission.Workspace, project string) func(rule, tool string, args json.RawMessage) (bool, error) {
	return func(text, tool string, args json.RawMessage) (bool, error) {
		rule, err := permission.ParseRule(permission.Deny, text, permission.Source{Name: "a hook", Base: project})
		if err != nil {
			return false, err
		}
		return permission.About(w, rule, permission.Call{Tool: tool, Args: args}), nil
	}
}

// listHooks are what /hooks shows.
func (s *setup) listHooks(context.Context) ([]tui.Item, error) {
	r := s.hooks.Runner()
	var items []tui.Item
	for _, h := range r.List() {
		items = append(items, hookItem(r, h))
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, p := range s.hookProblems {
		items = append(items, tui.Item{Title: "not used", Detail: p, Text: p})
	}
	return items, nil
}

func hookItem(r *hook.Runner, h hook.State) tui.Item {
	state, deeds := hookState(r, h)
	title := h.Event
	if h.Matcher != "" {
		title += " " + h.Matcher
	}
	text := []string{strings.TrimRight(h.Text, "\n"), "from " + h.Source.File, state}
	if h.Runs > 0 {
		text = append(text, fmt.Sprintf("runs: %d, the last at %s, %v: %s", h.Runs, h.Last.Format(time.TimeOnly), h.Took.Round(time.Millisecond), h.Said))
		state = h.Said
	}
	if h.Approval.Before != "" {
		text = append(text, "", "It was approved as", h.Approval.Before)
	}
	command := strings.Join(append([]string{h.Command}, h.Args...), " ")
	return tui.Item{Title: title, Detail: state + " · " + command + " · " + h.Source.File, Text: strings.Join(text, "\n"), Deeds: deeds}
}

// hookState says whether a hook may run, and what can be done about it.
func hookState(r *hook.Runner, h hook.State) (string, []tui.Deed) {
	approve := tui.Deed{Text: "Approve it", Detail: "it runs from now on, until it changes", Do: func(context.Context) (string, error) {
		return "Approved: " + h.Command, r.Approve(h)
	}}
	switch {
	case h.Err != nil:
		return "not run: " + h.Err.Error(), nil
	case h.Approval.OK && !h.Source.Asks:
		return "runs: it is yours", nil
	case h.Approval.OK:
		return "runs: you approved it", []tui.Deed{{Text: "Take the approval back", Do: func(context.Context) (string, error) {
			return "It does not run any more: " + h.Command, r.Revoke(h)
		}}}
	case h.Approval.Changed:
		return "changed since you approved it: does not run", []tui.Deed{approve}
	}
	return "waits for your approval: does not run", []tui.Deed{approve}
}
