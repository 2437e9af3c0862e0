package skill

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Profile is who an agent is to be: a role of the one that the user talks to, or
// one that tasks are given to.
type Profile struct {
	Source
	Choice
	Name         string
	Description  string   // one line; may be empty
	Tools        []string // that it may use, as they are named in the file; nil: all
	Instructions string   // for its system prompt
}

// Choice is which model answers and how much it thinks. What is empty is left to
// others.
type Choice struct {
	Model    string // as it is written in settings
	Thinking llm.ThinkingLevel
}

// First is what the first of some choices says that says anything, of each of
// their fields. The order of those that there are is: the call (a flag), the
// role, the session, the settings.
func First(choices ...Choice) Choice {
	var first Choice
	for _, c := range choices {
		first.Model = cmp.Or(first.Model, c.Model)
		first.Thinking = cmp.Or(first.Thinking, c.Thinking)
	}
	return first
}

// profileFront takes the spellings of the programs that have such files.
type profileFront struct {
	Name        string            `yaml:"name"`
	Description string            `yaml:"description"`
	Model       string            `yaml:"model"`
	Thinking    llm.ThinkingLevel `yaml:"thinking"`
	Level       llm.ThinkingLevel `yaml:"thinkingLevel"`
	SnakeLevel  llm.ThinkingLevel `yaml:"thinking_level"`
	Tools       words             `yaml:"tools"`
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (l *loader) role(f folder, file string) {
	if p, ok := l.profile(f, file); ok {
		l.Roles = append(l.Roles, p)
	}
}

func (l *loader) agent(f folder, file string) {
	if p, ok := l.profile(f, file); ok {
		l.Agents = append(l.Agents, p)
	}
}

// profile takes <name>.md.
func (l *loader) profile(f folder, file string) (Profile, bool) {
	name, ok := strings.CutSuffix(file, ".md")
	if !ok || strings.EqualFold(name, "README") {
		return Profile{}, false
	}
	d, ok := l.read(f, file)
	if !ok {
		return Profile{}, false
	}
	var front profileFront
	err := decode(d.front, &front)
	p := Profile{
		Source: d.Source, Name: cmp.Or(front.Name, name), Description: line(front.Description),
		Choice: Choice{Model: strings.TrimSpace(front.Model), Thinking: cmp.Or(front.Thinking, front.Level, front.SnakeLevel)},
		Tools:  front.Tools, Instructions: d.body,
	}
	if p.Model == "inherit" { // Claude Code's word for none
		p.Model = ""
	}
	switch {
	case err != nil:
	case !profileName.MatchString(p.Name):
		err = fmt.Errorf("the name %q is not allowed: it must have letters, digits, -, _ and . only", cut(p.Name, maxName+1))
	case p.Thinking != "" && !slices.Contains(llm.ThinkingLevels, p.Thinking):
		err = fmt.Errorf("there is no thinking level %q; there are %v", cut(string(p.Thinking), maxName), llm.ThinkingLevels)
	case p.Instructions == "":
		err = errors.New("it says nothing below its front matter")
	}
	if err != nil {
		l.problem(d.Path, err)
		return Profile{}, false
	}
	return p, l.claim(p.Name, d)
}

// Role finds a role. The error names those that there are.
func (l *Library) Role(name string) (Profile, error) { return find(l.Roles, "role", name) }

// Agent finds an agent's profile. The error names those that there are.
func (l *Library) Agent(name string) (Profile, error) { return find(l.Agents, "agent", name) }

func find(all []Profile, what, name string) (Profile, error) {
	var names []string
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	if names == nil {
		return Profile{}, fmt.Errorf("there is no %s %q, and no other one: they are files in .agents/%ss", what, name, what)
	}
	return Profile{}, fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// RoleText is what a system prompt says of a role.
func (p Profile) RoleText() string {
	return fmt.Sprintf("The user has given you the role below. It counts until they take it away.\n\n<role name=%q>\n%s\n</role>",
		p.Name, strings.ReplaceAll(p.Instructions, "</role>", `<\/role>`))
}

const rosterHead = `Agents that the user or the project has described. Give one a task that fits it, by its name in the argument agent of the tool task.

<agents>
`

// Roster is what a system prompt says of the agents that tasks can be given to;
// empty if there are none. What there is no room for is left out.
func (l *Library) Roster() string {
	if len(l.Agents) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(rosterHead)
	for _, p := range l.Agents {
		if item := "- " + p.Name + ": " + p.Description + "\n"; b.Len()+len(item) < MaxListed {
			b.WriteString(item)
		}
	}
	b.WriteString("</agents>")
	return b.String()
}
