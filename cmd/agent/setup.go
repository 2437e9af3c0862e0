package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/agent"
	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/extension"
	"banyan/internal/hook"
	"banyan/internal/instructions"
	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/llm/offline"
	"banyan/internal/mcp"
	"banyan/internal/permission"
	"banyan/internal/result"
	"banyan/internal/sandbox"
	"banyan/internal/session"
	"banyan/internal/skill"
	"banyan/internal/store"
	"banyan/internal/tool"
)

// setup is what a chat is made of, from flags, settings and the environment.
type setup struct {
	engine.Config
	opts         chatOptions
	paths        config.Paths
	settings     config.Settings
	project      string // root of the project if it is trusted, else empty
	roster       *roster
	env          *tool.Env                // nil until the engine has begun
	hooks        *hook.Link               // of a chat; without hooks until then
	workspace    permission.Workspace     // that rules are about; known once the engine has begun
	send         func(engine.Command)     // to the engine; nil until there is one
	servers      atomic.Pointer[mcp.Host] // nil where there are none
	temp         atomic.Value             // string: the folder of long results, once the engine has begun
	hookProblems []string                 // what is wrong with hooks; guarded by changing
	host         *extension.Host          // nil where extensions are turned off
	live         *engine.Config           // the engine's own, once it has begun

	library atomic.Pointer[skill.Library] // what agents are taught; nil until it is needed
	role    *skill.Profile                // that the agent has; nil for none
	want    *result.Want                  // what the run must end with; nil for an answer
	// changing is held while the user changes what models are told: commands of
	// the screen run beside each other.
	changing sync.Mutex
}

// setUp does what must be known before there is anything to show. The rest is
// [setup.prepare].
func (o chatOptions) setUp(ctx context.Context) (*setup, error) {
	s := &setup{opts: o, hooks: hook.NewLink(hook.New(hook.Config{}, nil), o.print)}
	if err := s.wantResult(); err != nil {
		return nil, err
	}
	if err := s.readConfig(); err != nil {
		return nil, err
	}
	if err := s.beginRole(); err != nil {
		return nil, err
	}
	if err := s.chooseModel(ctx); err != nil {
		return nil, err
	}
	s.holdRole()
	if err := s.hostExtensions(); err != nil {
		return nil, err
	}
	s.Prepare, s.Open = s.prepare, s.open
	if !o.print && !o.noSession {
		s.SaveQueue, s.LoadQueue = queueKeeper(filepath.Join(s.paths.State, "queues"))
		s.Discard = shelf{s.Session.Store, s.paths}.trash
	}
	return s, nil
}

// readConfig finds the folders, and reads the settings.
func (s *setup) readConfig() error {
	if err := s.findFolders(); err != nil {
		return err
	}
	if err := s.readSettings(); err != nil {
		return err
	}
	var err error
	if s.Session.Store, err = s.opts.keep.open(s.paths, s.settings.Store); err != nil {
		return err
	}
	if files, ok := s.Session.Store.(store.Files); ok {
		s.paths.Sessions = files.Dir
	}
	return nil
}

func (s *setup) findFolders() (err error) {
	if s.paths, err = config.FindPaths(); err != nil {
		return fmt.Errorf("find the home folder (set HOME, or BANYAN_DATA_DIR): %w", err)
	}
	if s.Cwd, err = workingFolder(s.opts.dir); err != nil {
		return err
	}
	if !s.opts.noSession {
		s.SessionDir = session.Project(s.Cwd)
	}
	return nil
}

