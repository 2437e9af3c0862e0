package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Scope is the kind of place that a setting comes from.
type Scope uint8

// The scopes in the order in which they count; later ones have the last word.
const (
	Default Scope = iota
	User          // settings.json in the user's config folder
	Project       // .banyan/settings.json in the project
	Local         // .banyan/settings.local.json in the project
	Flag          // the command line
)

func (s Scope) String() string {
	return [...]string{"default", "user", "project", "local", "flag"}[s]
}

// OfProject: it lies in the project's folder, so that whoever wrote the project
// may have written it.
func (s Scope) OfProject() bool { return s == Project || s == Local }

// Source is where a value comes from.
type Source struct {
	Scope Scope
	File  string // for Flag: the flag, as it is typed; for Default: empty
	Line  int    // counted from 1; 0 for Default and Flag
}

// String is the source for people: "default", "--model", "/home/eva/…/settings.json:12".
func (s Source) String() string {
	switch s.Scope {
	case Default:
		return "default"
	case Flag:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Value is one setting as it counts, for people who ask why.
type Value struct {
	Path    string   // as in the files, with dots
	JSON    string   // compact
	Help    string   // what it is for, in Markdown
	Choices []string // of a text that is one of a few
	Live    bool     // a change counts at once in a chat, not from the next start on
	// Sources is where it comes from: one place, or for lists that add up all
	// places that added to it.
	Sources []Source
}

// Problem is something in the settings that has no effect, and why. It may quote
// the file, which may be a project's: it is not fit for a terminal as it is.
type Problem struct {
	Source Source
	Path   string // of the setting; empty where it is about the file
	Text   string // what is wrong and what is allowed
	// Loosens: something that restricts may be missing, a rule that denies for
	// one. Who runs with nobody to tell should not run.
	Loosens bool
}

func (p Problem) String() string {
	where := p.Source.String()
	if p.Source.Line == 0 && p.Source.Scope != Flag {
		where = p.Source.File
	}
	if p.Path == "" {
		return where + ": " + p.Text
	}
	return where + ": " + p.Path + ": " + p.Text
}

// Override is a setting from the command line.
type Override struct {
	Path  string // as in the files, with dots
	Value any    // as JSON would have it: bool, number, string, []string
	Flag  string // as it is typed, "--model"
}

// UserFile is where the user's settings are.
func (p Paths) UserFile() string { return filepath.Join(p.Config, "settings.json") }

// Names of a project's files, below its root.
const (
	projectDir  = ".banyan"
	projectFile = "settings.json"
	localFile   = "settings.local.json"
)

var projectFiles = []struct {
	scope Scope
	name  string
}{{Project, projectFile}, {Local, localFile}}

// Load reads all settings. project is the root of the project; where it is
// empty or not trusted nothing of it is opened, not even looked for. Whatever is
// wrong is reported and has no effect; the rest counts. Values come in the order
// of the documentation, all of them, defaults too.
func Load(paths Paths, project string, trusted bool, overrides []Override) (Settings, []Value, []Problem) {
	l := newLoader(paths)
	l.file(User, l.userFile, func() (*os.File, error) { return openPlain(l.userFile) })
	if trusted && project != "" {
		l.project(project)
	}
	for _, o := range overrides {
		l.override(o)
	}
	return l.settings, l.values(), l.problems
}

type loader struct {
	settings Settings
	sources  map[string][]Source // by path with the name in it
	problems []Problem
	userFile string
}

func newLoader(paths Paths) loader {
	return loader{settings: Defaults(), sources: map[string][]Source{}, userFile: paths.UserFile()}
}

// project reads a project's files, without following a link that leads out of it.
func (l *loader) project(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.problem(Source{Scope: Project, File: dir}, "", fmt.Sprintf("the project's settings cannot be read: %v", err))
		return
	}
	defer root.Close()
	for _, at := range projectFiles {
		path := filepath.Join(projectDir, at.name)
		l.file(at.scope, filepath.Join(dir, path), func() (*os.File, error) {
			return root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		})
	}
	l.mcpFile(dir, root)
}

// file reads one file. That it is not there is no problem.
func (l *loader) file(scope Scope, name string, open func() (*os.File, error)) {
	from := Source{Scope: scope, File: name}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		var text []byte
		if text, err = readSmall(f); err == nil {
			err = l.text(from, text)
		}
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err // the name stands before it already
		}
		l.problems = append(l.problems, Problem{Source: from, Text: err.Error() + "; nothing of the file is used", Loosens: true})
	}
}

// text takes the settings of one file. The error says why it has none.
func (l *loader) text(from Source, text []byte) error {
	d, err := parse(text)
	if err == nil && d.json != nil {
		l.object(d, from, outline(), place{at: d.root()})
	}
	return err
}

// place is where in a document an object is.
type place struct {
	at   int      // offset of its brace
	path []string // its names from the root
	name string   // what stands for the * of a field, if one was passed
}

