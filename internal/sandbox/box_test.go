package sandbox

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boxed is a workspace, what is around it, and a box of each strength that this
// machine has.
type boxed struct {
	dir, out string
	box      *Box
}

func newBoxed(t testing.TB) boxed {
	t.Helper()
	// Not in /tmp, of which a full box has its own.
	root, err := os.MkdirTemp("/var/tmp", "banyan-test-")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	b := boxed{dir: root + "/work", out: root + "/out"}
	for _, dir := range []string{b.dir + "/.git/hooks", b.out + "/.ssh", root + "/temp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{b.dir + "/.git/config", b.dir + "/file", b.out + "/file", b.out + "/.ssh/id", b.out + "/token"} {
		if err := os.WriteFile(file, []byte("content\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.box = &Box{
		Temp: root + "/temp", Write: []string{b.dir},
		ReadOnly: []string{b.dir + "/.git/hooks", b.dir + "/.git/config", b.dir + "/file/x", b.dir + "/none/x"},
		Hidden:   []string{b.out + "/.ssh", b.out + "/token", b.out + "/none"},
	}
	return b
}

// run runs a script in a box of a strength and gives what it wrote.
func (b boxed) run(t testing.TB, s Strength, script string) (string, Status) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := start(order{Strength: s, Command: Command{
		Path: "/bin/bash", Args: []string{"bash", "--noprofile", "--norc", "-c", script},
		Dir: b.dir, Env: []string{"PATH=" + os.Getenv("PATH"), "OUT=" + b.out, "TMPDIR=" + b.box.Temp}, Box: b.box,
	}}, w)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-p.Settled()
		p.Kill() // what is left has the pipe open
	}()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Gone()
	return string(out), p.Status()
}

// strengths runs a test with each kind of box that there is here.
func strengths(t *testing.T, test func(t *testing.T, s Strength)) {
	best, why := Available()
	for s := Partial; s <= Full; s++ {
		t.Run(s.String(), func(t *testing.T) {
			if s > best {
				t.Skip("this machine does not allow it:", why)
			}
			test(t, s)
		})
	}
}

func TestBoxAllowsWork(t *testing.T) {
	strengths(t, func(t *testing.T, s Strength) {
		b := newBoxed(t)
		for _, script := range []string{
			"cat file $OUT/file", "echo x > new && cat new", "mkdir -p a/b && mv file a/b/ && rm -r a", "echo x > $TMPDIR/x && cat $TMPDIR/x",
			"echo x > /dev/null", "ls / >/dev/null && ls /usr >/dev/null", "head -c 10 /dev/urandom >/dev/null", "ln -s x link", "touch .git/HEAD", "bash -c 'bash -c true'", "sleep 0 & wait",
			"ps >/dev/null 2>&1 || true; test -r /proc/self/status",
		} {
			if out, status := b.run(t, s, script); status != (Status{}) {
				t.Errorf("%s: %+v %s", script, status, out)
			}
		}
		if s == Full {
			if out, status := b.run(t, s, "echo x > /tmp/shared && cat $TMPDIR/shared"); status != (Status{}) {
				t.Errorf("/tmp: %+v %s", status, out)
			}
		}
	})
}

