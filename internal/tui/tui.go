package tui

import (
	"context"
	"slices"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// Engine is what the screen talks to.
type Engine interface {
	// Send never blocks; what comes of a command is told by events.
	Send(engine.Command)
	// Events are closed after the engine has ended.
	Events() <-chan engine.Event
}

// Options are what a screen is made of. Only Engine is needed. The functions
// are called outside of the screen's goroutine and may take their time; a nil
// one means that there is no such thing.
type Options struct {
	Engine  Engine
	Version string
	Cwd     string // shown in the footer; absolute
	Prompt  string // sent, or run if it is a command, as soon as the session is open

	Preferences

	Models   func(context.Context) ([]Choice, error)  // of /model
	Sessions func(context.Context) ([]Session, error) // of /resume, newest first
	Files    func(context.Context) ([]string, error)  // of @, relative to Cwd
	Branch   func(context.Context) string             // the version control branch; empty if none
	Image    func(context.Context) (llm.Image, error) // the picture on the clipboard
	Copy     func(context.Context, string) error      // to the system's clipboard

	// ReadTask gives the session of a task, from its file; release gives that back.
	ReadTask func(ctx context.Context, path string) (s session.Snapshot, release func(), err error)

	Templates func() []Template                                      // prompts and skills that are commands of their own; asked at once
	Skills    func(context.Context) ([]Fact, error)                  // of /skills
	Agents    func(context.Context) ([]Fact, error)                  // of /agents
	Roles     func() []Fact                                          // of /role; asked at once
	Hooks     func(context.Context) ([]Item, error)                  // of /hooks
	Servers   func(context.Context) ([]Item, error)                  // of /mcp
	Rules     func(context.Context) ([]Fact, error)                  // of /rules
	SetRole   func(ctx context.Context, name string) (string, error) // empty name: none; says what was done
	// Mentions says how to get what a prompt names, such as @server:resource; nil
	// if it names nothing. It is asked at once, what it gives is not.
	Mentions func(prompt string) func(context.Context) (*engine.Expansion, error)

	DeleteSession func(ctx context.Context, path string) error       // to the trash
	RenameSession func(ctx context.Context, path, name string) error // empty name: none; never of the open one
	Preview       func(ctx context.Context, path string) ([]Said, error)
	Search        func(ctx context.Context, path, text string) ([]Found, error)   // of one session, all branches
	Import        func(ctx context.Context, file string) (path string, err error) // of /import; never overwrites
	Settings      func(context.Context) ([]Setting, error)
	// SaveSetting keeps a setting, empty for the usual value, and says how the
	// screen is to be from then on.
	SaveSetting func(ctx context.Context, name, value string) (Preferences, error)
	Providers   func() []string // that Login knows
	Login       func(ctx context.Context, provider, key string) error
	Logout      func(ctx context.Context, provider string) error
	Trust       func(context.Context) (string, error) // of /trust; says what was done
	Doctor      Examiner                              // of /doctor
	Sandbox     func(context.Context) ([]Fact, error) // of /sandbox, when a session is open

	History   func() ([]string, error) // prompts of other sessions, oldest first
	Remember  func(prompt string) error
	SaveDraft func(session, text string) error // empty text: there is none any more
	LoadDraft func(session string) string
	SaveTree  func(session, state string) error // how its tree looked; empty: as usual
	LoadTree  func(session string) string

	Extensions func(context.Context) ([]Item, error) // of /extensions

	// The following are for tests.

	Now   func() time.Time                           // nil for time.Now
	After func(d time.Duration, msg tea.Msg) tea.Cmd // nil for a real timer
}

// Choice is a model that can be chosen.
type Choice struct {
	Model  session.ModelRef
	Name   string // for people
	Detail string // e.g. its price and window, or why it cannot be used
}

// Session is a session that can be opened.
type Session struct {
	Path     string
	ID       string
	Name     string // empty if it has none
	First    string // the first prompt
	Cwd      string
	Modified time.Time
	Messages int
	Branches int    // ends of paths
	Tasks    int    // that it gave, whose sessions belong to it
	Parent   string // path or id of the session that it was forked from; empty if none
}

// Said is a message for a preview, in order: who said it and the text, which
// may be cut.
type Said struct{ Who, Text string }

// Model is the screen. Only Bubble Tea's goroutine touches it.
type Model struct {
	opts     Options
	theme    theme.Theme
	terminal terminal
	keys     keymap.Table[*Model]

	// What the engine told.
	session session.Snapshot
	offers  offers // of extensions
	opened  bool
	answer  string // the last one on the active path
	state   engine.State
	queue   engine.Queue
	running *engine.Started // nil when idle
	retry   *retry          // the request failed and is tried again
	shell   session.Command // what the user runs with !; no Command: nothing

	// What is on the screen.
	transcript *transcript.Model
	said       int      // notices in the transcript
	early      []notice // said before there was a session
	editor     *editor.Model
	overlays   []overlay // the last one has the keys
	notice     notice
	branch     string // of version control
	width      int    // cells; 0 until the terminal said
	height     int
	layout     layout

	// What keys did a moment ago.
	chord    string // the beginning of a sequence of keys
	last     press
	again    bool // this key was the last one too, within a second
	dragging bool
	mouse    bool
	pictures pictures

	pace     *pace // of the program that this is the screen of; nil without one
	clock    int   // numbers the clocks; the last one runs while something does
	listing  func() []string
	drafts   drafts
	tasks    tasks
	tree     treeFlow
	landing  landing // of /search, until the session is open
	prompted bool    // Options.Prompt is sent
	failure  error   // why the engine ended by itself
}

// New makes a screen. It does nothing before Init.
func New(o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		}
	}
	m := &Model{opts: o, mouse: !o.NoMouse, terminal: unknown()}
	th, err := theme.Load(themeFor(o.Theme, true), m.terminal.profile)
	m.theme = th
	m.keys = keymap.New(bindings(), o.Keys)
	m.transcript = transcript.New(th)
	m.transcript.SetSiblings(m.siblings)
	m.editor = editor.New(editor.Options{Placeholder: "Ask, or / for commands", Keys: o.Keys, Vi: o.Vi})
	m.editor.SetTheme(th)
	m.editor.SetSources(m.sources()...)
	if err != nil {
		m.say(engine.Warning, err.Error())
	}
	for _, err := range keymap.Check(o.Keys, KeyRows()) {
		m.say(engine.Warning, err.Error())
	}
	return m
}

