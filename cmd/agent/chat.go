package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"banyan/internal/agent"
	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/headless"
	"banyan/internal/llm"
	"banyan/internal/llm/offline"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// chatOptions are the root command's flags.
type chatOptions struct {
	print        bool
	goOn         bool
	session      string
	noSession    bool
	sessionDir   string
	model        string
	thinking     string
	permission   string
	skipAsking   bool
	dir          string
	offline      bool
	system       string
	appendSystem string
	maxTurns     int
}

func (o *chatOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "print one answer and exit; standard input is appended to the prompt")
	f.BoolVarP(&o.goOn, "continue", "c", false, "go on with the newest session of this folder")
	f.StringVar(&o.session, "session", "", "open this session: a file, an id, or the beginning of one")
	f.BoolVar(&o.noSession, "no-session", false, "keep the session in memory only")
	f.StringVarP(&o.model, "model", "m", "", "answer with this model: provider/model[:thinking]")
	f.StringVar(&o.thinking, "thinking", "", "how much the model reasons: off, minimal, low, medium, high, xhigh")
	f.StringVar(&o.permission, "permission-mode", "ask", "what may be done without asking: "+strings.Join(engine.Modes, ", "))
	f.BoolVar(&o.skipAsking, "dangerously-skip-permissions", false, "never ask before a tool runs")
	f.StringVar(&o.system, "system-prompt", "", "replace the system prompt")
	f.StringVar(&o.appendSystem, "append-system-prompt", "", "add to the system prompt")
	f.IntVar(&o.maxTurns, "max-turns", 0, "end after this many requests to the model (0: no limit)")
	f.BoolVar(&o.offline, "offline", false, "use the embedded offline model; nothing is sent anywhere")
	p := cmd.PersistentFlags()
	p.StringVarP(&o.dir, "cd", "C", "", "work in this folder")
	p.StringVar(&o.sessionDir, "session-dir", "", "keep sessions in this folder")
}

// chat joins an engine with the front end that the flags ask for, and runs both.
func chat(cmd *cobra.Command, args []string, o chatOptions) error {
	prompt := strings.Join(args, " ")
	if o.print {
		piped, err := readPiped(cmd.InOrStdin())
		if err != nil {
			return err
		}
		if prompt = strings.TrimSpace(prompt + "\n\n" + piped); prompt == "" {
			return usagef(`there is no prompt; give one: agent -p "read go.mod"`)
		}
	} else if err := needTerminal(cmd); err != nil {
		return err
	}
	s, err := o.setup(cmd.Context())
	if err != nil {
		return err
	}
	defer s.close()
	e := engine.New(s.Config)
	ctx, cancel := context.WithCancel(cmd.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	if o.print {
		return headless.Print(ctx, e, prompt, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return screen(ctx, cmd, e, s, prompt)
}

// needTerminal says what to do where a screen cannot be had.
func needTerminal(cmd *cobra.Command) error {
	for _, s := range []any{cmd.InOrStdin(), cmd.OutOrStdout()} {
		if f, ok := s.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return usagef(`the chat needs a terminal; for one answer without it use: agent -p "…"`)
		}
	}
	return nil
}

// readPiped reads standard input, unless that is a terminal.
func readPiped(in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return "", nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(data), nil
}

// setup is what a chat is made of.
type setup struct {
	engine.Config
	paths  config.Paths
	roster *roster
	close  func() // gives back what the tools held
}

// setup turns flags into what a chat is made of.
func (o chatOptions) setup(ctx context.Context) (s setup, err error) {
	if s.paths, err = config.FindPaths(); err != nil {
		return s, fmt.Errorf("find the home folder (set HOME, or BANYAN_DATA_DIR): %w", err)
	}
	if o.sessionDir != "" {
		if s.paths.Sessions, err = filepath.Abs(o.sessionDir); err != nil {
			return s, err
		}
	}
	if s.Cwd, err = workingFolder(o.dir); err != nil {
		return s, err
	}
	s.SessionDir = sessionDir(o.noSession, s.paths.Sessions, s.Cwd)
	if err := o.chooseModel(ctx, &s); err != nil {
		return s, usageError{err}
	}
	env, err := tool.NewEnv(s.Cwd)
	if err != nil {
		return s, fmt.Errorf("prepare the tools: %w", err)
	}
	s.close = func() { _ = env.Close() } // temporary files only
	if s.Policy, err = o.policy(s.paths, env); err != nil {
		return s, usageError{err}
	}
	s.Tools, s.System, s.MaxRounds = tool.All(env), o.systemPrompt(s.Cwd), o.maxTurns
	s.Open = o.opener(s.paths, s.Config)
	return s, nil
}

// chooseModel finds who answers. A screen takes local servers in later; print
// mode waits for them, as it asks at once.
func (o chatOptions) chooseModel(ctx context.Context, s *setup) error {
	pace := wordPause
	if o.print {
		pace = 0
	}
	s.roster = newRoster(s.paths.Config, o.offline, pace)
	ref, chosen, err := s.roster.choose(o.model)
	if err != nil {
		return err
	}
	if o.print && ref.Provider == offline.Provider && !chosen {
		if local, ok := s.roster.probe(ctx); ok {
			ref = local
		}
	}
	s.Models, s.ModelChosen = s.roster, chosen || o.offline
	s.Model, s.Thinking = session.ModelRef{Provider: ref.Provider, Model: ref.Model}, ref.Thinking
	if o.thinking != "" {
		s.Thinking = llm.ThinkingLevel(o.thinking)
	}
	if s.Thinking != "" && !slices.Contains(llm.ThinkingLevels, s.Thinking) {
		return fmt.Errorf("there is no thinking level %q; there are off, minimal, low, medium, high, xhigh", s.Thinking)
	}
	return nil
}

func sessionDir(inMemory bool, sessions, cwd string) string {
	if inMemory {
		return ""
	}
	return session.Dir(sessions, cwd)
}

// policy says what may be done without asking.
func (o chatOptions) policy(paths config.Paths, env *tool.Env) (*permission.Policy, error) {
	home, _ := os.UserHomeDir() // without one, "~" in rules matches nothing
	policy := permission.New(permission.Workspace{
		Dir: env.Dir, Home: home, Path: os.Getenv("PATH"),
		Protected: []string{paths.Config, paths.Data, paths.State},
	})
	mode := o.permission
	if o.skipAsking {
		mode = permission.Full
	}
	return policy, policy.SetMode(mode)
}

func (o chatOptions) systemPrompt(cwd string) string {
	prompt := o.system
	if prompt == "" {
		prompt = agent.SystemPrompt(cwd, time.Now())
	}
	if o.appendSystem != "" {
		prompt += "\n\n" + o.appendSystem
	}
	return prompt
}

// opener says which session the chat begins with. It is called by the engine,
// so that no frame waits for it.
func (o chatOptions) opener(paths config.Paths, cfg engine.Config) func() (*session.Manager, error) {
	return func() (*session.Manager, error) {
		switch {
		case o.session != "":
			path, err := session.Find(paths.Sessions, o.session)
			if err != nil {
				return nil, err
			}
			return session.Open(path, cfg.Session)
		case o.goOn && !o.noSession:
			path, err := session.Newest(cfg.SessionDir, cfg.Cwd)
			if err != nil {
				return nil, err
			}
			if path != "" {
				return session.Open(path, cfg.Session)
			}
		}
		return session.New(cfg.SessionDir, cfg.Cwd, cfg.Session)
	}
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