func TestBoxRefusesTheRest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	_, tcp, _ := net.SplitHostPort(listener.Addr().String())
	_, udp, _ := net.SplitHostPort(packets.LocalAddr().String())
	strengths(t, func(t *testing.T, s Strength) {
		b := newBoxed(t)
		scripts := map[string]string{
			"write outside":          "echo x > $OUT/file",
			"create outside":         "echo x > $OUT/new",
			"remove outside":         "rm -f $OUT/file",
			"rename outside":         "mv file $OUT/moved",
			"link outside":           "ln file $OUT/linked",
			"truncate outside":       "truncate -s 0 $OUT/file",
			"make a folder outside":  "mkdir $OUT/dir",
			"write through a link":   "ln -s $OUT/file link2 && echo x > link2",
			"write in the root":      "echo x > /banyan-test",
			"write in /etc":          "echo x >> /etc/passwd",
			"write in the home":      "echo x > /root/.bashrc",
			"write in /usr":          "touch /usr/bin/banyan-test",
			"read a hidden file":     "grep content $OUT/token",
			"read a hidden folder":   "cat $OUT/.ssh/id",
			"read by another way":    "cat /proc/self/root$OUT/.ssh/id",
			"hidden through a link":  "ln -s $OUT/.ssh keys && cat keys/id",
			"child processes too":    "bash -c 'bash -c \"echo x > $OUT/file\"'",
			"connect to TCP":         "exec 3<>/dev/tcp/127.0.0.1/" + tcp,
			"send UDP":               "echo secret > /dev/udp/127.0.0.1/" + udp + " && exit 0; exit 1",
			"new privileges":         "grep -q 'NoNewPrivs:.*0' /proc/self/status",
			"capabilities to regain": "unshare -m true 2>/dev/null && mount -t tmpfs x $OUT",
		}
		if s == Full {
			scripts["write a git hook"] = "echo x > .git/hooks/pre-commit"
			scripts["change git's settings"] = "echo x >> .git/config"
			scripts["move git's settings"] = "rm -f .git/config"
			scripts["put another .git in its place"] = "mv .git aside && mkdir .git"
			scripts["move the hooks"] = "mv .git/hooks .git/other"
			scripts["see other processes"] = "test $(ls -d /proc/[0-9]* | wc -l) -gt 20"
			scripts["undo it"] = "umount " + b.dir + "/.git/hooks"
			scripts["have capabilities"] = "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status"
			delete(scripts, "send UDP") // it goes to an interface of its own: see below
		}
		for what, script := range scripts {
			if out, status := b.run(t, s, script); status == (Status{}) {
				t.Errorf("%s: it worked: %s", what, out)
			}
		}
		for _, file := range []string{"/file", "/.ssh/id", "/token"} {
			if data, err := os.ReadFile(b.out + file); err != nil || string(data) != "content\n" {
				t.Errorf("%s has %q, %v", file, data, err)
			}
		}
		if entries, _ := os.ReadDir(b.out); len(entries) != 3 {
			t.Errorf("outside are %d entries", len(entries))
		}
		if s == Full {
			if out, _ := b.run(t, s, "cat /proc/net/dev"); strings.Count(out, ":") != 1 || !strings.Contains(out, "lo:") {
				t.Errorf("interfaces:\n%s", out)
			}
		}
	})
}

func TestBoxWithNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	strengths(t, func(t *testing.T, s Strength) {
		b := newBoxed(t)
		b.box.Network = true
		if out, status := b.run(t, s, "exec 3<>/dev/tcp/127.0.0.1/"+port); status != (Status{}) {
			t.Errorf("%+v %s", status, out)
		}
		if _, status := b.run(t, s, "echo x > $OUT/file"); status == (Status{}) {
			t.Error("with the network, it writes outside")
		}
	})
}

// A command in a box leaves nothing behind either.
func TestNothingSurvivesInABox(t *testing.T) {
	strengths(t, func(t *testing.T, s Strength) {
		b := newBoxed(t)
		for name, script := range escapes {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := mark(t)
				b.run(t, s, "export '"+m+"'\n"+script)
				if left := marked(t, m); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
			})
		}
	})
}

func TestBoxThatCannotBe(t *testing.T) {
	_, err := start(order{Strength: Partial, Command: Command{Path: "/bin/bash", Args: []string{"bash"}, Dir: "/no/such/folder", Box: &Box{Temp: t.TempDir()}}}, os.Stderr)
	if err == nil {
		t.Error("it ran")
	}
}

func BenchmarkBoxed(b *testing.B) {
	best, _ := Available()
	w := newBoxed(b)
	for s := Partial; s <= best; s++ {
		b.Run(s.String(), func(b *testing.B) {
			for b.Loop() {
				w.run(b, s, "true")
			}
		})
	}
}
