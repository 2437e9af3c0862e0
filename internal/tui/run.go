package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"

	tea "charm.land/bubbletea/v2"
)

// framesPerSecond is how often the terminal may be written to. The first frame
// waits for the first of these ticks, which is why there are many.
const framesPerSecond = 120

// Farewell is what is left on the normal screen.
type Farewell struct {
	Answer  string // the last one, as Markdown; empty if there was none
	Session string // the beginning of the session's id; empty if nothing was saved
}

// String is the farewell for a terminal, inert, with a line feed at its end;
// empty if there is nothing to say.
func (f Farewell) String() string {
	var parts []string
	if f.Answer != "" {
		parts = append(parts, strings.TrimSpace(inert.Text(f.Answer)))
	}
	if f.Session != "" {
		parts = append(parts, "agent --session "+inert.Line(f.Session))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Run shows the screen until the user leaves, the engine ends, or ctx is done.
// It closes the engine and waits until its events have ended. An interrupt from
// outside is no error; the terminal is as it was before in any case. Signals are
// the caller's, by way of ctx: Bubble Tea's own handler sends to a loop that may
// have ended, and then never returns.
func Run(ctx context.Context, o Options, with ...tea.ProgramOption) (Farewell, error) {
	m := New(o)
	p := tea.NewProgram(m, append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}, with...)...)
	m.pace = &pace{program: p}
	forwarded := make(chan struct{})
	go func() {
		defer close(forwarded)
		forward(o.Engine.Events(), p.Send)
	}()
	_, err := p.Run()
	m.pace.stop()
	if drop := m.dropPictures(); drop != "" {
		os.Stdout.WriteString(drop)
	}
	o.Engine.Send(engine.Close{})
	select {
	case <-forwarded:
	case <-ctx.Done():
	}
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("the screen ended: %w", err)
	}
	return m.farewell(), errors.Join(err, m.failure, m.leave())
}

// forward hands events to the screen until there are no more: it waits for one,
// takes what else is there, and sends them as one message, so that a stream
// costs a frame for each batch and not for each event.
func forward(events <-chan engine.Event, send func(tea.Msg)) {
	for ev := range events {
		batch := Events{ev}
		for more := true; more; {
			select {
			case ev, ok := <-events:
				if more = ok; ok {
					batch = append(batch, ev)
				}
			default:
				more = false
			}
		}
		send(batch)
	}
}

// idLength is how much of a session's id finds it again: of a UUIDv7, the time
// of its creation to the millisecond. Eight digits are the same for a minute.
const idLength = 13

func (m *Model) farewell() Farewell {
	if !m.opened || m.session.Leaf() == "" {
		return Farewell{}
	}
	f := Farewell{Answer: m.answer}
	if m.session.Path() != "" {
		id := m.session.Header().ID
		f.Session = shortID(id)
	}
	return f
}

func shortID(id string) string { return id[:min(idLength, len(id))] }

// leave saves the draft that was not saved yet.
func (m *Model) leave() error {
	if m.opts.SaveDraft == nil || m.drafts.session == "" || m.drafts.version == m.editor.Version() {
		return nil
	}
	return m.saveDraft()()
}
