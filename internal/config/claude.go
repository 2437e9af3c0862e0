package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// claudeDir is where Claude Code keeps its settings, in a home and in a project.
const claudeDir = ".claude"

// ClaudeHooks are the hooks of Claude Code's own settings: those of the user, in
// home, and those of a project that is trusted; either may be empty. Nothing else
// of these files is read. A file that turns hooks off does so for its place: for
// the user's, or for the project's.
func ClaudeHooks(home, project string) (hooks []Raw, problems []Problem) {
	if home != "" {
		c := claudeHooks{loader: newLoader(Paths{})}
		path := filepath.Join(home, claudeDir, projectFile)
		c.file(User, path, func() (*os.File, error) { return openPlain(path) })
		hooks, problems = c.on(), c.problems
	}
	if project == "" {
		return hooks, problems
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return hooks, problems // the project's own settings say so
	}
	defer root.Close()
	c := claudeHooks{loader: newLoader(Paths{})}
	for _, at := range projectFiles {
		rel := filepath.Join(claudeDir, at.name)
		c.file(at.scope, filepath.Join(project, rel), func() (*os.File, error) {
			return root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		})
	}
	return append(hooks, c.on()...), append(problems, c.problems...)
}

// claudeHooks are those of one place.
type claudeHooks struct {
	loader
	hooks []Raw
	off   bool
}

func (c *claudeHooks) on() []Raw {
	if c.off {
		return nil
	}
	return c.hooks
}

// file reads one file. That it is not there is no problem.
func (c *claudeHooks) file(scope Scope, path string, open func() (*os.File, error)) {
	from := Source{Scope: scope, File: path}
	d, err := readDocument(open)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.problem(from, "", reason(err).Error()+"; its hooks are not used")
		return
	}
	members, _ := d.members(d.root())
	for _, m := range members {
		from.Line = d.line(m.start)
		switch {
		case m.key == "disableAllHooks" && string(m.value) == "true":
			c.off = true
		case m.key == "hooks" && m.value[0] == '{':
			c.hooks = append(c.hooks, Raw{m.value, from})
		case m.key == "hooks" && string(m.value) != "null":
			c.problem(from, "hooks", "it takes an object, { … }, not "+short(m.value))
		}
	}
}

// readDocument reads one file of settings.
func readDocument(open func() (*os.File, error)) (document, error) {
	f, err := open()
	if err != nil {
		return document{}, err
	}
	text, err := readSmall(f)
	if err != nil {
		return document{}, err
	}
	d, err := parse(text)
	if err == nil && d.json == nil {
		d.json, d.text = json.RawMessage("{}"), []byte("{}")
	}
	return d, err
}

// reason is an error without the path, which stands beside it.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
