package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/sandbox"
)

func TestBoxFacts(t *testing.T) {
	b := &sandbox.Box{Temp: "/t", Write: []string{"/w"}, ReadOnly: []string{"/w/.git/hooks", "/w/.env", "/w/.git/hooks"}, Hidden: []string{"/home/ada/.ssh"}}
	why := errors.New("no namespaces")
	for _, c := range []struct {
		box      *sandbox.Box
		strength sandbox.Strength
		has      []string
		lacks    []string
	}{
		{b, sandbox.Full, []string{"full", "/w", "/w/.env, /w/.git/hooks}", "/home/ada/.ssh", "as /tmp", "loopback"}, []string{"no namespaces"}},
		{b, sandbox.Partial, []string{"partial", "no namespaces", "/home/ada/.ssh", "TMPDIR", "no sockets"}, []string{"/w/.git/hooks"}},
		{nil, sandbox.None, []string{"none", "no namespaces", "not confined"}, []string{"may change"}},
	} {
		text := fmt.Sprint(boxFacts(c.box, c.strength, why))
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s lacks %q", c.strength, text, want)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s: %s has %q", c.strength, text, not)
			}
		}
	}
}