// Init asks for what may come later than the first frame.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.findBranch(), m.readHistory()}
	if followsTerminal(m.opts.Theme) {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update routes: engine events, the terminal's size, keys, mouse and pastes
// have one place each; everything else is offered to all parts, which know
// their own messages.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case Events:
		cmd = m.fold(msg)
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.pictures.over, m.pictures.next = nil, nil // the screen is drawn anew
	case tea.KeyPressMsg:
		cmd = m.pressed(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseMsg:
		cmd = m.pointer(msg)
	default:
		cmd = m.broadcast(msg)
	}
	m.arrange()
	m.pace.stir(msg)
	return m, tea.Batch(cmd, m.keepDraft(), m.drawPictures())
}

// message is one of our own: the end of a tea.Cmd. It stands beside the flow
// that issued the command and says itself what comes of it.
type message interface{ apply(*Model) tea.Cmd }

// broadcast is for what has no place of its own: our own messages, what the
// terminal says of itself, and answers to commands of the screen's parts.
func (m *Model) broadcast(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case message:
		return msg.apply(m)
	case editor.Failed:
		m.say(engine.Failure, msg.Err.Error())
		return nil
	}
	_, cmd := m.editor.Update(msg)
	cmds := []tea.Cmd{cmd, m.heard(msg)}
	for _, o := range slices.Clone(m.overlays) {
		cmds = append(cmds, m.tell(o, msg))
	}
	return tea.Batch(cmds...)
}

// followsTerminal says whether the user left the theme to the terminal.
func followsTerminal(name string) bool { return name == "" || name == "auto" }

// themeFor is the theme to use where the user named none.
func themeFor(name string, dark bool) string {
	switch {
	case !followsTerminal(name):
		return name
	case dark:
		return "dark"
	}
	return "light"
}

// setTheme changes the colours. It says whether there is such a theme.
func (m *Model) setTheme(name string) bool {
	th, err := theme.Load(name, m.terminal.profile)
	if err != nil {
		m.say(engine.Failure, err.Error())
		return false
	}
	m.theme = th
	m.transcript.SetTheme(th)
	for _, f := range m.tasks.all {
		if f.transcript != nil {
			f.transcript.SetTheme(th)
		}
	}
	m.editor.SetTheme(th)
	for _, o := range m.overlays {
		if o, ok := o.(interface{ SetTheme(theme.Theme) }); ok {
			o.SetTheme(th)
		}
	}
	return true
}

// failedMsg is the end of a tea.Cmd that could not do its work, doneMsg of one
// that did.
type (
	failedMsg struct{ err error }
	doneMsg   string
)

func (msg failedMsg) apply(m *Model) tea.Cmd { m.say(engine.Failure, msg.err.Error()); return nil }

func (msg doneMsg) apply(m *Model) tea.Cmd { m.hint(string(msg)); return nil }

// work is a command that only succeeds or fails.
func work(done string, f func(context.Context) error) tea.Cmd {
	return func() tea.Msg {
		if err := f(context.Background()); err != nil {
			return failedMsg{err}
		}
		return doneMsg(done)
	}
}
