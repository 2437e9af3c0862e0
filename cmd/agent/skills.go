package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/skill"
	"banyan/internal/tool"
	"banyan/internal/tui"
)

// promptType is the customType of what a prompt template makes. Its details are
// {"name", "path"}, as those of a skill.
const promptType = "banyan.prompt"

// skillPrefix is what the commands of skills begin with.
const skillPrefix = "skill:"

// findSkills looks for what the user, and the project if it is trusted, teach
// agents.
func (s *setup) findSkills() {
	s.library.Store(skill.Load(s.teachers(s.project, s.Cwd)))
}

// teachers is where that is looked for, for an agent that works in a folder.
func (s *setup) teachers(project, cwd string) skill.Where {
	home, _ := os.UserHomeDir() // without one there is nothing in it
	return skill.Where{Config: s.paths.Config, Home: home, Root: project, Cwd: cwd}
}

// taught is what was found. It is looked for when it is first needed, which for a
// screen is beside its first frame.
func (s *setup) taught() *skill.Library {
	if s.library.Load() == nil {
		s.findSkills()
	}
	return s.library.Load()
}

// skillFaults says how many files are not used.
func (s *setup) skillFaults() []engine.Notice {
	n := len(s.taught().Faults())
	if n == 0 {
		return nil
	}
	return []engine.Notice{{Level: engine.Note, Text: fmt.Sprintf(
		"Not used, because something is wrong with them: %d files of skills, prompts, roles, agents or rules. /skills says what.", n)}}
}

// beginRole takes the role that --role names. Its model goes after that of a flag
// and before that of a session and of the settings.
func (s *setup) beginRole() error {
	if s.opts.role == "" {
		return nil
	}
	role, err := s.taught().Role(s.opts.role)
	if err != nil {
		return usageError{err}
	}
	if s.opts.offline {
		role.Model = ""
	}
	s.role = &role
	choice := skill.First(s.called(), role.Choice, skill.Choice{Model: s.settings.Model, Thinking: llm.ThinkingLevel(s.settings.Thinking)})
	s.settings.Model, s.settings.Thinking = choice.Model, string(choice.Thinking)
	return nil
}

// called is what the flags say of the model.
func (s *setup) called() skill.Choice {
	return skill.Choice{Model: s.opts.model, Thinking: llm.ThinkingLevel(s.opts.thinking)}
}

// holdRole makes the role's model and thinking level go before those of the
// session, once they are chosen.
func (s *setup) holdRole() {
	if s.role != nil {
		s.ModelChosen = s.ModelChosen || s.role.Model != ""
		s.ThinkingChosen = s.ThinkingChosen || s.role.Thinking != ""
	}
}

// setRole gives the agent a role from now on; an empty name takes it away.
func (s *setup) setRole(e *engine.Engine, name string) (string, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	if name == "" {
		s.role = nil
		e.Send(s.reconfigured())
		return "No role any more. The model stays as it is.", nil
	}
	role, err := s.taught().Role(name)
	if err != nil {
		return "", err
	}
	choice := skill.First(s.called(), role.Choice)
	if choice.Model != "" && choice.Model == role.Model && !s.opts.offline {
		ref, err := s.roster.catalog.Load().Resolve(choice.Model)
		if err != nil {
			return "", fmt.Errorf("the role %s wants a model that cannot be had: %w", name, err)
		}
		e.Send(engine.SetModel{Model: session.ModelRef{Provider: ref.Provider, Model: ref.Model}})
		if choice.Thinking == "" {
			choice.Thinking = ref.Thinking
		}
	}
	if choice.Thinking != "" {
		e.Send(engine.SetThinking{Level: choice.Thinking})
	}
	s.role = &role
	e.Send(s.reconfigured())
	return "The role is " + name + " from now on.", nil
}

// lookAgain finds what was written since the program began, and tells models.
func (s *setup) lookAgain(e *engine.Engine) *skill.Library {
	s.changing.Lock()
	defer s.changing.Unlock()
	before := s.taught()
	s.findSkills()
	l := s.taught()
	if l.Catalogue()+l.Roster() != before.Catalogue()+before.Roster() || !l.SameRules(before) {
		e.Send(s.reconfigured(s.skillRules()...))
	}
	return l
}

// skillTool gives skills to models.
func skillTool(taught func() *skill.Library) tool.Tool {
	return tool.Skill(func(name string) (text, path string, err error) {
		found, err := taught().Skill(name)
		if err != nil {
			return "", "", err
		}
		if found.UserOnly {
			return "", "", fmt.Errorf("the skill %s is for the user to call, by /%s%s", name, skillPrefix, name)
		}
		text, err = found.Text()
		return text, found.Path, err
	})
}

