package headless

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
)

// text tells the last answer, or the result where one is wanted.
type text struct{ out io.Writer }

func (text) event(engine.Event, *record) error { return nil }

func (t text) end(_ error, r *record) error {
	if r.result != nil {
		return t.result(r.result.Value)
	}
	answer := r.answer.Text()
	if answer == "" {
		return nil
	}
	_, err := fmt.Fprintln(t.out, inert.Text(answer))
	return err
}

// result tells nothing where there is none: who reads this reads JSON.
func (t text) result(value json.RawMessage) error {
	if value == nil {
		return nil
	}
	_, err := t.out.Write(inertJSON(append(slices.Clone(value), '\n')))
	return err
}
