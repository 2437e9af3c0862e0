package termcap

import (
	"context"
	"errors"
	"os"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// patience is how long a terminal has for its answers. Those at the other end of
// the world take a third of a second.
const patience = time.Second

// Ask writes the questions to a terminal, and reads its answers until the last
// one is there or patience is at its end. What is typed meanwhile is lost. It
// returns what is known, with an error where the terminal could not be asked.
func Ask(ctx context.Context, c Caps, in, out *os.File) (Caps, error) {
	query := c.Query()
	if query == "" || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return c, errors.New("there is no terminal to ask")
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return c, err
	}
	defer func() { _ = term.Restore(int(in.Fd()), was) }()
	reader, err := uv.NewCancelReader(in)
	if err != nil {
		return c, err
	}
	defer reader.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { reader.Cancel() })
	defer stop()
	if _, err := out.WriteString(ansi.RequestKittyKeyboard + query); err != nil {
		return c, err
	}
	var all []byte
	for buf := make([]byte, 4096); ; {
		n, err := reader.Read(buf)
		all = append(all, buf[:n]...)
		if heard := c.decoded(all); heard.Answered || err != nil { // it was cancelled, or the terminal is gone
			return heard, nil
		}
	}
}

// decoded is what is known after all that a terminal wrote. It is decoded from
// its beginning each time: a part of an answer looks like keys.
func (c Caps) decoded(text []byte) Caps {
	var d uv.EventDecoder
	for len(text) > 0 {
		n, event := d.Decode(text)
		if n == 0 {
			break
		}
		c.Heard(event)
		text = text[n:]
	}
	return c
}
