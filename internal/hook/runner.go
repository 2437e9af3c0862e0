package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"banyan/internal/config"
	"banyan/internal/tool"
)

// Config is what a runner needs to know.
type Config struct {
	// Dir is the working folder, absolute.
	Dir string
	// Project is the root of the project if it is trusted, which hooks see as
	// CLAUDE_PROJECT_DIR; else empty.
	Project string
	// PassEnv names variables that hooks may see besides the usual ones.
	PassEnv []string
	// Trust knows what the user has approved.
	Trust config.Trust
	// Meets says whether a permission rule is about a call; for "if".
	Meets func(rule, tool string, args json.RawMessage) (bool, error)
	Now   func() time.Time
}

// Runner runs hooks and remembers how they did. It may be used from several
// goroutines; what its lock guards is looked at and changed in no time.
type Runner struct {
	cfg Config

	background sync.WaitGroup
	end        context.CancelFunc // of what nobody waits for
	ending     context.Context

	mu     sync.Mutex
	states []*State // in the order of the settings
	told   map[string]bool
}

// State is a hook and how it did.
type State struct {
	Hook
	// Text is all that decides what it does, as it is approved. It comes from
	// outside: it is not fit for a terminal as it is.
	Text     string
	Approval config.Approval // OK for those that need none
	Err      error           // why that cannot be known
	Runs     int
	Last     time.Time // when it ran last; zero if it did not
	Took     time.Duration
	Said     string // what came of it, for people; not fit for a terminal as it is
}

// New makes a runner for hooks. Close ends what it runs in the background.
func New(cfg Config, hooks []Hook) *Runner {
	r := &Runner{cfg: cfg, told: map[string]bool{}}
	r.ending, r.end = context.WithCancel(context.Background())
	for _, h := range hooks {
		r.states = append(r.states, &State{Hook: h})
	}
	return r
}

// Close ends what runs in the background and waits for it.
func (r *Runner) Close() {
	r.end()
	r.background.Wait()
}

// beside runs something that nobody waits for but Close, which ends it.
func (r *Runner) beside(do func(context.Context)) {
	r.background.Go(func() { do(r.ending) })
}

// status is what the user is told of hooks that take a while: what the first of
// them says of itself, or its command.
func (r *Runner) status(in Input) string {
	ev, _ := known(in.Event)
	for _, s := range r.states {
		if s.about(ev, in) && !s.Async {
			return cmp.Or(s.Status, "hook "+cut(s.Command, 40))
		}
	}
	return "hooks of " + in.Event
}

// Hears says whether there is a hook of an event.
func (r *Runner) Hears(event string) bool {
	return slices.ContainsFunc(r.states, func(s *State) bool { return s.Event == event })
}

// List gives all hooks as they are now, those of one event together, in the
// order of the table of events.
func (r *Runner) List() []State {
	var list []State
	for _, ev := range events {
		for _, s := range r.states {
			if s.Event == ev.name {
				r.mu.Lock()
				now := *s
				r.mu.Unlock()
				now.Text = r.item(s.Hook).Text
				now.Approval, now.Err = r.approval(s.Hook)
				list = append(list, now)
			}
		}
	}
	return list
}

// Waiting are the hooks that do not run before the user has approved them.
func (r *Runner) Waiting() []Hook {
	var waiting []Hook
	for _, s := range r.states {
		if a, err := r.approval(s.Hook); !a.OK || err != nil {
			waiting = append(waiting, s.Hook)
		}
	}
	return waiting
}

// Approve lets a hook run as it was when it was listed: what has changed since
// was not seen.
func (r *Runner) Approve(s State) error {
	i := r.item(s.Hook)
	i.Text = s.Text
	return r.cfg.Trust.Approve(i)
}

// Revoke takes that back.
func (r *Runner) Revoke(s State) error {
	i := r.item(s.Hook)
	return r.cfg.Trust.RevokeItem(i.Kind, i.Folder, i.Name)
}

func (r *Runner) approval(h Hook) (config.Approval, error) {
	if !h.Source.Asks {
		return config.Approval{OK: true}, nil
	}
	return r.cfg.Trust.Approved(r.item(h))
}

// item is a hook as something to be approved. Its name is its command, so that a
// script that has changed since is told apart from another hook.
func (r *Runner) item(h Hook) config.Item {
	name := strings.Join(append([]string{h.Event, h.Matcher, h.Command}, h.Args...), " ")
	i := config.Item{Kind: "hook", Name: name}
	if h.Source.Project {
		i.Folder = r.cfg.Project
	}
	text := fmt.Sprintf("event %s\n", h.Event)
	if h.Matcher != "" {
		text += fmt.Sprintf("matcher %q\n", h.Matcher)
	}
	if h.If != "" {
		text += fmt.Sprintf("if %q\n", h.If)
	}
	text += fmt.Sprintf("command %q\n", h.Command)
	for _, a := range h.Args {
		text += fmt.Sprintf("argument %q\n", a)
	}
	if h.Args != nil {
		text += "without a shell\n"
	}
	text += fmt.Sprintf("timeout %v\n", h.Timeout)
	if h.Async {
		text += "in the background\n"
	}
	if i.Folder != "" {
		text += config.FilesNamed(i.Folder, words(h, i.Folder, r.cfg.Dir)...)
	}
	i.Text = text
	return i
}

