package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"banyan/internal/clipboard"
	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/offline"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/termcap"
	"banyan/internal/vcs"
)

// screen runs the chat in the terminal.
func screen(ctx context.Context, cmd *cobra.Command, e *engine.Engine, s *setup, prompt string) error {
	s.preferLocal(ctx, e)
	o := s.screenOptions(e)
	o.Prompt = prompt
	if s.opts.resume {
		o.Prompt = strings.TrimSpace("/resume " + prompt)
	}
	farewell, err := tui.Run(ctx, o)
	fmt.Fprint(cmd.OutOrStdout(), farewell)
	return err
}

// preferLocal looks beside the chat for a model that runs on this machine, if
// there is none but the embedded one.
func (s *setup) preferLocal(ctx context.Context, e *engine.Engine) {
	if s.Model.Provider != offline.Provider || s.ModelChosen {
		return
	}
	go func() {
		if ref, ok := s.roster.probe(ctx); ok {
			e.Send(engine.PreferModel{Model: session.ModelRef{Provider: ref.Provider, Model: ref.Model}})
		}
	}()
}

// screenOptions are what the screen needs of the world, as functions that run
// beside it.
func (s *setup) screenOptions(e *engine.Engine) tui.Options {
	history := config.History{Path: filepath.Join(s.paths.State, "history.jsonl")}
	drafts := config.Drafts{Dir: filepath.Join(s.paths.State, "drafts")}
	extensions := s.listExtensions
	if s.host == nil {
		extensions = nil
	}
	trees := config.Drafts{Dir: filepath.Join(s.paths.State, "trees")}

	shelf := shelf{s.Session.Store, s.paths}
	return tui.Options{
		Engine: e, Version: version(), Cwd: s.Cwd,
		Preferences: preferences(s.settings),

		Models:        func(context.Context) ([]tui.Choice, error) { return s.roster.choices(), nil },
		Sessions:      func(context.Context) ([]tui.Session, error) { return shelf.sessions() },
		Files:         s.files,
		Branch:        func(context.Context) string { return branchOf(s.Cwd) },
		Image:         clipboardImage,
		Copy:          clipboard.TextWriter(),
		DeleteSession: func(_ context.Context, path string) error { return shelf.trash(path) },
		RenameSession: func(_ context.Context, path, name string) error { return shelf.rename(path, name) },
		Preview:       func(_ context.Context, path string) ([]tui.Said, error) { return shelf.preview(path) },
		Search:        shelf.search,
		Import: func(_ context.Context, file string) (string, error) {
			return shelf.take(s.SessionDir, s.Cwd, file)
		},
		ReadTask:    s.readTask,
		Settings:    s.listSettings,
		SaveSetting: s.saveSetting,
		Providers:   s.roster.providers,
		Login:       s.roster.login,
		Logout:      s.roster.logout,
		Trust:       func(context.Context) (string, error) { return s.trustFolder(e) },
		Doctor: func(ctx context.Context, caps termcap.Caps) ([]tui.Finding, error) {
			return examine(ctx, s.opts, caps)
		},

		Sandbox: func(context.Context) ([]tui.Fact, error) { return s.sandboxFacts(), nil },

		Templates: s.templates,
		Mentions:  s.mentions,
		Hooks:     s.listHooks,
		Rules:     s.ruleFacts(e),
		Servers:   func(context.Context) ([]tui.Item, error) { return s.listServers(e) },
		Skills:    func(context.Context) ([]tui.Fact, error) { return s.skillFacts(e), nil },
		Agents:    func(context.Context) ([]tui.Fact, error) { return profileFacts(s.lookAgain(e).Agents), nil },
		Roles:     func() []tui.Fact { return profileFacts(s.taught().Roles) },
		SetRole:   func(_ context.Context, name string) (string, error) { return s.setRole(e, name) },

		History: history.Read, Remember: history.Add,
		SaveDraft: drafts.Save, LoadDraft: drafts.Load,
		SaveTree: trees.Save, LoadTree: trees.Load,

		Extensions: extensions,
	}
}

// branchOf is the checked-out branch, with a mark where tracked files have
// changed. It runs nothing.
func branchOf(dir string) string {
	branch := vcs.Branch(dir)
	if branch != "" && vcs.Dirty(dir) {
		branch += "*"
	}
	return branch
}

// preferences are what settings say of the screen.
func preferences(set config.Settings) tui.Preferences {
	return tui.Preferences{
		Theme: themeName(set.Theme), Keys: set.Keys, DoubleEscape: set.DoubleEscapeAction,
		Vi: set.Vim, NoMouse: !set.Mouse, NoTitle: !set.Title, NoProgress: set.ReducedMotion, Images: set.Images,
		Notify: notifyWay(set.Notifications, os.Getenv), TreeFilter: set.TreeFilter, SummaryPrompt: set.BranchSummary.Prompt,
	}
}

