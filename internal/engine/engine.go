package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/mailbox"
	"banyan/internal/permission"
	"banyan/internal/rule"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// Models is what the engine needs to know of providers.
type Models interface {
	// Client gives a model's client. The error says what to do.
	Client(ref session.ModelRef) (llm.Client, ModelInfo, error)
}

// ModelInfo describes a model that answers.
type ModelInfo struct {
	llm.Model
	API     string // recorded with answers
	Offline bool   // the embedded model
}

// Config is what an engine is made of.
type Config struct {
	// Open gives the first session. It runs in the engine's goroutine, so that
	// no screen waits for it.
	Open func() (*session.Manager, error)
	// Prepare completes the configuration with what takes time to make, before
	// Open, in the engine's goroutine; nil if it is complete.
	Prepare func(*Config) error
	// Notices are told once the first session is open.
	Notices []Notice
	// SessionDir is where new sessions and forks go; empty keeps them in memory.
	SessionDir string
	Cwd        string
	Session    session.Options // for sessions that are opened later

	Models Models
	// Model answers where the session does not say otherwise.
	Model session.ModelRef
	// ModelChosen: Model was asked for and goes before what the session says.
	ModelChosen bool
	Thinking    llm.ThinkingLevel
	// ThinkingChosen: the same of Thinking.
	ThinkingChosen bool

	// StreamRules are watched for in what models write: see [rule.Rule].
	StreamRules []*rule.Rule
	Tools       []tool.Tool // more come with [SetTools]
	System      string      // system prompt; the same for every request of a session
	// Instructions is how many bytes of System are files of instructions.
	Instructions int
	// Below gives the instructions that hold for a path and have not been told
	// yet, empty for none; it is asked for paths that tools touch. Nil for none.
	Below func(path string) string
	// SaveQueue and LoadQueue keep the prompts that wait, by session id, so that
	// they survive a restart; nil does not.
	SaveQueue  func(session string, prompts []string) error
	LoadQueue  func(session string) []string
	Discard    func(path string) error // moves a session that is not open to the trash; nil cannot
	Policy     *permission.Policy      // who may do what; never nil
	Compaction Compaction
	// BranchInstructions say what summaries of branches should look at, besides
	// the usual and what the user says each time.
	BranchInstructions string
	Hooks              Hooks // of extensions; nil for none
	// Ending may keep a turn going that is about to end, by what the model is to
	// be told; nil lets turns end. It is called in the turn's goroutine.
	Ending func(context.Context, agent.Ending) (string, error)
	// Tasks say how work is given to others; nil for not at all.
	Tasks *Tasks
	// MaxRounds limits the requests of a turn; 0 means no limit.
	MaxRounds int
	// MaxUSD ends a turn with [ErrBudget] before a request where so much was spent
	// since New, in USD; 0 means no limit. What has no known price counts nothing.
	MaxUSD float64
	// RetryAfter is the time between tries to save what the disk refused; zero
	// means five seconds.
	RetryAfter time.Duration
	Now        func() time.Time

	above *above // nil unless this is the engine of a task
}

// Compaction says when and how much is compacted, in tokens. Zero values mean
// the defaults of package summary.
type Compaction struct {
	Off        bool // no compaction by itself
	Reserve    int
	KeepRecent int
	// For gives the sizes for a model, in place of those above; nil: they are the
	// same for all.
	For func(session.ModelRef) (reserve, keepRecent int)
	// Model writes the summaries, those of branches too; zero: the model that answers.
	Model session.ModelRef
}

// Engine owns one session at a time. Make it with [New] and call Run once.
type Engine struct {
	cfg    Config
	inbox  *mailbox.Box[Command]
	outbox *mailbox.Box[Event]
	events chan Event
	steps  chan step
	ended  chan struct{} // closed when no step is taken any more
	grown  chan struct{} // another process may have written the session

	// What follows belongs to the goroutine of Run.

	session  *session.Manager
	watching *watching // waits for what another process writes; nil while nothing is watched
	job      *job      // what Interrupt ends; nil while idle
	jobDone  chan error
	asks     map[int]question
	nextAsk  int
	steering []Submit
	waiting  []Submit               // follow-ups
	more     map[string][]tool.Tool // of [SetTools], by source
	met      []string               // instructions that tools met, to be told with the next request
	mode     session.ModeChange     // that holds; without a name if none does
	// recordedMode is the one that the session says at its leaf.
	recordedMode session.ModeChange
	// modeBefore is the permission mode before a path that is in plan mode was
	// entered; empty while none is.
	modeBefore string
	heard      hearing   // of the turn, for hooks
	then       *Navigate // when the job has ended

	model    session.ModelRef
	client   llm.Client
	info     ModelInfo
	thinking llm.ThinkingLevel
	// recorded is what the session says at its leaf of model and thinking level.
	recorded      session.ModelRef
	recordedLevel llm.ThinkingLevel
	usage         llm.Usage // of the active path
	counting      int       // numbers the counts of usage; only the newest one matters

	size     size                         // of the context at the leaf
	weighing int                          // numbers the measurings of size, likewise
	patience int                          // below so many tokens no compaction begins by itself
	asked    int                          // estimated tokens of the last request
	ratios   map[session.ModelRef]float64 // of counted to estimated tokens
	limits   map[session.ModelRef]int     // what was too large, less a quarter, in tokens
	spent    llm.Usage                    // since New, on any path of any session, and by tasks

	tasks   []*task       // of the session, in the order in which they were given
	listing int           // numbers the searches for them
	slots   chan struct{} // full when as many tasks run as may
	working int           // tasks at every depth that run

	unsaved bool
	saved   chan struct{} // closed when everything is on the disk again; nil while it is
	retry   *time.Timer   // runs while unsaved
	idle    *time.Timer   // runs after a move until the position is written
	closing bool
}

