package tool

import (
	"os"
	"os/exec"
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
	full := b.call("bash", args{"command": "seq 100000"}).View.(Command).Cut.Full
	if got := b.text("bash", args{"command": "tail -n 1 " + full}); got != "100000\n" {
		t.Errorf("what is kept of an output cannot be read: %q", got)
	}
	if got := b.text("bash", args{"command": "cat $HOME/.ssh/id", "unconfined": true}); got != "key\n" {
		t.Errorf("got %q", got)
	}
	if r := b.call("bash", args{"command": "sleep 300", "timeout": 0.2}); r.Err == nil {
		t.Error("a confined command has no timeout")
	}
}

func TestGitWorksConfined(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	// Not in /tmp, of which confined commands have their own.
	top, err := os.MkdirTemp("/var/tmp", "banyan-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	t.Setenv("HOME", top)
	t.Setenv("XDG_CACHE_HOME", top+"/.cache")
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	for _, dir := range []string{top + "/repo/sub", top + "/hostile", top + "/victim/worktrees/x"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(top+"/repo", "init", "-q")
	git(top+"/repo", "commit", "-q", "--allow-empty", "-m", "first")
	git(top+"/repo", "worktree", "add", "-q", top+"/tree")
	if err := os.WriteFile(top+"/hostile/.git", []byte("gitdir: "+top+"/victim/worktrees/x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, works := range map[string]bool{"repo": true, "repo/sub": true, "tree": true, "hostile": false} {
		env, err := NewEnv(filepath.Join(top, dir))
		if err != nil {
			t.Fatal(err)
		}
		defer env.Close()
		if strength, why := env.Confine(); strength == sandbox.None {
			t.Skip("this machine does not allow it:", why)
		}
		b := bench{t, env, All(env)}
		got := b.text("bash", args{"command": "echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm two && echo committed"})
		if strings.Contains(got, "committed") != works {
			t.Errorf("%s: %q", dir, got)
		}
		if got := b.text("bash", args{"command": "echo x >> " + top + "/victim/worktrees/x/y"}); !strings.Contains(got, "[exit code") {
			t.Errorf("%s: the victim is written to", dir)
		}
	}
}
