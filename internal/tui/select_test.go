package tui_test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/tui/tuitest"
)

func TestSelectingByKeyboard(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Press("ctrl+x", "v").Sees("There is nothing to select yet")
	d.Append(user("first **prompt**"), answer("The *first*\nanswer."), user("second"), answer("- done"))
	d.Type("a draft")
	for _, c := range []struct {
		name string
		keys []string
		want string
	}{
		{"the last block", nil, "- done"},
		{"the one before", []string{"up"}, "second"},
		{"as it was written", []string{"up", "up"}, "The *first*\nanswer."},
		{"two", []string{"up", "shift+up"}, "The *first*\nanswer.\n\nsecond"},
		{"up and back", []string{"up", "shift+up", "shift+down", "shift+down"}, "second\n\n- done"},
		{"no further than the ends", []string{"pgup", "up", "shift+pgup"}, "first **prompt**"},
		{"all", []string{"pgup", "J", "J", "J", "J"}, "first **prompt**\n\nThe *first*\nanswer.\n\nsecond\n\n- done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Press("ctrl+space").Sees("copies", "goes back").Misses("› a draft").Press(c.keys...).Press("y")
			if got := strings.TrimSpace(d.Copied()); got != c.want {
				t.Errorf("copied %q, want %q", got, c.want)
			}
			d.Sees("Copied", "› a draft")
		})
	}
	d.Press("ctrl+space", "esc").Sees("› a draft").Misses("goes back")
}

// Where the selection moves is on the screen, and what is selected stays while
// an answer comes.
func TestSelectingScrolls(t *testing.T) {
	d := tuitest.New(t).Open()
	for i := range 60 {
		d.Append(user(fmt.Sprintf("prompt number %d.", i)), answer(fmt.Sprintf("answer number %d.", i)))
	}
	d.Press("ctrl+space")
	for i := 59; i >= 0; i-- {
		d.Sees(fmt.Sprintf("answer number %d.", i)).Press("up").Sees(fmt.Sprintf("prompt number %d.", i)).Press("up")
	}
	for i := range 59 {
		d.Press("down").Sees(fmt.Sprintf("answer number %d.", i)).Press("down").Sees(fmt.Sprintf("prompt number %d.", i+1))
	}
	d.Emit(delta("more and\nmore\n\nand more"))
	d.Press("enter")
	if d.Copied() != "prompt number 59." {
		t.Errorf("copied %q", d.Copied())
	}
}
