package headless

import (
	"fmt"
	"io"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
)

// text tells the last answer.
type text struct{ out io.Writer }

func (text) event(engine.Event, *record) error { return nil }

func (t text) end(_ error, r *record) error {
	answer := r.answer.Text()
	if answer == "" {
		return nil
	}
	_, err := fmt.Fprintln(t.out, inert.Text(answer))
	return err
}
