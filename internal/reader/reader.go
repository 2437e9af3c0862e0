// Package reader is the chat for people who listen to it: what is said stands in
// lines, each with a label in front, that are written once and never changed.
//
//	You: what is in go.mod?
//	Tool read go.mod: started
//	Tool read go.mod: ok, 12 lines
//	Assistant: It is the module banyan.
//	You:
//
// It is a front end like the screen: it sends the engine commands and tells its
// events. Its data is what has been said so far of the answer that comes, and
// the questions that wait for an answer. It draws nothing, moves no cursor, uses
// no colour, and works in any terminal, and in none.
package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
)

// Engine is what a front end meets.
type Engine interface {
	Send(engine.Command)
	Events() <-chan engine.Event
}

// Options say what is read and where it is told.
type Options struct {
	In  io.Reader // lines: prompts, commands, answers to questions
	Out io.Writer
	// Interrupts come when the user wants what runs to end: Ctrl+C. Nil: never.
	Interrupts <-chan os.Signal
	Prompt     string // sent as soon as the session is open; empty: none
	// Expand makes what is sent of a line that is no command of ours; nil: the
	// line as it is.
	Expand func(ctx context.Context, text string) (engine.Submit, error)
	// Find is the path of the session that a text names; nil: a path.
	Find func(text string) (string, error)
}

// Run holds the conversation until the user leaves, the input has ended and
// nothing runs, the engine ends, or ctx is done, and ends the engine. It runs
// beside Engine.Run. The error is why the engine ended by itself.
//
// A goroutine of its own reads Options.In. It ends with the input: a terminal
// that is waited for keeps it until the program ends.
func Run(ctx context.Context, e Engine, o Options) error {
	t := &talk{ctx: ctx, engine: e, o: o, say: teller{out: o.Out}, calls: map[string]llm.ToolCall{}}
	lines := make(chan string)
	over := make(chan struct{})
	defer close(over)
	go readLines(o.In, lines, over)
	done := ctx.Done()
	for {
		select {
		case ev, ok := <-e.Events():
			if !ok {
				t.say.end()
				return t.failure
			}
			t.event(ev)
		case line, ok := <-lines:
			if !ok {
				lines = nil
				t.inputEnded()
				continue
			}
			t.line(line)
		case <-o.Interrupts:
			t.interrupt()
		case <-done:
			done = nil
			t.leave()
		}
	}
}

// readLines gives the lines of the input, the last one without a line feed too.
func readLines(in io.Reader, lines chan<- string, over <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			select {
			case lines <- strings.TrimRight(line, "\r\n"):
			case <-over:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// talk is a conversation's state: the fold of the engine's events.
type talk struct {
	ctx    context.Context
	engine Engine
	o      Options
	say    teller

	session session.Snapshot
	opened  bool
	early   []string // lines that came before there was a session
	running bool
	summing bool           // what comes as an answer is a summary
	asked   []engine.Asked // that wait, the first one is being asked
	tasks   []engine.TaskStatus
	calls   map[string]llm.ToolCall
	spoken  bool // some of the answer that comes was told
	noMore  bool // the input has ended
	leaving bool
	warned  bool // the user was told that another interrupt leaves
	failure error
}

// line is something that the user has typed.
func (t *talk) line(text string) {
	t.say.typed()
	t.warned = false
	text = strings.TrimSpace(text)
	switch {
	case len(t.asked) > 0:
		t.answer(text)
	case text == "":
		t.prompt()
	case !t.opened:
		t.early = append(t.early, text)
	case strings.HasPrefix(text, "/") && t.command(text):
	default:
		t.submit(text)
	}
}

// inputEnded: nobody is here any more. What runs goes on to its end, and what it
// asks is refused.
func (t *talk) inputEnded() {
	t.noMore = true
	for _, q := range t.asked {
		t.refuse(q)
	}
	t.asked = nil
	t.leaveWhenDone()
}

// submit sends a prompt; while something runs it steers.
func (t *talk) submit(text string) {
	submit := engine.Submit{Text: text}
	if t.o.Expand != nil {
		var err error
		if submit, err = t.o.Expand(t.ctx, text); err != nil {
			t.say.label("Error", err.Error())
			t.prompt()
			return
		}
	}
	if submit.Stands == nil && submit.Text == text && isCommand(text) {
		t.say.label("Error", "there is no "+text+"; /help reads the commands")
		t.prompt()
		return
	}
	if t.running {
		t.say.label("Notice", "sent to what runs")
	}
	t.running = true // until Finished; what comes before is not waited for at the prompt
	t.engine.Send(submit)
}

// interrupt ends what runs, else asks whether to leave, else leaves.
func (t *talk) interrupt() {
	t.say.fresh()
	switch {
	case t.running:
		t.say.label("Notice", "interrupting")
		t.engine.Send(engine.Interrupt{})
	case t.warned:
		t.leave()
	default:
		t.warned = true
		t.say.label("Notice", "Control C again, or /quit, leaves")
		t.prompt()
	}
}

// prompt waits for a line, if nothing else goes on.
func (t *talk) prompt() {
	switch {
	case t.leaving || t.noMore:
	case len(t.asked) > 0:
		t.say.ask("Answer")
	case !t.running && t.opened:
		t.say.ask("You")
	}
}

func (t *talk) leaveWhenDone() {
	if t.noMore && t.opened && !t.running && len(t.early) == 0 {
		t.leave()
	}
}

func (t *talk) leave() {
	if !t.leaving {
		t.leaving = true
		t.engine.Send(engine.Close{})
	}
}

// begin is the first session, or another one.
func (t *talk) begin(ev engine.Opened) {
	t.session = ev.Session
	t.asked, t.running, t.summing = nil, false, false
	t.openingWords(ev.Session)
	if ev.Draft != nil && ev.Draft.Text != "" {
		t.say.label("Draft", ev.Draft.Text)
	}
	if !t.opened {
		t.opened = true
		if t.o.Prompt != "" {
			t.early = append([]string{t.o.Prompt}, t.early...)
		}
		early := t.early
		t.early = nil
		for _, text := range early {
			t.say.label("You", text)
			t.line(text)
		}
		if len(early) > 0 {
			t.leaveWhenDone()
			return
		}
	}
	t.prompt()
	t.leaveWhenDone()
}

// finished is the end of what ran.
func (t *talk) finished(ev engine.Finished) {
	t.endAnswer()
	t.running, t.summing = false, false
	switch {
	case errors.Is(ev.Err, context.Canceled):
		t.say.label("Notice", "interrupted")
	case ev.Err != nil:
		t.say.label("Error", ev.Err.Error())
	case ev.What != "turn":
		t.say.label("Notice", fmt.Sprintf("the %s is done", ev.What))
	}
	t.prompt()
	t.leaveWhenDone()
}