// readSettings reads the user's settings, and the project's if it is trusted.
func (s *setup) readSettings() error {
	trust := s.trust()
	by, trusted, err := trust.Trusted(s.Cwd)
	if err != nil {
		s.Notices = append(s.Notices, engine.Notice{Level: engine.Warning, Text: err.Error()})
	}
	if s.opts.trust && !trusted {
		if by, err = trust.Candidate(s.Cwd); err != nil {
			return err
		}
		trusted = true
	}
	if trusted {
		s.project = instructions.Root(s.Cwd, by)
	} else {
		s.sayUntrusted(trust)
	}
	var problems []config.Problem
	s.settings, _, problems = config.Load(s.paths, s.project, trusted, s.opts.overrides())
	for _, p := range problems {
		if p.Source.Scope == config.Flag {
			return usageError{errors.New(p.String())}
		}
		if p.Loosens && s.opts.print {
			return fmt.Errorf("%s (nobody is here to be told, so this does not run)", p)
		}
		s.Notices = append(s.Notices, engine.Notice{Level: engine.Warning, Text: p.String()})
	}
	s.MaxRounds = s.settings.MaxTurns
	if s.opts.print {
		s.MaxUSD = s.settings.MaxBudgetUSD
	}
	s.Compaction = engine.Compaction{
		Off: !s.settings.Compaction.Enabled,
		For: func(m session.ModelRef) (reserve, keepRecent int) {
			return s.settings.Compaction.For(m.Provider, m.Model)
		},
	}
	s.BranchInstructions = s.settings.BranchSummary.Instructions
	return nil
}

// trust is the user's store of trust, with what --trust adds to it.
func (s *setup) trust() config.Trust {
	t := s.paths.Trust()
	if s.opts.trust {
		t.ForNow, _ = t.Candidate(s.Cwd) // that it has none is said where settings are read
	}
	return t
}

// sayUntrusted tells what of the folder has no effect, if there is anything. It
// looks for names only.
func (s *setup) sayUntrusted(trust config.Trust) {
	folder, err := trust.Candidate(s.Cwd)
	if err != nil {
		return // it can never be trusted
	}
	for _, name := range append(slices.Clone(instructions.Names), ".banyan", ".agents", ".claude", ".mcp.json") {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			s.Notices = append(s.Notices, engine.Notice{Level: engine.Note, Text: fmt.Sprintf(
				"%s is not trusted, so its %s has no effect. /trust changes that.", folder, name)})
			return
		}
	}
}

// chooseModel finds who answers. A screen takes local servers in later; print
// mode waits for them, as it asks at once.
func (s *setup) chooseModel(ctx context.Context) error {
	pace := wordPause
	if s.opts.print {
		pace = 0
	}
	s.roster = newRoster(s.paths.Config, s.opts.offline, pace, s.settings.FallbackModels)
	ref, chosen, err := s.roster.choose(s.settings.Model)
	if err != nil {
		return usageError{err}
	}
	if s.opts.print && ref.Provider == offline.Provider && !chosen {
		if local, ok := s.roster.probe(ctx); ok {
			ref = local
		}
	}
	s.Model = session.ModelRef{Provider: ref.Provider, Model: ref.Model}
	if _, _, err := s.roster.Client(s.Model); err != nil {
		return usageError{err}
	}
	s.Models, s.ModelChosen = s.roster, s.opts.model != "" || s.opts.offline
	s.ThinkingChosen = s.opts.thinking != "" || s.opts.model != "" && ref.Thinking != ""
	if name := s.settings.Compaction.Model; name != "" {
		if writes, _, err := s.roster.choose(name); err != nil {
			s.Notices = append(s.Notices, engine.Notice{Level: engine.Warning, Text: fmt.Sprintf("compaction.model: %v; the model that answers writes summaries", err)})
		} else {
			s.Compaction.Model = session.ModelRef{Provider: writes.Provider, Model: writes.Model}
		}
	}
	if s.Thinking = ref.Thinking; s.settings.Thinking != "" {
		s.Thinking = llm.ThinkingLevel(s.settings.Thinking)
	}
	return nil
}