// themeName is a theme's name or file; empty lets the screen look at the terminal.
func themeName(set string) string {
	if set == "auto" {
		return ""
	}
	return set
}

// notifyWay is how this terminal is asked to tell the user something.
func notifyWay(set string, env func(string) string) string {
	switch {
	case set == "off":
		return ""
	case set != "auto":
		return set
	case env("KITTY_WINDOW_ID") != "":
		return "osc99"
	case env("TERM_PROGRAM") == "iTerm.app", env("TERM_PROGRAM") == "WezTerm", env("TERM_PROGRAM") == "ghostty":
		return "osc9"
	}
	return "bell"
}

// listSettings are the settings as they would count if the program began now,
// with where they come from.
func (s *setup) listSettings(context.Context) ([]tui.Setting, error) {
	_, values := s.settingsNow()
	list := make([]tui.Setting, len(values))
	for i, v := range values {
		var from []string
		for _, src := range v.Sources {
			from = append(from, src.String())
		}
		list[i] = tui.Setting{Name: v.Path, Value: v.JSON, From: strings.Join(from, ", "), Help: v.Help, Choices: choices(v), Live: v.Live}
	}
	return list, nil
}

// settingsNow are the settings as they would count if the program began now.
func (s *setup) settingsNow() (config.Settings, []config.Value) {
	s.changing.Lock()
	project := s.project
	s.changing.Unlock()
	settings, values, _ := config.Load(s.paths, project, project != "", s.opts.overrides())
	return settings, values
}

// choices are what a setting may be, if that can be listed.
func choices(v config.Value) []string {
	if v.JSON == "true" || v.JSON == "false" {
		return []string{"true", "false"}
	}
	return v.Choices
}

// saveSetting writes one of the user's settings, and gives what the screen goes by now.
func (s *setup) saveSetting(_ context.Context, name, value string) (tui.Preferences, error) {
	if err := saveSetting(s.paths.UserFile(), name, value); err != nil {
		return tui.Preferences{}, err
	}
	settings, _ := s.settingsNow()
	return preferences(settings), nil
}

// saveSetting writes a setting into a file of settings; an empty value takes it
// out. What is not JSON is meant as a text.
func saveSetting(file, name, value string) error {
	var v any
	if value != "" && json.Unmarshal([]byte(value), &v) != nil {
		v = value
	}
	return config.Set(file, name, v)
}

// clipboardImage is the picture on the clipboard.
func clipboardImage(ctx context.Context) (llm.Image, error) {
	data, mime, err := clipboard.ReadImage(ctx)
	if err != nil {
		return llm.Image{}, err
	}
	return llm.Image{Data: base64.StdEncoding.EncodeToString(data), MIME: mime}, nil
}

// trustFolder lets this folder's own settings and instructions count, from now on.
func (s *setup) trustFolder(e *engine.Engine) (string, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	trust := s.paths.Trust()
	folder, err := trust.Candidate(s.Cwd)
	if err != nil {
		return "", err
	}
	if err := trust.Grant(folder); err != nil {
		return "", err
	}
	s.Notices = nil
	if err := s.readSettings(); err != nil {
		return "", err
	}
	if s.host != nil {
		found, _ := s.findExtensions()
		s.host.Update(found)
	}
	rules, err := s.rules()
	if err != nil {
		return "", err
	}
	s.findSkills()
	e.Send(s.reconfigured(append(rules, s.skillRules()...)...))
	runner, said := s.findHooks()
	s.hooks.Exchange(runner)
	for _, n := range said {
		e.Send(n)
	}
	if err := s.startServers(); err != nil {
		return "", err
	}
	return folder + " is trusted from now on: its instructions, skills and rules count.", nil
}

// sessions are what /resume shows: those of every folder, newest first.
func (s shelf) sessions() ([]tui.Session, error) {
	files, err := session.List(s.store, "", s.paths.Cache)
	if err != nil {
		return nil, err
	}
	list := make([]tui.Session, 0, len(files))
	for _, f := range files {
		if f.Err == "" {
			list = append(list, tui.Session{
				Path: f.Path, ID: f.ID, Name: f.Name, First: f.Prompt, Cwd: f.Cwd,
				Modified: f.Modified, Messages: f.Messages, Branches: f.Branches, Tasks: f.Tasks, Parent: f.Parent,
			})
		}
	}
	return list, nil
}
