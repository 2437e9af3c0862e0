package headless

import (
	"context"
	"errors"
	"fmt"
	"io"

	"banyan/internal/agent"
	"banyan/internal/engine"
	"banyan/internal/result"
	"banyan/internal/tui/inert"
)

// Engine is what a front end meets.
type Engine interface {
	Send(engine.Command)
	Events() <-chan engine.Event
}

// Errors of a run. Each has an exit code of its own in the program.
var (
	// ErrRefused says that a rule refused a call, or that it needed an approval
	// that nobody was there to give.
	ErrRefused = errors.New("some tool calls were refused, by a rule or because nobody is here to approve them; see --permission-mode and --allowed-tools")
	// ErrLimit says that the run ended at a limit that its user set.
	ErrLimit error = limit("the limit of --max-turns was reached")
	// ErrBudget is the ErrLimit of money.
	ErrBudget error = limit("the limit of --max-budget-usd was reached")
)

// limit is an error that errors.Is takes for ErrLimit, whichever limit it was.
type limit string

func (l limit) Error() string      { return string(l) }
func (limit) Is(target error) bool { return target == ErrLimit }

// Format is how a run is told.
type Format string

// The formats, in the words of --output-format.
const (
	Text       Format = "text"        // the last answer
	JSON       Format = "json"        // one object about the whole run
	StreamJSON Format = "stream-json" // an object for each thing that happens, a line each
)

// Formats are all formats.
var Formats = []Format{Text, JSON, StreamJSON}

// Options are one run's.
type Options struct {
	Prompt string
	Stands *engine.Expansion // what Prompt stands for, if it is a command
	Format Format            // empty: Text
	Out    io.Writer         // one Write for each line
	Log    io.Writer         // notices and refusals, for people
	// MaxUSD ends the run when it has cost this much and the model still wants
	// to go on; 0: no limit. It is looked at when an answer is recorded, which
	// may cross it; what was begun after that is interrupted.
	MaxUSD float64
	// Partial tells answers in StreamJSON while they come, too.
	Partial bool
	// Result is what the run must end with; nil for an answer. The engine has its
	// tools and its Ending.
	Result *result.Want
	// Tools gives the names of the tools that the model has; they are told at the
	// beginning of StreamJSON. It is called once a session is open; nil for none.
	Tools func() []string
}

// Print is Run as Text.
func Print(ctx context.Context, e Engine, prompt string, out, log io.Writer) error {
	return Run(ctx, e, Options{Prompt: prompt, Out: out, Log: log})
}

// Run sends one prompt, tells what comes of it, and ends the engine. It runs
// beside Engine.Run. Calls that need approval are refused. When ctx is done the
// run is interrupted; what happened until then is told all the same.
//
// The error is ErrRefused, ErrLimit, ErrBudget, that of ctx, [result.ErrNone],
// [result.ErrGaveUp], or whatever else ended the run.
func Run(ctx context.Context, e Engine, o Options) error {
	tell, err := teller(o)
	if err != nil {
		e.Send(engine.Close{})
		for range e.Events() { // until it has ended
		}
		return err
	}
	r := run{engine: e, options: o, tell: tell, record: newRecord(o.Result)}
	interrupted := ctx.Done()
	for {
		select {
		case ev, ok := <-e.Events():
			if !ok {
				return r.end()
			}
			r.event(ev)
		case <-interrupted:
			interrupted = nil
			r.stop(ctx.Err())
		}
	}
}

func teller(o Options) (writer, error) {
	switch o.Format {
	case Text, "":
		return text{o.Out}, nil
	case JSON:
		return lines{out: o.Out}, nil
	case StreamJSON:
		s := &stream{lines: lines{out: o.Out}, tools: o.Tools}
		if o.Partial {
			s.partial = &partial{}
		}
		return s, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are text, json and stream-json", o.Format)
}

// writer tells a run in one format.
type writer interface {
	// event tells what has happened; it is in the record already.
	event(ev engine.Event, r *record) error
	// end tells how the run ended, with the error that Run gives.
	end(err error, r *record) error
}

// run is one run's state.
type run struct {
	engine  Engine
	options Options
	tell    writer
	record  *record
	failed  error // why the run ends before it is done
	closing bool  // Close was sent
	warned  bool  // the user knows that there is no budget
}

func (r *run) event(ev engine.Event) {
	r.record.fold(ev)
	if err := r.tell.event(ev, r.record); err != nil {
		r.stop(fmt.Errorf("write the output: %w", err))
	}
	switch ev := ev.(type) {
	case engine.Opened:
		r.engine.Send(engine.Submit{Text: r.options.Prompt, Stands: r.options.Stands})
	case engine.Appended, engine.TaskEvent:
		r.checkBudget()
	case engine.Asked:
		r.log("refused: %s %s", inert.Line(ev.Call.Name), inert.Line(ev.Subject))
		r.engine.Send(engine.Answer{Ask: ev.Ask, Decision: engine.Deny, Comment: "nobody is here to approve it"})
	case engine.Notice:
		r.log("%s", inert.Text(ev.Text))
	case engine.Queue:
		if len(ev.TakenBack) > 0 { // the session takes no prompts; a notice says why
			r.stop(errors.New("the prompt was not sent"))
		}
	case engine.Finished:
		r.finished(ev)
	case engine.Closed:
		if ev.Err != nil {
			r.failed = ev.Err
		}
	}
}

// finished ends the run with its turn.
func (r *run) finished(ev engine.Finished) {
	err := ev.Err
	if errors.Is(err, agent.ErrMaxRounds) {
		err = ErrLimit
	}
	if errors.Is(err, engine.ErrBudget) {
		err = ErrBudget
	}
	if r.record.result != nil {
		err = r.record.result.Err(err)
	}
	if r.failed == nil {
		r.failed = err
	}
	r.close()
}

// checkBudget stops the run between two answers.
func (r *run) checkBudget() {
	if r.options.MaxUSD <= 0 {
		return
	}
	if r.record.usage.CostUnknown && !r.warned {
		r.warned = true
		r.log("The price of this model is not known, so --max-budget-usd counts less than the run costs.")
	}
	if r.record.usage.Cost.Total >= r.options.MaxUSD && r.record.wantsMore() {
		r.stop(ErrBudget)
	}
}

// stop ends the run for a reason; the first one counts.
func (r *run) stop(err error) {
	if r.failed == nil {
		r.failed = err
	}
	if !r.closing {
		r.engine.Send(engine.Interrupt{})
	}
	r.close()
}

func (r *run) close() {
	if !r.closing {
		r.closing = true
		r.engine.Send(engine.Close{})
	}
}

func (r *run) log(format string, args ...any) {
	// Where notices cannot be written there is nobody to tell.
	_, _ = fmt.Fprintf(r.options.Log, format+"\n", args...)
}

// end tells the end and gives the run's error.
func (r *run) end() error {
	err := r.failed
	if err == nil && len(r.record.denials) > 0 {
		err = ErrRefused
	}
	if told := r.tell.end(err, r.record); told != nil && err == nil {
		return fmt.Errorf("write the output: %w", told)
	}
	return err
}
