package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/extension"
	"banyan/internal/tool"
	"banyan/internal/tui"
)

// extensionKind is what extensions are in the store of approvals.
const extensionKind = "extension"

// hostExtensions makes the host of extensions, unless they are turned off. None
// runs before beginExtensions.
func (s *setup) hostExtensions() error {
	flags, err := extensionFlags(s.opts.extensionFlags)
	if err != nil || s.opts.noExtensions {
		return err
	}
	for _, path := range s.opts.extensions { // what was asked for by name must be there
		if _, err := extension.File(path, ""); err != nil {
			return usageError{err}
		}
	}
	s.host = extension.New(extension.Options{
		Version: version(), Cwd: s.Cwd, Interactive: !s.opts.print && !s.opts.reader,
		Env: tool.Environ(s.settings.ShellEnv, nil), Flags: flags, Allowed: s.extensionAllowed,
	})
	return nil
}

// extensionFlags reads NAME.FLAG=VALUE.
func extensionFlags(texts []string) (map[string]map[string]string, error) {
	flags := map[string]map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		of, flag, dotted := strings.Cut(name, ".")
		if !ok || !dotted || of == "" || flag == "" {
			return nil, usagef("--extension-flag %s: write extension.flag=value", text)
		}
		if flags[of] == nil {
			flags[of] = map[string]string{}
		}
		flags[of][flag] = value
	}
	return flags, nil
}

// withExtensions are hooks, with extensions before them: hooks of settings judge
// what extensions have made of a call.
func (s *setup) withExtensions(hooks engine.Hooks) engine.Hooks {
	if s.host == nil {
		return hooks
	}
	return engine.Chain{Links: []engine.Hooks{s.host, hooks}, Failed: func(o engine.Occasion, err error) {
		s.host.Notice(engine.Notice{Level: engine.Warning, Text: fmt.Sprintf("%s: %v", o.Name(), err)})
	}}
}

// beginExtensions starts the extensions beside the engine.
func (s *setup) beginExtensions(e *engine.Engine) {
	if s.host == nil {
		return
	}
	found, faults := s.findExtensions()
	s.host.Start(e, found)
	for _, err := range faults {
		e.Send(engine.Notice{Level: engine.Warning, Text: err.Error()})
	}
}

// findExtensions looks for extensions in the order in which they are loaded: of
// the user's folder, of the settings, of the project if it is trusted, of flags.
func (s *setup) findExtensions() (found []extension.Found, faults []error) {
	found, faults = extension.Folder(filepath.Join(s.paths.Config, "extensions"), "")
	file := func(path, from string) {
		f, err := extension.File(path, "")
		if err != nil {
			faults = append(faults, err)
			return
		}
		f.From = from
		found = append(found, f)
	}
	for _, path := range s.settings.Extensions {
		file(s.userPath(path), "settings")
	}
	if s.project != "" {
		own, wrong := extension.Folder(filepath.Join(s.project, ".banyan", "extensions"), s.project)
		found, faults = append(found, own...), append(faults, wrong...)
	}
	for _, path := range s.opts.extensions {
		file(path, "--extension")
	}
	return found, faults
}

// userPath is a path of the user's settings: relative ones begin at the folder of
// the settings.
func (s *setup) userPath(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			return filepath.Join(home, below)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.paths.Config, path)
}

// extensionAllowed says whether an extension may be started: one of a project
// only as the user has approved it.
func (s *setup) extensionAllowed(f extension.Found) error {
	if f.Project == "" {
		return nil
	}
	item, err := extensionItem(f)
	if err != nil {
		return err
	}
	a, err := s.trust().Approved(item)
	switch {
	case err != nil:
		return err
	case a.Changed:
		return errors.New("it has changed since you approved it")
	case !a.OK:
		return errors.New("it waits for your approval")
	}
	return nil
}

// mostFiles is how many files an extension of a project may be made of.
const mostFiles = 1000

