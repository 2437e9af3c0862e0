package headless

import (
	"context"
	"errors"
	"fmt"
	"io"

	"banyan/internal/agent"
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
)

// Engine is what a front end meets.
type Engine interface {
	Send(engine.Command)
	Events() <-chan engine.Event
}

// ErrRefused says that a call needed an approval that nobody was there to give.
var ErrRefused = errors.New("some tool calls were refused, because nobody is here to approve them; see --permission-mode and --allowed-tools")

// ErrLimit says that the run ended at a limit that its user set.
var ErrLimit = errors.New("the limit of --max-turns was reached")

// Print sends one prompt, writes the text of the last answer to out and notices
// to log, and ends the engine. It runs beside Engine.Run. When ctx is done the
// run is interrupted.
func Print(ctx context.Context, e Engine, prompt string, out, log io.Writer) error {
	p := printer{engine: e, prompt: prompt, log: log}
	interrupted := ctx.Done()
	for {
		select {
		case ev, ok := <-e.Events():
			if !ok {
				return p.end(out)
			}
			p.event(ev)
		case <-interrupted:
			interrupted = nil
			p.failed = ctx.Err()
			e.Send(engine.Interrupt{})
			e.Send(engine.Close{})
		}
	}
}

type printer struct {
	engine  Engine
	prompt  string
	log     io.Writer
	answer  llm.Message
	refused bool
	failed  error
}

func (p *printer) event(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Opened:
		p.engine.Send(engine.Submit{Text: p.prompt})
	case engine.Appended:
		if m, ok := ev.Entry.Data.(session.Message); ok && m.Role == llm.Assistant {
			p.answer = m.Message
		}
	case engine.Asked:
		p.refused = true
		fmt.Fprintf(p.log, "refused: %s %s\n", inert.Line(ev.Call.Name), inert.Line(ev.Subject))
		p.engine.Send(engine.Answer{Ask: ev.Ask, Decision: engine.Deny, Comment: "nobody is here to approve it"})
	case engine.Notice:
		fmt.Fprintln(p.log, inert.Text(ev.Text))
	case engine.Queue:
		if len(ev.TakenBack) > 0 { // the session takes no prompts; a notice says why
			p.failed = errors.New("the prompt was not sent")
			p.engine.Send(engine.Close{})
		}
	case engine.Finished:
		switch {
		case p.failed != nil:
		case errors.Is(ev.Err, agent.ErrMaxRounds):
			p.failed = ErrLimit
		default:
			p.failed = ev.Err
		}
		p.engine.Send(engine.Close{})
	case engine.Closed:
		if ev.Err != nil {
			p.failed = ev.Err
		}
	}
}

func (p *printer) end(out io.Writer) error {
	if text := p.answer.Text(); text != "" {
		if _, err := fmt.Fprintln(out, inert.Text(text)); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	if p.failed == nil && p.refused {
		return ErrRefused
	}
	return p.failed
}