// prepare makes what takes time, in the engine's goroutine: tools, their box,
// the policy and the system prompt.
func (s *setup) prepare(cfg *engine.Config) (err error) {
	s.live = cfg
	if s.env, err = tool.NewEnv(s.Cwd); err != nil {
		return fmt.Errorf("prepare the tools: %w", err)
	}
	s.env.PassEnv = s.settings.ShellEnv
	for _, dir := range slices.Concat(s.opts.addDirs, s.settings.Permissions.AdditionalDirectories) {
		if err := s.env.AddDir(dir); err != nil {
			cfg.Notices = append(cfg.Notices, engine.Notice{Level: engine.Warning, Text: err.Error()})
		}
	}
	strength, why := s.env.Confine(s.paths.Config, s.paths.State)
	if strength < sandbox.Full {
		cfg.Notices = append(cfg.Notices, engine.Notice{Level: engine.Note, Text: fmt.Sprintf("Commands are not fully confined here: %v", why)})
	}
	cfg.Tools = s.tools()
	s.giveTasks(cfg)
	if cfg.Policy, err = s.policy(strength); err != nil {
		return err
	}
	cfg.Notices = append(cfg.Notices, s.skillFaults()...)
	s.changing.Lock()
	defer s.changing.Unlock()
	runner, said := s.findHooks()
	s.hooks.Exchange(runner)
	cfg.Hooks, cfg.Notices = s.withExtensions(s.hooks), append(cfg.Notices, said...)
	told := s.reconfigured()
	cfg.System, cfg.Instructions, cfg.Below, cfg.StreamRules = told.System, told.Instructions, told.Below, told.StreamRules
	s.temp.Store(s.env.Temp())
	if s.opts.print { // they were waited for
		return nil
	}
	return s.startServers()
}

func (s *setup) tools() []tool.Tool {
	tools := append(tool.All(s.env), skillTool(s.taught))
	if s.want != nil {
		tools = append(tools, s.want.Tools()...)
	}
	return tools
}

// toolNames are known once the engine has begun.
func (s *setup) toolNames() []string {
	var names []string
	for _, t := range s.tools() {
		names = append(names, t.Name)
	}
	if s.live.Tasks != nil {
		names = append(names, "task")
	}
	if host := s.servers.Load(); host != nil {
		names = append(names, host.ToolNames()...)
	}
	return names
}

// Close ends extensions, hooks and MCP servers, and gives back what the tools held,
// temporary files and background jobs, and what the store holds.
func (s *setup) Close() error {
	if s.host != nil {
		s.host.Close()
	}
	if s.hooks != nil {
		s.hooks.Close()
	}
	s.endServers()
	var err error
	if s.env != nil {
		err = s.env.Close()
	}
	if s.Session.Store != nil {
		err = errors.Join(err, s.Session.Store.Close())
	}
	return err
}

// policy says what may be done without asking.
func (s *setup) policy(box sandbox.Strength) (*permission.Policy, error) {
	home, _ := os.UserHomeDir() // without one, "~" in rules matches nothing
	rules, err := s.rules()
	if err != nil {
		return nil, err
	}
	s.workspace = permission.Workspace{
		Dir: s.env.Dir, Dirs: s.env.Dirs(), Home: home, Path: os.Getenv("PATH"), Boxed: box == sandbox.Full,
		Readable:  append(s.taught().Places(), s.env.Temp()),
		Protected: []string{s.paths.Config, s.paths.Data, s.paths.State},
	}
	policy := permission.New(s.workspace, rules...)
	mode := s.settings.Permissions.DefaultMode
	if s.opts.skipAsking {
		mode = permission.Full
	}
	return policy, policy.SetMode(mode)
}