// extensionItem is a project's extension as it is approved: all of its files.
func extensionItem(f extension.Found) (config.Item, error) {
	rel, err := filepath.Rel(f.Project, f.Path)
	if err != nil {
		return config.Item{}, err
	}
	files := []string{rel}
	if dir := filepath.Dir(f.Path); filepath.Base(dir) != "extensions" { // a folder of its own
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if len(files) > mostFiles {
				return fmt.Errorf("the extension %s has more than %d files", f.Name, mostFiles)
			}
			if rel, err := filepath.Rel(f.Project, path); err == nil {
				files = append(files, rel)
			}
			return nil
		})
	}
	return config.Item{
		Kind: extensionKind, Folder: f.Project, Name: f.Name,
		Text: fmt.Sprintf("runs %q\n%s", filepath.ToSlash(rel), config.FilesNamed(f.Project, files...)),
	}, err
}

// listExtensions are what /extensions shows.
func (s *setup) listExtensions(context.Context) ([]tui.Item, error) {
	var items []tui.Item
	for _, i := range s.host.List() {
		items = append(items, s.extensionEntry(i))
	}
	return items, nil
}

func (s *setup) extensionEntry(i extension.Info) tui.Item {
	state := string(i.State)
	if i.Why != "" {
		state += ": " + i.Why
	}
	about := []string{i.About.Description, "", state, "from " + i.From, "runs " + i.Path}
	if i.About.Version != "" {
		about = append(about, "version "+i.About.Version)
	}
	names := func(what string, list []string) {
		if len(list) > 0 {
			about = append(about, what+" "+strings.Join(list, ", "))
		}
	}
	names("hears", i.About.Events)
	names("tools", each(i.About.Tools, func(t extension.ToolSpec) string { return t.Name }))
	names("commands", each(i.About.Commands, func(c extension.CommandSpec) string { return "/" + c.Name }))
	names("keys", each(i.About.Keys, func(k extension.KeySpec) string { return k.Key }))
	names("flags", each(i.About.Flags, func(f extension.FlagSpec) string { return f.Name + " (" + f.Description + ")" }))
	if item, err := extensionItem(i.Found); err == nil && i.Project != "" {
		about = append(about, "", "What is approved:", item.Text)
	}
	if i.Messages != "" {
		about = append(about, "", "It wrote to standard error:", i.Messages)
	}
	detail := state
	if i.About.Description != "" {
		detail += " · " + i.About.Description
	}
	return tui.Item{Title: i.Name, Detail: detail + " · " + i.From, Text: strings.Join(about, "\n"), Deeds: s.extensionDeeds(i)}
}

func each[T any](list []T, text func(T) string) (texts []string) {
	for _, item := range list {
		texts = append(texts, text(item))
	}
	return texts
}

// extensionDeeds are what can be done with an extension as it is.
func (s *setup) extensionDeeds(i extension.Info) []tui.Deed {
	say := func(err error, done string) (string, error) { return i.Name + " " + done, err }
	restart := tui.Deed{Text: "Restart it", Do: func(context.Context) (string, error) {
		return say(s.host.Restart(i.Name), "is started")
	}}
	disable := tui.Deed{Text: "End it", Detail: "for as long as this program runs", Do: func(context.Context) (string, error) {
		return say(s.host.Disable(i.Name), "is ended")
	}}
	if i.Project == "" {
		if i.State == extension.Running {
			return []tui.Deed{restart, disable}
		}
		return []tui.Deed{restart}
	}
	revoke := tui.Deed{Text: "Take the approval back", Do: func(context.Context) (string, error) {
		return say(errors.Join(s.trust().RevokeItem(extensionKind, i.Project, i.Name), s.host.Disable(i.Name)), "is not approved any more")
	}}
	if s.extensionAllowed(i.Found) != nil {
		return []tui.Deed{{Text: "Approve it as it is now, and start it", Detail: i.Path, Do: func(context.Context) (string, error) { return s.approveExtension(i) }}}
	}
	return slices.Concat([]tui.Deed{restart, disable}, []tui.Deed{revoke})
}

func (s *setup) approveExtension(i extension.Info) (string, error) {
	err := s.approveFiles(i.Found)
	if err == nil {
		err = s.host.Restart(i.Name)
	}
	return i.Name + " is approved until it changes", err
}

// approveFiles approves an extension of a project as it is now.
func (s *setup) approveFiles(f extension.Found) error {
	item, err := extensionItem(f)
	if err != nil {
		return err
	}
	return s.trust().Approve(item)
}
