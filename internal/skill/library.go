package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Library is what was found, each list in the order of names. It does not
// change and may be read from anywhere.
type Library struct {
	Skills    []Skill
	Templates []Template
	Roles     []Profile
	Agents    []Profile
	Rules     []Rule
	Problems  []Problem // in the order in which they were met
}

// Source is where something was found.
type Source struct {
	Path    string // of the file, absolute
	Project bool   // it is of the project, else of the user

	in   folder
	name string // of the file, in the folder
}

// Problem is a file or folder that is there and not used.
type Problem struct {
	Path string
	Err  error // wraps ErrHidden where another one of that name is nearer
}

// ErrHidden is the reason of what is not used because something nearer has the
// same name. Nothing is wrong with it.
var ErrHidden = errors.New("another of that name is nearer")

// String is for people.
func (p Problem) String() string { return p.Path + ": " + p.Err.Error() }

// own is the folder of this program in a project; of a user it is the config
// folder.
const own = ".banyan"

// kinds is what is looked for: in which folder, which may lie where, and how a
// name in it is taken.
var kinds = []struct {
	dir  string
	in   []string // nearest first
	take func(*loader, folder, string)
}{
	{"skills", []string{own, ".agents", ".claude"}, (*loader).skill},
	{"commands", []string{own, ".agents", ".claude"}, (*loader).template},
	{"roles", []string{own, ".agents"}, (*loader).role},
	{"agents", []string{own, ".agents", ".claude"}, (*loader).agent},
	{"rules", []string{own, ".agents"}, (*loader).rule},
}

// Load looks everywhere. It does not fail: what cannot be used is a [Problem].
func Load(w Where) *Library {
	l := loader{Library: &Library{}}
	for _, kind := range kinds {
		l.taken = map[string]taken{}
		for _, f := range w.folders(kind.dir, kind.in) {
			names, err := f.names()
			if err != nil {
				l.problem(f.path("."), err)
			}
			for _, name := range names {
				if !strings.HasPrefix(name, ".") {
					kind.take(&l, f, name)
				}
			}
		}
	}
	slices.SortFunc(l.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.Templates, func(a, b Template) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.Rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	for _, profiles := range [][]Profile{l.Roles, l.Agents} {
		slices.SortFunc(profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	}
	l.tooMany()
	return l.Library
}

// loader is a Library in the making.
type loader struct {
	*Library
	taken map[string]taken // by name, of one kind
}

type taken struct {
	path string
	info fs.FileInfo
}

func (l *loader) problem(path string, err error) {
	l.Problems = append(l.Problems, Problem{path, err})
}

// document is a file that was read: its front matter, and the text below it.
type document struct {
	Source
	front, body string
	info        fs.FileInfo
}

// read reads a file; what goes wrong is a problem, but not that there is none.
func (l *loader) read(f folder, name string) (document, bool) {
	d := document{Source: Source{Path: f.path(name), Project: f.held, in: f, name: name}}
	text, info, err := f.read(name)
	if missing(err) && !dangles(d.Path) {
		return d, false
	}
	if err == nil {
		d.info = info
		d.front, d.body, err = split(text)
	}
	if err != nil {
		l.problem(d.Path, err)
	}
	return d, err == nil
}

// dangles says whether a path is a link to nothing.
func dangles(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// claim says whether a name is still to be had, and takes it.
func (l *loader) claim(name string, d document) bool {
	first, again := l.taken[name]
	if !again {
		l.taken[name] = taken{d.Path, d.info}
		return true
	}
	if !os.SameFile(first.info, d.info) { // not one file under two paths
		l.problem(d.Path, fmt.Errorf("%w: %s", ErrHidden, first.path))
	}
	return false
}

// Faults are the problems of files in which something is wrong.
func (l *Library) Faults() []Problem {
	var faults []Problem
	for _, p := range l.Problems {
		if !errors.Is(p.Err, ErrHidden) {
			faults = append(faults, p)
		}
	}
	return faults
}