// Run runs all hooks that an input is for, side by side, identical ones once,
// and gives what they said together. Where hooks that decide about the call
// wait to be approved again because they have changed, the user is asked.
func (r *Runner) Run(ctx context.Context, in Input) Outcome {
	ev, ok := known(in.Event)
	if !ok {
		return Outcome{}
	}
	var o Outcome
	states := r.chosen(ev, in, &o)
	if len(states) == 0 {
		return o
	}
	if in.Cwd == "" {
		in.Cwd = r.cfg.Dir
	}
	text, err := json.Marshal(in)
	if err != nil {
		return Outcome{Faults: []Fault{{states[0].Hook, err}}}
	}
	type answer struct {
		said Outcome
		err  error
	}
	answers := make([]answer, len(states))
	run := func(ctx context.Context, i int) {
		began := r.cfg.Now()
		ended := r.place().run(ctx, states[i].Hook, text)
		answers[i].said, answers[i].err = states[i].outcome(ev, in, ended)
		r.note(states[i], began, answers[i].said, answers[i].err)
	}
	var g sync.WaitGroup
	for i, s := range states {
		if s.Async {
			r.beside(func(ctx context.Context) { run(ctx, i) })
		} else {
			g.Go(func() { run(ctx, i) })
		}
	}
	g.Wait()
	for i, s := range states {
		if s.Async {
			continue
		}
		if err := answers[i].err; err != nil && ctx.Err() == nil {
			r.fault(&o, s.Hook, err)
		}
		o.merge(answers[i].said, s.name())
	}
	return o
}

// chosen are the hooks that an input is for and that may run.
func (r *Runner) chosen(ev event, in Input, o *Outcome) []*State {
	var chosen []*State
	for _, s := range r.states {
		if !s.about(ev, in) || slices.ContainsFunc(chosen, func(c *State) bool { return c.same(s.Hook) }) {
			continue
		}
		if s.If != "" {
			if meets, err := r.cfg.Meets(s.If, in.tool, in.args); err != nil {
				r.fault(o, s.Hook, err) // and it is run: it may be there to forbid
			} else if !meets {
				continue
			}
		}
		a, err := r.approval(s.Hook)
		switch {
		case a.OK && err == nil:
			chosen = append(chosen, s)
			continue
		case err != nil:
			r.fault(o, s.Hook, err)
		case a.Changed:
			r.fault(o, s.Hook, fmt.Errorf("it or a file that it names has changed since you approved it, so it was not run; /hooks shows it"))
		}
		if a.Changed && ev.name == PreToolUse {
			o.merge(Outcome{Decision: Ask, Reason: "a hook that decides about such calls has changed since it was approved, and was not run"}, s.name())
		}
	}
	return chosen
}

// fault adds what went wrong with a hook, once.
func (r *Runner) fault(o *Outcome, h Hook, err error) {
	f := Fault{h, err}
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := f.String(); !r.told[key] {
		r.told[key] = true
		o.Faults = append(o.Faults, f)
	}
}

// note remembers how a hook did.
func (r *Runner) note(s *State, began time.Time, said Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Runs++
	s.Last, s.Took = began, r.cfg.Now().Sub(began)
	s.Said = said.String()
	if err != nil {
		s.Said = err.Error()
	}
}

// String is an outcome in a few words, for people.
func (o Outcome) String() string {
	var said []string
	if o.Decision != Silent {
		said = append(said, strings.TrimSpace([...]string{"", "allowed", "asked", "denied"}[o.Decision]+" "+cut(o.Reason, 80)))
	}
	for _, part := range []struct {
		there bool
		word  string
	}{
		{len(o.Feedback) > 0, "told the model"},
		{len(o.Context) > 0, "added context"},
		{o.Input != nil, "changed the arguments"},
		{o.Output != nil, "changed the output"},
		{o.Halt, "ended the turn"},
		{o.Tree != TreeWish{}, "changed the summary or label"},
		{len(o.Messages) > 0, "told you something"},
	} {
		if part.there {
			said = append(said, part.word)
		}
	}
	if len(said) == 0 {
		return "ok"
	}
	return strings.Join(said, ", ")
}

// place is where hooks run.
func (r *Runner) place() place {
	added := map[string]string{}
	if r.cfg.Project != "" {
		added["CLAUDE_PROJECT_DIR"] = r.cfg.Project
	}
	return place{dir: r.cfg.Dir, env: tool.Environ(r.cfg.PassEnv, added)}
}

// name is how people know the hook that decided.
func (s *State) name() string { return "hook " + cut(s.Command, 60) }