// skillRules let tools read the skills that were found since the policy was
// made. Which of them links lead out of is the policy's to see.
func (s *setup) skillRules() []permission.Rule {
	var rules []permission.Rule
	for _, place := range s.taught().Places() {
		pattern := "/" + globLiteral.Replace(place)
		if rule, err := permission.ParseRule(permission.Allow, "Read("+pattern+")", permission.Source{Name: "the skills"}); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// globLiteral takes the meaning of characters in a pattern away.
var globLiteral = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// expand makes the prompt of a command of a skill or a template. What is no such
// command stays as it is.
func (s *setup) expand(ctx context.Context, text string) (engine.Submit, error) {
	name, args, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	if !strings.HasPrefix(text, "/") {
		return s.withMentions(ctx, text)
	}
	for _, t := range s.templates() {
		if t.Name == name {
			return t.Expand(ctx, args)
		}
	}
	if called, ok := strings.CutPrefix(name, skillPrefix); ok {
		if _, err := s.taught().Skill(called); err != nil {
			return engine.Submit{}, usageError{err}
		}
		return engine.Submit{}, usagef("the skill %s is for models only", called)
	}
	return engine.Submit{Text: text}, nil
}

// skillPrompt is the prompt of a user who calls a skill. The text is left out
// where the conversation has it.
func skillPrompt(found skill.Skill, args string) (engine.Submit, error) {
	text, err := found.Text()
	if err != nil {
		return engine.Submit{}, err
	}
	stands := expansion(session.SkillType, text, found.Name, found.Path)
	stands.Once = true
	return engine.Submit{Text: typed(skillPrefix+found.Name, args), Stands: stands}, nil
}

func templatePrompt(t skill.Template, args string) (engine.Submit, error) {
	text, err := t.Expand(args)
	if err != nil {
		return engine.Submit{}, err
	}
	stands := expansion(promptType, text, t.Name, t.Path)
	stands.Display = true
	return engine.Submit{Text: typed(t.Name, args), Stands: stands}, nil
}

func expansion(kind, text, name, path string) *engine.Expansion {
	details, _ := json.Marshal(map[string]string{"name": name, "path": path}) // strings always are JSON
	return &engine.Expansion{CustomMessage: session.CustomMessage{
		Type: kind, Content: []llm.Block{llm.Text{Text: text}}, Details: details,
	}}
}

// typed is a command as it was typed.
func typed(name, args string) string { return strings.TrimSpace("/" + name + " " + args) }

// templates are the commands that skills and templates make.
func (s *setup) templates() []tui.Template {
	l := s.taught()
	var all []tui.Template
	for _, t := range l.Templates {
		all = append(all, tui.Template{Name: t.Name, Args: t.Args, Help: t.Description, Expand: func(_ context.Context, args string) (engine.Submit, error) {
			return templatePrompt(t, args)
		}})
	}
	for _, found := range l.Skills {
		if found.ModelOnly {
			continue
		}
		all = append(all, tui.Template{Name: skillPrefix + found.Name, Args: "[args]", Help: found.Description, Expand: func(_ context.Context, args string) (engine.Submit, error) {
			return skillPrompt(found, args)
		}})
	}
	return append(all, s.serverPrompts()...)
}

// skillFacts are what /skills shows.
func (s *setup) skillFacts(e *engine.Engine) []tui.Fact {
	l := s.lookAgain(e)
	var facts []tui.Fact
	for _, found := range l.Skills {
		facts = append(facts, tui.Fact{Name: "/" + skillPrefix + found.Name, Text: found.Description + from(found.Source)})
	}
	for _, t := range l.Templates {
		fact := tui.Fact{Name: "/" + t.Name, Text: t.Description + from(t.Source)}
		if tui.Reserved(t.Name) {
			fact = tui.Fact{Name: "not used", Text: t.Path + ": /" + t.Name + " is a command of this program"}
		}
		facts = append(facts, fact)
	}
	for _, p := range l.Problems {
		facts = append(facts, tui.Fact{Name: "not used", Text: p.String()})
	}
	if len(facts) == 0 {
		facts = []tui.Fact{{Name: "none", Text: "skills are folders with a SKILL.md in .agents/skills, prompts are files in .agents/commands" + s.ifUntrusted()}}
	}
	return facts
}

func (s *setup) ifUntrusted() string {
	if s.project == "" {
		return ". This folder is not trusted, so its own do not count: /trust"
	}
	return ""
}

// profileFacts are what /agents and /role show.
func profileFacts(profiles []skill.Profile) []tui.Fact {
	facts := make([]tui.Fact, len(profiles))
	for i, p := range profiles {
		about := []string{p.Description}
		for _, more := range []string{p.Model, string(p.Thinking), strings.Join(p.Tools, " ")} {
			if more != "" {
				about = append(about, more)
			}
		}
		facts[i] = tui.Fact{Name: p.Name, Text: strings.Join(about, " · ") + from(p.Source)}
	}
	return facts
}

// from says where something was found.
func from(src skill.Source) string {
	if src.Project {
		return "  (project: " + src.Path + ")"
	}
	return "  (user: " + src.Path + ")"
}
