package config

import (
	"errors"
	"testing"
)

func TestPaths(t *testing.T) {
	home := func() (string, error) { return "/home/eva", nil }
	for _, c := range []struct {
		name string
		env  map[string]string
		want Paths
	}{
		{"nothing set", nil, Paths{"/home/eva/.config/banyan", "/home/eva/.local/share/banyan", "/home/eva/.local/share/banyan/sessions", "/home/eva/.local/state/banyan", "/home/eva/.cache/banyan"}},
		{"XDG, one of them relative", map[string]string{"XDG_DATA_HOME": "/x/data", "XDG_CONFIG_HOME": "conf"}, Paths{"/home/eva/.config/banyan", "/x/data/banyan", "/x/data/banyan/sessions", "/home/eva/.local/state/banyan", "/home/eva/.cache/banyan"}},
		{"our own", map[string]string{"XDG_DATA_HOME": "/x", "BANYAN_DATA_DIR": "/d"}, Paths{"/home/eva/.config/banyan", "/d", "/d/sessions", "/home/eva/.local/state/banyan", "/home/eva/.cache/banyan"}},
	} {
		got, err := findPaths(func(k string) string { return c.env[k] }, home)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := findPaths(func(string) string { return "" }, func() (string, error) { return "", errors.New("no home") }); err == nil {
		t.Error("a missing home is not told")
	}
}