// rules are the settings' permission rules.
func (s *setup) rules() ([]permission.Rule, error) {
	var rules []permission.Rule
	for _, list := range []struct {
		action permission.Action
		rules  []config.Rule
	}{
		{permission.Allow, s.settings.Permissions.Allow},
		{permission.Ask, s.settings.Permissions.Ask},
		{permission.Deny, s.settings.Permissions.Deny},
	} {
		for _, r := range list.rules {
			from := permission.Source{Name: r.Source.String(), Project: r.Source.Scope.OfProject()}
			if from.Project {
				from.Base = s.project
			}
			rule, err := permission.ParseRule(list.action, r.Text, from)
			if err != nil {
				return nil, usageError{fmt.Errorf("%s: %w", r.Source, err)}
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// reconfigured is what models are told from here on, with more rules.
func (s *setup) reconfigured(rules ...permission.Rule) engine.Reconfigure {
	told := instructions.New(s.paths.Config, s.project, s.Cwd)
	files := instructions.Text(told.Files)
	return engine.Reconfigure{
		System: s.systemPrompt(files), Instructions: len(files), Rules: rules, StreamRules: s.streamRules(),
		Below: func(path string) string { return instructions.Text(told.Below(path)) },
	}
}

// systemPrompt is what models are told first; files are the user's and the
// project's files of instructions.
func (s *setup) systemPrompt(files string) string {
	parts := []string{s.opts.system}
	if parts[0] == "" {
		parts[0] = agent.SystemPrompt(s.Cwd, time.Now())
	}
	if files != "" {
		parts = append(parts, files)
	}
	if text := s.taught().Catalogue(); text != "" {
		parts = append(parts, text)
	}
	if text := s.taught().Roster(); text != "" && s.settings.MaxTaskDepth > 0 {
		parts = append(parts, text)
	}
	if s.role != nil {
		parts = append(parts, s.role.RoleText())
	}
	if s.opts.appendSystem != "" {
		parts = append(parts, s.opts.appendSystem)
	}
	return strings.Join(parts, "\n\n")
}

// open says which session the chat begins with. It is called by the engine, so
// that no frame waits for it.
func (s *setup) open() (*session.Manager, error) {
	o := s.opts
	switch {
	case o.session != "":
		path, err := session.Find(s.Session.Store, o.session)
		if err != nil {
			return nil, err
		}
		return s.openFile(path)
	case o.fork != "":
		return s.forked(o.fork)
	case o.goOn && !o.noSession:
		path, err := session.Newest(s.Session.Store, s.Cwd)
		if err != nil {
			return nil, err
		}
		if path != "" {
			return s.openFile(path)
		}
	}
	return session.New(s.SessionDir, s.Cwd, s.Session)
}

// openFile opens a session. What another process is writing is opened for
// looking, where somebody looks.
func (s *setup) openFile(path string) (*session.Manager, error) {
	m, err := session.Open(path, s.Session)
	var locked *jsonl.LockedError
	if !errors.As(err, &locked) || s.opts.print {
		return m, err
	}
	look := s.Session
	look.ReadOnly = true
	if m, err = session.Open(path, look); err == nil {
		s.live.Notices = append(s.live.Notices, engine.Notice{Level: engine.Warning, Text: locked.Error()})
	}
	return m, err
}

// queueKeeper keeps the prompts that wait in a session, a file a session.
func queueKeeper(dir string) (save func(string, []string) error, load func(string) []string) {
	files := config.Drafts{Dir: dir}
	save = func(session string, prompts []string) error {
		if len(prompts) == 0 {
			return files.Save(session, "")
		}
		text, err := json.Marshal(prompts)
		if err != nil {
			return err
		}
		return files.Save(session, string(text))
	}
	load = func(session string) (prompts []string) {
		if json.Unmarshal([]byte(files.Load(session)), &prompts) != nil {
			return nil // none, or not ours
		}
		return prompts
	}
	return save, load
}

// forked is a copy of another session's active path.
func (s *setup) forked(name string) (*session.Manager, error) {
	path, err := session.Find(s.Session.Store, name)
	if err != nil {
		return nil, err
	}
	from := s.Session
	from.ReadOnly = true
	m, err := session.Open(path, from)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.CreateBranchedSession(s.SessionDir, m.Snapshot().Leaf())
}

// workingFolder is the absolute path of -C, or of where we are.
func workingFolder(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	if info, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("work in %s: %w", abs, err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("work in %s: it is not a folder", abs)
	}
	return abs, nil
}
