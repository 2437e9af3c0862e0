package tui_test

import (
	"errors"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

func TestSearch(t *testing.T) {
	s := newShelf()
	var asked []string
	d := tuitest.New(t, s.options, func(o *tui.Options) {
		o.Search = func(_ contextT, path, text string) ([]tui.Found, error) {
			asked = append(asked, path)
			switch path {
			case "/s/old":
				return []tui.Found{{Path: path, ID: "00000007", Who: "you", Text: "fix \x1b[2J" + text}}, nil
			case "/s/b":
				return nil, errors.New("it is damaged")
			}
			return nil, nil
		}
	}).Open()
	run(d, "/search parser").Sees("Search for parser, 1 could not be read", "fix ␛[2Jparser", "you")
	if len(asked) != len(s.sessions) {
		t.Errorf("searched %q", asked)
	}
	d.Press("enter").WasSent(engine.Open{Path: "/s/old"}).Misses("Search for")
	run(d, "/search").Sees("Search all sessions for").Type("x").Press("enter").Sees("Search for x").Press("esc").Misses("Search for")
}

// What was found in the session that is open is shown there, on whatever branch it is.
func TestSearchLands(t *testing.T) {
	target := session.ID("00000001")
	d := tuitest.New(t, func(o *tui.Options) {
		o.Sessions = func(contextT) ([]tui.Session, error) { return []tui.Session{{Path: ""}}, nil }
		o.Search = func(contextT, string, string) ([]tui.Found, error) {
			return []tui.Found{{ID: target, Who: "you", Text: "it"}}, nil
		}
	})
	forked(d)
	run(d, "/search it").Press("enter").WasSent()
	target = "00000004" // of the other branch
	run(d, "/search it").Press("enter").Sees("No summary").Press("enter").WasSent(engine.Navigate{Target: target, At: true})
}
