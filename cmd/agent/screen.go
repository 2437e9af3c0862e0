package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/llm/offline"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/vcs"
)

// screen runs the chat in the terminal.
func screen(ctx context.Context, cmd *cobra.Command, e *engine.Engine, s setup, prompt string) error {
	history := config.History{Path: filepath.Join(s.paths.State, "history.jsonl")}
	drafts := config.Drafts{Dir: filepath.Join(s.paths.State, "drafts")}
	trees := config.Drafts{Dir: filepath.Join(s.paths.State, "trees")}
	if s.Model.Provider == offline.Provider && !s.ModelChosen {
		go func() {
			if ref, ok := s.roster.probe(ctx); ok {
				e.Send(engine.PreferModel{Model: session.ModelRef{Provider: ref.Provider, Model: ref.Model}})
			}
		}()
	}
	farewell, err := tui.Run(ctx, tui.Options{
		Engine: e, Version: version(), Cwd: s.Cwd, Prompt: prompt,
		Models:    func(context.Context) ([]tui.Choice, error) { return s.roster.choices(), nil },
		Sessions:  func(context.Context) ([]tui.Session, error) { return sessions(s.paths) },
		Branch:    func(context.Context) string { return vcs.Branch(s.Cwd) },
		History:   history.Read,
		Remember:  history.Add,
		SaveDraft: drafts.Save,
		LoadDraft: drafts.Load,
		SaveTree:  trees.Save,
		LoadTree:  trees.Load,
	})
	fmt.Fprint(cmd.OutOrStdout(), farewell)
	return err
}

// sessions are what /resume shows: those of every folder, newest first.
func sessions(paths config.Paths) ([]tui.Session, error) {
	files, err := session.List(paths.Sessions, "", paths.Cache)
	if err != nil {
		return nil, err
	}
	list := make([]tui.Session, 0, len(files))
	for _, f := range files {
		if f.Err == "" {
			list = append(list, tui.Session{
				Path: f.Path, ID: f.ID, Name: f.Name, First: f.Prompt, Cwd: f.Cwd,
				Modified: f.Modified, Messages: f.Messages,
			})
		}
	}
	return list, nil
}
