package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/agent"
	"banyan/internal/engine"
	"banyan/internal/instructions"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/skill"
	"banyan/internal/tool"
)

// taskPrompt is what the agent of a task is told besides the usual.
const taskPrompt = `Another agent has given you a task. It sees your last answer and nothing else, so put all that was asked for into it: what you found or did, with paths and line numbers, what you did not manage, and nothing about how you went about it. The user can follow you and may say something; nobody else answers questions.`

// giveTasks lets the agent give tasks, as the settings allow.
func (s *setup) giveTasks(cfg *engine.Config) {
	if s.settings.MaxTaskDepth > 0 {
		cfg.Tasks = &engine.Tasks{MaxDepth: s.settings.MaxTaskDepth, MaxParallel: s.settings.MaxParallelTasks, Equip: s.equip}
	}
}

// equip makes what a task works with: tools that start in its folder, in the box
// and on the files of the others, and the instructions, skills and agents that
// hold there.
func (s *setup) equip(_ context.Context, t session.Task, more []tool.Tool) (with engine.Equipment, err error) {
	s.changing.Lock()
	project, library := s.project, s.taught()
	s.changing.Unlock()
	if t.Cwd != s.env.Dir {
		library = skill.Load(s.teachers(project, t.Cwd))
	}
	var profile skill.Profile
	if t.Agent != "" {
		if profile, err = library.Agent(t.Agent); err != nil {
			return with, err
		}
	}
	if err := s.taskModel(&with, t, profile); err != nil {
		return with, err
	}
	env, err := s.env.Below(t.Cwd)
	if err != nil {
		return with, fmt.Errorf("prepare the tools of the task: %w", err)
	}
	with.Tools = chosen(profile.Tools, slices.Concat(tool.All(env), []tool.Tool{skillTool(func() *skill.Library { return library })}, more))
	with.Alone = len(profile.Tools) > 0 && !named(profile.Tools, "task")
	with.Close = env.Close
	told := instructions.New(s.paths.Config, project, t.Cwd)
	files := instructions.Text(told.Files)
	with.Instructions = len(files)
	with.Below = func(path string) string { return instructions.Text(told.Below(path)) }
	parts := []string{agent.SystemPrompt(t.Cwd, time.Now()), taskPrompt, profile.Instructions, files, library.Catalogue()}
	if !with.Alone {
		parts = append(parts, library.Roster())
	}
	with.System = strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
	return with, nil
}

// taskModel finds who works on a task: as the call says, else as the profile does,
// else as the one who gives it.
func (s *setup) taskModel(with *engine.Equipment, t session.Task, profile skill.Profile) error {
	choice := skill.First(skill.Choice{Model: t.Model, Thinking: t.Thinking}, profile.Choice)
	with.Thinking = choice.Thinking
	if choice.Model == "" || s.opts.offline {
		return nil
	}
	ref, err := s.roster.catalog.Load().Resolve(choice.Model)
	if err != nil {
		return fmt.Errorf("the model of the task: %w", err)
	}
	with.Model = session.ModelRef{Provider: ref.Provider, Model: ref.Model}
	if with.Thinking == "" {
		with.Thinking = ref.Thinking
	}
	return nil
}

// chosen are the tools that a profile names; all, if it names none.
func chosen(names []string, tools []tool.Tool) []tool.Tool {
	if len(names) == 0 {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !named(names, t.Name) })
}

// named says whether a tool is among names, which may be those of settings' rules.
func named(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		r, err := permission.ParseRule(permission.Allow, name, permission.Source{})
		return err == nil && r.Names(tool)
	})
}

// readTask opens the session of a task for looking.
func (s *setup) readTask(_ context.Context, path string) (session.Snapshot, func(), error) {
	o := s.Session
	o.ReadOnly = true
	m, err := session.Open(path, o)
	if err != nil {
		return session.Snapshot{}, nil, err
	}
	return m.Snapshot(), func() { m.Close() }, nil
}