// object takes the members of an object in a file. It calls itself for objects
// inside, as deep as the table of fields and no deeper.
func (l *loader) object(d document, from Source, n *node, in place) {
	members, _ := d.members(in.at)
	seen := map[string]bool{}
	counted := in.at // the offset up to which lines are counted in from.Line
	from.Line = d.line(counted)
	for _, m := range members {
		to := place{m.valueStart, append(slices.Clip(in.path), m.key), in.name}
		path := strings.Join(to.path, ".")
		from.Line += bytes.Count(d.text[counted:m.start], []byte("\n"))
		counted = m.start
		if seen[m.key] {
			l.problem(from, path, "it stands here twice; of single values the last one counts")
		}
		seen[m.key] = true
		child := n.below[m.key]
		if wild := n.below["*"]; wild != nil {
			child, to.name = wild, m.key
		}
		switch {
		case path == "$schema": // for editors
		case child == nil:
			l.problem(from, path, "there is no such setting"+unknown(n, m.key))
		case string(m.value) == "null": // not set
		case child.leaf != nil:
			l.set(*child.leaf, to.name, m.value, from)
		case m.value[0] != '{':
			l.problem(from, path, fmt.Sprintf("it takes an object, { … }, not %s", short(m.value)))
		default:
			l.object(d, from, child, to)
		}
	}
}

// set puts one value where it belongs.
func (l *loader) set(f field, name string, value []byte, from Source) {
	path := f.named(name)
	if from.Scope.OfProject() && f.project == never {
		l.problem(from, path, "a project may not set this; it is yours to set, in "+l.userFile)
		return
	}
	put, err := f.put(&l.settings, name, value, from)
	if err != nil {
		l.problems = append(l.problems, Problem{from, path, err.Error(), f.project.restricts() && !errors.Is(err, errLooser)})
	}
	if !put {
		return
	}
	if f.addsUp() {
		l.sources[path] = append(l.sources[path], from)
	} else {
		l.sources[path] = []Source{from}
	}
}

func (l *loader) override(o Override) {
	from := Source{Scope: Flag, File: o.Flag}
	f, name, ok := match(o.Path)
	if !ok {
		l.problem(from, o.Path, "there is no such setting")
		return
	}
	if o.Value == nil {
		return // not set
	}
	value, err := json.Marshal(o.Value)
	if err != nil {
		l.problem(from, o.Path, err.Error())
		return
	}
	l.set(f, name, value, from)
}

func (l *loader) problem(from Source, path, text string) {
	l.problems = append(l.problems, Problem{Source: from, Path: path, Text: text})
}

// values lists all settings, those with a * once for each name that is set.
func (l *loader) values() []Value {
	var list []Value
	for _, f := range fields {
		names := []string{""}
		if strings.Contains(f.path, "*") {
			names = l.names(f)
		}
		for _, name := range names {
			path := f.named(name)
			v := Value{Path: path, JSON: f.json(&l.settings, name), Help: f.help, Choices: f.choices, Live: f.live, Sources: l.sources[path]}
			if len(v.Sources) == 0 {
				v.Sources = []Source{{Scope: Default}}
			}
			list = append(list, v)
		}
	}
	return list
}

// names are what stands for a field's * where it is set, sorted.
func (l *loader) names(f field) []string {
	var names []string
	for path := range l.sources {
		if g, name, ok := match(path); ok && g.path == f.path {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// json is the setting's value as it would stand in a file.
func (f field) json(s *Settings, name string) string {
	var v any
	switch at := f.at(s, name).(type) {
	case keysOf:
		v = at.all[at.id]
	case *[]Rule:
		texts := []string{}
		for _, r := range *at {
			texts = append(texts, r.Text)
		}
		v = texts
	case *[]Raw:
		objects := make([]json.RawMessage, len(*at))
		for i, r := range *at {
			objects[i] = r.JSON
		}
		v = objects
	case *[]string:
		v = append([]string{}, *at...)
	case serverOf:
		v = at.shown()
	default:
		v = at
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "null" // texts, numbers and booleans always encode
	}
	return string(text)
}

// node is the table of fields as a tree of names. A * has nothing beside it.
type node struct {
	below map[string]*node
	leaf  *field
}

func outline() *node {
	root := &node{}
	for _, f := range fields {
		at := root
		for name := range strings.SplitSeq(f.path, ".") {
			if at.below == nil {
				at.below = map[string]*node{}
			}
			if at.below[name] == nil {
				at.below[name] = &node{}
			}
			at = at.below[name]
		}
		at.leaf = &f
	}
	return root
}

// unknown ends the report about a name that is not known: the nearest name
// beside it, else the place of a setting that is called so.
func unknown(n *node, key string) string {
	var beside []string
	for name := range n.below {
		beside = append(beside, name)
	}
	slices.Sort(beside)
	if s := suggest(key, beside); s != "" {
		return s
	}
	for _, f := range fields {
		last := f.path[strings.LastIndexByte(f.path, '.')+1:]
		if f.path == key || last == key {
			return fmt.Sprintf("; did you mean %s?", nested(f.path))
		}
	}
	return ""
}

// nested writes a path as it stands in a file.
func nested(path string) string {
	names := strings.Split(path, ".")
	return `{"` + strings.Join(names, `": {"`) + `": …` + strings.Repeat("}", len(names))
}