// job is something that runs beside the owner.
type job struct {
	what   string
	cancel context.CancelFunc
	// moves: it is to end with the leaf moved, and has not moved it yet.
	moves  bool
	target session.ID
}

// step is a change that a job hands to the owner and waits for.
type step struct {
	do   func() error
	done chan error
}

const positionAfter = 2 * time.Second // idle time until a move is recorded

// New makes an engine; nothing happens before Run.
func New(cfg Config) *Engine {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.RetryAfter == 0 {
		cfg.RetryAfter = 5 * time.Second
	}
	e := &Engine{
		cfg: cfg, inbox: mailbox.New[Command](), outbox: mailbox.New[Event](),
		events: make(chan Event), steps: make(chan step), ended: make(chan struct{}), grown: make(chan struct{}), jobDone: make(chan error, 1),
		asks: map[int]question{}, retry: stoppedTimer(), idle: stoppedTimer(),
		ratios: map[session.ModelRef]float64{}, limits: map[session.ModelRef]int{},
		thinking: cfg.Thinking,
	}
	if e.thinking == "" {
		e.thinking = llm.ThinkingOff
	}
	return e
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// Send hands a command over. It never blocks and may be called from anywhere.
func (e *Engine) Send(c Command) { e.inbox.Put(c) }

// Events are closed after [Closed]. They wait in memory until they are taken.
func (e *Engine) Events() <-chan Event { return e.events }

// Run owns the session until ctx is done or Close is sent. It returns when
// everything is saved and all events were taken; once ctx is done, events that
// nobody takes within a moment are dropped.
func (e *Engine) Run(ctx context.Context) {
	pumped := make(chan struct{})
	go e.pump(ctx, pumped)
	err := e.own(ctx)
	close(e.ended)
	e.emit(Closed{err})
	e.outbox.Put(nil) // ends the pump
	<-pumped
}

// pump takes events to the channel, so that a slow front end never holds up the owner.
func (e *Engine) pump(ctx context.Context, pumped chan<- struct{}) {
	defer close(pumped)
	defer close(e.events)
	for range e.outbox.Wake {
		for _, ev := range e.outbox.Take() {
			if ev == nil {
				return
			}
			select {
			case e.events <- ev:
			case <-ctx.Done():
				// The front end is going: what it still takes in a moment it gets.
				select {
				case e.events <- ev:
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
	}
}

// own is the owner's loop. A panic in it ends the engine, not the session:
// what was appended is on the disk.
func (e *Engine) own(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault in this program ended the session (it is saved): %v", p)
		}
		e.unwatch()
		if e.session != nil {
			e.tell(&SessionShutdown{"quit", e.session.Snapshot()})
			err = errors.Join(err, e.session.Close())
		}
	}()
	if err := e.begin(); err != nil {
		return err
	}
	for !e.closing || e.job != nil {
		select {
		case <-e.inbox.Wake:
			for _, c := range e.inbox.Take() {
				e.handle(c)
			}
		case s := <-e.steps:
			s.done <- s.do()
		case err := <-e.jobDone:
			e.finished(err)
		case <-e.idle.C:
			e.savePosition()
		case <-e.retry.C:
			e.flush()
		case <-e.grown:
			e.takeIn()
		case <-ctx.Done():
			e.close()
			ctx = context.Background() // once is enough
		}
	}
	return nil
}

// begin opens the first session.
func (e *Engine) begin() error {
	if e.cfg.Prepare != nil {
		if err := e.cfg.Prepare(&e.cfg); err != nil {
			return err
		}
	}
	if e.cfg.Tasks != nil {
		e.cfg.Tools = append(e.cfg.Tools[:len(e.cfg.Tools):len(e.cfg.Tools)], e.taskTool())
		e.slots = make(chan struct{}, cmp.Or(e.cfg.Tasks.MaxParallel, DefaultParallelTasks))
	}
	e.chooseModel(e.cfg.Model)
	e.emitState()
	m, err := e.cfg.Open()
	if err != nil {
		return err
	}
	reason := "startup"
	if m.Snapshot().Len() > 0 {
		reason = "resume"
	}
	if err := e.enter(m, nil, SessionStart{Reason: reason}); err != nil {
		return err
	}
	for _, n := range e.cfg.Notices {
		e.emit(n)
	}
	return nil
}

// handle does what a command says.
func (e *Engine) handle(c Command) {
	if shown, ok := c.(Event); ok { // passed on as it is
		e.emit(shown)
		return
	}
	switch c := c.(type) {
	case Submit:
		e.submit(c)
	case Unqueue:
		e.takeBack()
	case SetQueue:
		e.setQueue(c.FollowUps)
	case Interrupt:
		e.interrupt()
	case Answer:
		e.answer(c)
	case Navigate:
		e.navigate(c)
	case CherryPick:
		e.cherryPick(c)
	case Merge:
		e.merge(c)
	case RunCommand:
		e.runCommand(c)
	case Inspect:
		e.inspect()
	case ReportUsage:
		e.reportUsage(c)
	case Compact:
		e.compact(c)
	case Fork:
		e.fork(c)
	case NewSession:
		e.newSession(c)
	case Open:
		e.open(c.Path)
	case Save:
		e.saveAs(c.Path)
	case StopTask:
		e.stopTask(c)
	case ToTask:
		e.toTask(c)
	case ResumeTasks:
		e.resumeTasks(c)
	case goOn:
		e.goOn()
	case closeIdle:
		if e.job == nil {
			e.close()
		}
	case Close:
		e.close()
	default:
		e.set(c)
	}
}

// set does what a command says about how the engine works, and what is said of
// the session itself.
func (e *Engine) set(c Command) {
	switch c := c.(type) {
	case SetModel:
		e.setModel(c.Model)
	case PreferModel:
		if e.info.Offline && e.session.Snapshot().Len() == 0 {
			e.setModel(c.Model)
		}
	case Reconfigure:
		e.cfg.System, e.cfg.Instructions, e.cfg.Below, e.cfg.StreamRules = c.System, c.Instructions, c.Below, c.StreamRules
		e.cfg.Policy.Remember(c.Rules...)
	case SetTools:
		e.setTools(c)
	case Append:
		e.appendFor(c)
	case Invoke:
		e.tell(&c)
	case DialogAnswer:
		e.tell(&c)
	case SetThinking:
		e.setThinking(c.Level)
	case SetMode:
		e.setMode(c)
	case SetPermission:
		e.setPermission(c.Mode)
	case SetLabel:
		e.setLabel(c)
	case SetName:
		e.record("name the session", session.Info{Name: c.Name})
	}
}

// close ends what runs. What waits stays saved for the next time.
func (e *Engine) close() {
	e.closing = true
	e.cancel()
}

var errEnded = errors.New("the engine has ended")

// do runs a change in the owner's goroutine; jobs call it.
func (e *Engine) do(change func() error) error {
	s := step{do: change, done: make(chan error, 1)}
	select {
	case e.steps <- s:
		return <-s.done
	case <-e.ended:
		return errEnded
	}
}

// start runs work beside the owner. The owner must be idle.
func (e *Engine) start(what string, work func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	e.job = &job{what: what, cancel: cancel}
	e.emit(Started{What: what, At: e.cfg.Now()})
	go func() {
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("a fault in this program ended the %s: %v", what, p)
			}
			e.jobDone <- err
		}()
		err = work(ctx)
	}()
}

