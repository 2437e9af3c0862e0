package termcap

import (
	"context"
	"testing"
	"time"

	"github.com/creack/pty"
)

func env(vars ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1]
			}
		}
		return ""
	}
}

// What terminals answer, whole and in pieces, in any order.
func TestAnswers(t *testing.T) {
	const attributes, sixel = "\x1b[?62;22c", "\x1b[?62;4;22c"
	tests := []struct {
		name, answer string
		want         Caps
	}{
		{"only its attributes", attributes, Caps{Answered: true}},
		{"kitty", "\x1b[?1u\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.42.1)\x1b\\\x1b[6;20;10t" + attributes, Caps{Program: "kitty(0.42.1)", Kitty: true, Keyboard: true, Answered: true, CellWidth: 10, CellHeight: 20}},
		{"kitty that refuses", "\x1b_Gi=31;ENOTSUP:no\x1b\\" + attributes, Caps{Answered: true}},
		{"foot", "\x1bP>|foot(1.17)\x1b\\" + sixel, Caps{Program: "foot(1.17)", Sixel: true, Answered: true}},
		{"iTerm2", "\x1bP>|iTerm2 3.5\x1b\\" + attributes, Caps{Program: "iTerm2 3.5", ITerm: true, Answered: true}},
		{"with what is typed", "hi\r" + attributes + "there", Caps{Answered: true}},
	}
	for _, tt := range tests {
		if got := (Caps{}).decoded([]byte(tt.answer)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		for i := range tt.answer { // a cut answer says less, never something else
			got := (Caps{}).decoded([]byte(tt.answer[:i]))
			if got.Kitty && !tt.want.Kitty || got.Sixel && !tt.want.Sixel || got.ITerm && !tt.want.ITerm {
				t.Errorf("%s: after %q it says %+v", tt.name, tt.answer[:i], got)
			}
		}
	}
}

func TestFromEnv(t *testing.T) {
	tests := []struct {
		env  func(string) string
		want Caps
	}{
		{env("TERM", "xterm-256color", "TERM_PROGRAM", "iTerm.app"), Caps{Term: "xterm-256color", Program: "iTerm.app", ITerm: true}},
		{env("TERM", "tmux-256color", "TERM_PROGRAM", "tmux", "TMUX", "/tmp/x"), Caps{Term: "tmux-256color", Program: "tmux", Mux: "tmux"}},
		{env("TERM", "screen", "STY", "1", "TERM_PROGRAM", "WezTerm"), Caps{Term: "screen", Program: "WezTerm", Mux: "screen"}},
		{env("TERM", "xterm", "SSH_TTY", "/dev/pts/1"), Caps{Term: "xterm", Remote: true}},
	}
	for _, tt := range tests {
		if got := FromEnv(tt.env); got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
	if q := FromEnv(env("TERM", "dumb")).Query(); q != "" {
		t.Errorf("a dumb terminal is asked %q", q)
	}
}

// A terminal on a real line is asked and heard; one that is silent is not waited
// for long.
func TestAsk(t *testing.T) {
	for _, answers := range []bool{true, false} {
		ours, theirs, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo-terminals here:", err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			buf := make([]byte, 4096)
			if _, err := ours.Read(buf); err == nil && answers {
				_, _ = ours.WriteString("\x1b_Gi=31;OK\x1b\\\x1b[?62;4c")
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if !answers {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		got, err := Ask(ctx, FromEnv(env("TERM", "xterm")), theirs, theirs)
		cancel()
		if err != nil || got.Kitty != answers || got.Sixel != answers || got.Answered != answers {
			t.Errorf("answers %v: %+v, %v", answers, got, err)
		}
		<-done
		ours.Close()
		theirs.Close()
	}
}
