package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Skill is what to do in a kind of work.
type Skill struct {
	Source
	Name        string // lower-case letters, digits and single hyphens
	Description string // one line: what it does, and when to use it
	// Dir is the skill's folder, absolute and without links, with the files that
	// it brings along. Empty for a skill that is a file only.
	Dir string
	// UserOnly: models are not told of it; the user calls it by name.
	UserOnly bool
	// ModelOnly: it is no command of the user's.
	ModelOnly bool
}

// skillFront is the front matter of a skill. "license" and "metadata" are for
// people; "allowed-tools" would allow something, which is not a file's to do.
type skillFront struct {
	Name          string `yaml:"name"`
	Description   string `yaml:"description"`
	Compatibility string `yaml:"compatibility"`
	UserOnly      bool   `yaml:"disable-model-invocation"`
	UserInvocable *bool  `yaml:"user-invocable"`
}

// Lengths that the format sets, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// skill takes <name>/SKILL.md, or <name>.md.
func (l *loader) skill(f folder, name string) {
	file, called := filepath.Join(name, "SKILL.md"), name
	if bare, ok := strings.CutSuffix(name, ".md"); ok {
		if strings.EqualFold(bare, "README") {
			return
		}
		file, called = name, bare
	}
	d, ok := l.read(f, file)
	if !ok {
		return
	}
	var front skillFront
	err := decode(d.front, &front)
	if err == nil {
		err = front.check(called)
	}
	if err == nil && d.body == "" {
		err = errors.New("it says nothing below its front matter")
	}
	if err != nil {
		l.problem(d.Path, err)
		return
	}
	if !l.claim(called, d) {
		return
	}
	s := Skill{
		Source: d.Source, Name: called, Description: line(front.Description),
		UserOnly: front.UserOnly, ModelOnly: front.UserInvocable != nil && !*front.UserInvocable,
	}
	if file != name {
		if s.Dir, err = filepath.EvalSymlinks(f.path(name)); err != nil {
			l.problem(d.Path, reason(err))
			return
		}
	}
	l.Skills = append(l.Skills, s)
}

// check applies the rules of the format. A name that is not said is that of the
// folder, which it would have to be.
func (s skillFront) check(called string) error {
	name := s.Name
	if name == "" {
		name = called
	}
	switch {
	case !skillName.MatchString(name) || len(name) > maxName:
		return fmt.Errorf("the name %q is not allowed: it must have lower-case letters, digits and single hyphens between them only, at most %d", cut(name, maxName+1), maxName)
	case name != called:
		return fmt.Errorf("its name is %q, but its folder or file is called %q: they must be the same", name, called)
	case strings.TrimSpace(s.Description) == "":
		return errors.New("it has no description, so nobody can know when to use it")
	case utf8.RuneCountInString(s.Description) > maxDescription:
		return fmt.Errorf("its description is longer than %d characters", maxDescription)
	case utf8.RuneCountInString(s.Compatibility) > maxCompatibility:
		return fmt.Errorf("its compatibility is longer than %d characters", maxCompatibility)
	}
	return nil
}

// Skill finds a skill. The error names those that there are.
func (l *Library) Skill(name string) (Skill, error) {
	var names []string
	for _, s := range l.Skills {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if names == nil {
		return Skill{}, fmt.Errorf("there is no skill %q, and no other one", name)
	}
	return Skill{}, fmt.Errorf("there is no skill %q; there are %s", name, strings.Join(names, ", "))
}

// Places are the folders, and single files, that belong to skills: absolute,
// without links. Models are pointed to them, so they must be able to read them.
func (l *Library) Places() []string {
	var places []string
	for _, s := range l.Skills {
		if s.Dir != "" {
			places = append(places, s.Dir)
		} else if real, err := filepath.EvalSymlinks(s.Path); err == nil {
			places = append(places, real)
		}
	}
	return places
}

// maxBundled is how many of a skill's files are named.
const maxBundled = 50

// Text is a skill as a model is given it: what its file says now, and which
// files it brings along. It is the same to the byte until one of these changes,
// by which it can be known that it was given before.
func (s Skill) Text() (string, error) {
	text, _, err := s.in.read(s.name)
	if err != nil {
		return "", fmt.Errorf("reading the skill %s in %s: %w", s.Name, s.Path, err)
	}
	_, body, err := split(text)
	if err != nil {
		return "", fmt.Errorf("reading the skill %s in %s: %w", s.Name, s.Path, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<skill name=%q path=%q>\n%s\n", s.Name, s.Path, strings.ReplaceAll(body, "</skill>", `<\/skill>`))
	if s.Dir != "" {
		fmt.Fprintf(&b, "\n[The folder of this skill is %s; paths in it are relative to that.", s.Dir)
		if files, more := s.bundled(); len(files) > 0 {
			fmt.Fprintf(&b, " It holds %s", strings.Join(files, ", "))
			if more {
				b.WriteString(" and more")
			}
			b.WriteString(". Read what you need of it.")
		}
		b.WriteString("]\n")
	}
	b.WriteString("</skill>")
	return b.String(), nil
}

// bundled are the files beside SKILL.md, relative to the skill's folder.
func (s Skill) bundled() (files []string, more bool) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		hidden := path != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules")
		switch {
		case e != nil && e.IsDir() && (err != nil || hidden):
			return fs.SkipDir
		case err != nil || hidden || !e.Type().IsRegular() || path == "SKILL.md":
			return nil
		case len(files) == maxBundled:
			more = true
			return fs.SkipAll
		}
		files = append(files, fmt.Sprintf("%q", path))
		return nil
	})
	return files, more
}

// Catalogue is what a system prompt says of skills; empty if models have none.
func (l *Library) Catalogue() string {
	listed, _ := l.listed()
	if len(listed) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(catalogueHead)
	for _, s := range listed {
		b.WriteString(s.item())
	}
	b.WriteString("</skills>")
	return b.String()
}

const catalogueHead = `Skills are instructions that the user or the project has written for certain kinds of work. When a task fits one of those below, call the skill tool with its name before you begin, and do as its text says. A text that stands in the conversation need not be asked for again; one that a summary took the place of may be. Where the user writes /skill:name, its text follows that message or stands before it.

<skills>
`

func (s Skill) item() string { return "- " + s.Name + ": " + s.Description + "\n" }

// listed are the skills that models are told of, as many as there is room for,
// and how many there was no room for.
func (l *Library) listed() (listed []Skill, left int) {
	room := MaxListed
	for _, s := range l.Skills {
		if s.UserOnly {
			continue
		}
		if room -= len(s.item()); room < 0 {
			left++
			continue
		}
		listed = append(listed, s)
	}
	return listed, left
}

// tooMany reports skills that models will not be told of.
func (l *loader) tooMany() {
	if _, left := l.listed(); left > 0 {
		l.problem("skills", fmt.Errorf("%d are not told to models, because the others fill the %d KB that there are for them; they can still be called by name", left, MaxListed>>10))
	}
}