// finished takes a job's end into account and starts what waits for it.
func (e *Engine) finished(err error) {
	what := e.job.what
	e.job.cancel()
	if e.job.moves {
		e.emit(Stayed{Target: e.job.target, Err: err})
	}
	e.job = nil
	if errors.Is(err, agent.ErrStop) { // the answer to a question was an interruption
		err = context.Canceled
		e.takeBack()
	}
	e.emit(Finished{What: what, Err: err})
	e.emitState()
	if then := e.then; then != nil && !e.closing {
		e.then = nil
		e.navigate(*then)
	} else if (err == nil || what == compaction) && !e.closing {
		e.startQueued() // a compaction that failed has changed nothing
	}
}

// interrupt ends what runs and gives back what waits for it.
func (e *Engine) interrupt() {
	running := e.job != nil
	e.cancel()
	if running {
		e.takeBack()
	}
}

// cancel ends what runs and takes its questions back.
func (e *Engine) cancel() {
	for ask := range e.asks {
		e.withdraw(ask)
	}
	if e.job != nil {
		e.job.cancel()
	}
}

func (e *Engine) emit(ev Event) { e.outbox.Put(ev) }

func (e *Engine) notice(level Level, format string, args ...any) {
	e.emit(Notice{level, fmt.Sprintf(format, args...)})
}
