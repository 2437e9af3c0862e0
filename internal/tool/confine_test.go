package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/sandbox"
)

func TestConfine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id"), []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.put(".git/config", "[core]\n")
	strength, why := b.env.Confine()
	if strength == sandbox.None {
		t.Skip("this machine does not allow it:", why)
	}
	for _, command := range []string{"cat $HOME/.ssh/id", "echo x > $HOME/x", "exec 3<>/dev/tcp/1.1.1.1/80"} {
		if got := b.text("bash", args{"command": command}); !strings.Contains(got, "[exit code") {
			t.Errorf("%s: %q", command, got)
		}
	}
	if got := b.text("bash", args{"command": "echo x > .git/config"}); strength == sandbox.Full && !strings.Contains(got, "[exit code") {
		t.Errorf("got %q", got)
	}
	if got := b.text("bash", args{"command": "echo x > new && cat new && echo y > $TMPDIR/y && cat $TMPDIR/y"}); got != "x\ny\n" {
		t.Errorf("got %q", got)
	}
	if got := b.text("bash", args{"command": "cat $HOME/.ssh/id", "unconfined": true}); got != "key\n" {
		t.Errorf("got %q", got)
	}
	if r := b.call("bash", args{"command": "sleep 300", "timeout": 0.2}); r.Err == nil {
		t.Error("a confined command has no timeout")
	}
}
