package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
)

// panickingScreen is a chat with a fault in it; TestMain runs it as a program.
func panickingScreen() {
	e := engine.New(engine.Config{Models: noModels{}, Open: func() (*session.Manager, error) {
		return session.New("", "/", session.Options{})
	}})
	go e.Run(context.Background())
	_, err := tui.Run(context.Background(), tui.Options{
		Engine: e, Version: "test", Cwd: "/",
		Branch: func(context.Context) string { panic("a fault in a background task of the screen") },
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(exitError)
}

type noModels struct{}

func (noModels) Client(session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return nil, engine.ModelInfo{}, errors.New("there are no models")
}

// ending is a way in which the program may end.
type ending struct {
	name string
	end  func(tm *terminal)
	code int // -1: by a signal, or whatever
}

var endings = []ending{
	{"TERM", func(tm *terminal) { tm.cmd.Process.Signal(syscall.SIGTERM) }, -1},
	{"HUP", func(tm *terminal) { tm.cmd.Process.Signal(syscall.SIGHUP) }, -1},
	{"INT", func(tm *terminal) { tm.cmd.Process.Signal(os.Interrupt) }, -1},
	{"Ctrl+D", func(tm *terminal) { tm.send(ctrlD) }, exitDone},
	{"/quit", func(tm *terminal) { tm.send("/quit" + enter) }, exitDone},
	{"TERM while an answer comes", func(tm *terminal) {
		tm.send("what can you do?" + enter)
		tm.see("Working")
		tm.cmd.Process.Signal(syscall.SIGTERM)
	}, -1},
	{"TERM with a question open", func(tm *terminal) {
		tm.send("run sh -c 'echo no'" + enter)
		tm.see("May this run?")
		tm.cmd.Process.Signal(syscall.SIGTERM)
	}, -1},
	{"TERM in the tree", func(tm *terminal) {
		tm.send("list ." + enter)
		tm.notSee("Working")
		tm.send("/tree" + enter)
		tm.see("list .")
		tm.cmd.Process.Signal(syscall.SIGTERM)
	}, -1},
}

// However the program ends, the terminal is as it was: the same settings of the
// line, and no mode left on.
func TestTerminalIsRestored(t *testing.T) {
	rounds := times(1, 5, 25)
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			for range rounds {
				tm := start(t, newHome(t), 100, 30)
				tm.see("offline")
				e.end(tm)
				if code := tm.end(); e.code >= 0 && code != e.code {
					t.Errorf("exit code %d", code)
				}
				wantRestored(t, tm)
			}
		})
	}
	t.Run("panic", func(t *testing.T) {
		for range rounds {
			tm := newHome(t).launch(t, launch{cols: 100, rows: 30, as: "panicking-screen"})
			if code := tm.end(); code != exitError {
				t.Errorf("exit code %d\n%s", code, tm.text())
			}
			wantRestored(t, tm)
		}
	})
	// At any moment, the start included.
	for range 4 * rounds {
		tm := start(t, newHome(t), 100, 30)
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		tm.cmd.Process.Signal(syscall.SIGTERM)
		tm.end()
		wantRestored(t, tm)
	}
	t.Logf("%d ends in %d ways: the line's settings are the same, 0 modes left on", (len(endings)+1+4)*rounds, len(endings)+2)
}

// A terminal that is closed under the program ends it, and what was said is on
// the disk.
func TestClosedTerminal(t *testing.T) {
	rounds := times(2, 10, 50)
	for range rounds {
		h := newHome(t)
		tm := start(t, h, 100, 30)
		tm.see("offline")
		tm.send("list ." + enter)
		tm.see("Working")
		tm.hangUp()
		tm.end()
		files := h.sessions(t)
		if len(files) != 1 {
			t.Fatalf("sessions: %v", files)
		}
		if problems, path := read(t, files[0]); len(problems) > 0 || !strings.Contains(path, "list .") {
			t.Errorf("problems %v in\n%s", problems, path)
		}
	}
	t.Logf("%d closed terminals: the program ended each time, 0 prompts lost", rounds)
}

func wantRestored(t *testing.T, tm *terminal) {
	t.Helper()
	if !reflect.DeepEqual(tm.before, tm.after) {
		t.Errorf("the settings of the line were %+v and are %+v", tm.before, tm.after)
	}
	if left := modesLeft(tm.written()); len(left) > 0 {
		t.Errorf("left on: %v", left)
	}
}

var (
	privateMode = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	kittyKeys   = regexp.MustCompile(`\x1b\[([<>=])([0-9;]*)u`)
	otherKeys   = regexp.MustCompile(`\x1b\[>4(;[0-9]+)?m`)
	cursorStyle = regexp.MustCompile(`\x1b\[([0-9]*) q`)
	progress    = regexp.MustCompile(`\x1b\]9;4;([0-9])[^\a\x1b]*`)
	style       = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)
)

// onAtFirst are modes that are on in a terminal that nothing has been told:
// wrapping and the cursor.
var onAtFirst = []string{"7", "25"}

// modesLeft are the modes that what was written to a terminal leaves otherwise
// than they were.
func modesLeft(raw []byte) (left []string) {
	modes := map[string]bool{}
	for _, m := range privateMode.FindAllSubmatch(raw, -1) {
		for _, mode := range strings.Split(string(m[1]), ";") {
			modes[mode] = m[2][0] == 'h'
		}
	}
	for mode, on := range modes {
		if on != slices.Contains(onAtFirst, mode) {
			left = append(left, fmt.Sprintf("mode ?%s is %v", mode, on))
		}
	}
	depth := 0
	for _, m := range kittyKeys.FindAllSubmatch(raw, -1) {
		switch m[1][0] {
		case '>':
			depth++
		case '<':
			depth--
		}
	}
	if depth != 0 {
		left = append(left, fmt.Sprintf("%d keyboard modes pushed and not popped", depth))
	}
	last := func(re *regexp.Regexp) string {
		all := re.FindAllSubmatch(raw, -1)
		if len(all) == 0 {
			return ""
		}
		return string(all[len(all)-1][1])
	}
	if v := last(otherKeys); v != "" && v != ";0" {
		left = append(left, "modifyOtherKeys is "+v)
	}
	if v := last(cursorStyle); v != "" && v != "0" {
		left = append(left, "the cursor's style is "+v)
	}
	if v := last(progress); v != "" && v != "0" {
		left = append(left, "progress is shown: "+v)
	}
	if v := last(style); v != "" && v != "0" {
		left = append(left, "text is styled "+v)
	}
	return left
}
