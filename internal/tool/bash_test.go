package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestBash(t *testing.T) {
	b := newBench(t)
	b.put("sub/f", "")
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"command": "echo out; echo err >&2"}, "out\nerr\n"},
		{args{"command": "printf x"}, "x\n"},
		{args{"command": "true"}, "[no output]"},
		{args{"command": "echo a; exit 3"}, "a\n[exit code 3]"},
		{args{"command": "kill -9 $$"}, "[ended by signal: killed]"},
		{args{"command": "pwd"}, b.env.Dir + "\n"},
		{args{"command": "ls", "cwd": "sub"}, "f\n"},
		{args{"command": "echo $A $B", "env": args{"A": "1", "B": "x y"}}, "1 x y\n"},
		{args{"command": "read x; echo $?"}, "1\n"},
		{args{"command": "tty"}, "not a tty\n[exit code 1]"},
		{args{"command": "cat <<'E'\n$HOME `x` \\\nE"}, "$HOME `x` \\\n"},
		{args{"command": `printf '10%%\r55%%\r100%%\ndone\n'`}, "100%\ndone\n"},
		{args{"command": `printf '\033[31mred\033[0m \033]0;title\007end\n'`}, "red end\n"},
		{args{"command": `printf 'a\033]8;;unterminated\nb\n'`}, "a]8;;unterminated\nb\n"},
		{args{"command": `printf 'caf\351 und mehr Text\n'`}, "caf\uFFFD und mehr Text\n[1 byte not UTF-8]\n"},
		{args{"command": "head -c 100000 /dev/zero"}, "[binary output, 100 KB]\n"},
	} {
		if got := b.text("bash", test.args); got != test.want {
			t.Errorf("%v: got %q, want %q", test.args, got, test.want)
		}
	}
	b.fails("bash", args{"command": "x", "cwd": "none"}, "not exist")
	b.fails("bash", args{"command": "x", "cwd": "sub/f"}, "not a folder")
	b.fails("bash", args{"command": "x", "timeout": -1}, "timeout")
	if len(b.env.jobs) != 0 {
		t.Errorf("%d jobs are left", len(b.env.jobs))
	}
}

func TestBashEnvironment(t *testing.T) {
	planted := []string{
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "PGPASSWORD", "DB_PASSWORD", "GOOGLE_APPLICATION_CREDENTIALS", "SSH_AUTH_SOCK", "SLACK_WEBHOOK",
		"CARGO_REGISTRY_TOKEN", "PIP_INDEX_PASSWORD", "GO_SECRET", "HOMEBREW_GITHUB_API_TOKEN", "DATABASE_URL", "BASH_ENV", "ENV", "PS4", "LD_PRELOAD", "BASH_FUNC_ls%%",
	}
	for _, name := range planted {
		t.Setenv(name, "planted-value")
	}
	t.Setenv("HTTPS_PROXY", "http://user:planted-value@proxy")
	t.Setenv("HTTP_PROXY", "http://proxy:3128")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("PATH", ".:bin:"+os.Getenv("PATH"))
	b := newBench(t)
	b.env.PassEnv = []string{"SLACK_WEBHOOK"}
	got := b.text("bash", args{"command": "env", "env": args{"BASH_ENV": "/planted-value", "MINE": "1"}})
	if n := strings.Count(got, "planted-value"); n != 1 || !strings.Contains(got, "SLACK_WEBHOOK=planted-value\n") {
		t.Errorf("a command sees %d of our secrets:\n%s", n, got)
	}
	for _, want := range []string{"HTTP_PROXY=http://proxy:3128\n", "GOFLAGS=-mod=mod\n", "PAGER=cat\n", "GIT_TERMINAL_PROMPT=0\n", "TERM=dumb\n", "MINE=1\n", "\nHOME="} {
		if !strings.Contains("\n"+got, want) {
			t.Errorf("a command lacks %q", want)
		}
	}
	if strings.Contains(got, "PATH=.") || strings.Contains(got, ":bin:") {
		t.Error("PATH has relative parts")
	}
	tmp := strings.TrimSpace(b.text("bash", args{"command": "echo $TMPDIR"}))
	if fi, err := os.Stat(tmp); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the temporary folder: %v %v", fi.Mode(), err)
	}
}

func TestBashLongOutput(t *testing.T) {
	b := newBench(t)
	r := b.call("bash", args{"command": "seq 100000"})
	got := textOf(r)
	if len(got) > maxBytes+300 || !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "\n99999\n100000\n") {
		t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-40:])
	}
	v := r.View.(Command)
	if v.Cut == nil || v.Cut.Lines != 100000 || v.Cut.Bytes != 588895 {
		t.Fatalf("cut %+v", v.Cut)
	}
	if !strings.Contains(got, v.Cut.Full) {
		t.Error("the model is not told where the rest is")
	}
	want, _ := exec.Command("seq", "100000").Output()
	if data, err := os.ReadFile(v.Cut.Full); err != nil || !bytes.Equal(data, want) {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
	if fi, _ := os.Stat(v.Cut.Full); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	// Short of bytes, long of lines.
	r = b.call("bash", args{"command": "yes '' | head -5000"})
	if v := r.View.(Command); v.Cut == nil || v.Cut.Full == "" || strings.Count(textOf(r), "\n") > maxLines+2 {
		t.Errorf("cut %+v", v.Cut)
	}
	if data, _ := os.ReadFile(r.View.(Command).Cut.Full); len(data) != 5000 {
		t.Errorf("the file has %d bytes", len(data))
	}
}

// A command that writes without end costs a fixed amount of memory and disk.
func TestBashEndlessOutput(t *testing.T) {
	size := int64(300 << 20)
	if os.Getenv("LONG") != "" {
		size = 10 << 30
	}
	b := newBench(t)
	r := b.call("bash", args{"command": fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; echo; echo end", size), "timeout": 600})
	v := r.View.(Command)
	if v.Cut == nil || v.Cut.Bytes != size+5 || !strings.HasSuffix(v.Output, "end\n") {
		t.Fatalf("%+v %v", v.Cut, r.Err)
	}
	if fi, err := os.Stat(v.Cut.Full); err != nil || fi.Size() != maxSpill {
		t.Errorf("on disk: %d bytes, %v", fi.Size(), err)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.Sys > 100<<20 {
		t.Errorf("%s of memory", bytesText(int64(mem.Sys)))
	}
}

func TestBashTimeout(t *testing.T) {
	b := newBench(t)
	r := b.call("bash", args{"command": "echo before; setsid sleep 300 & sleep 300", "timeout": 0.3})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "300ms") || textOf(r) != "before\n[ended by signal: terminated]" {
		t.Errorf("%q %v", textOf(r), r.Err)
	}
	r = b.call("bash", args{"command": "sleep 300", "timeout": 0.2})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "waited for input") {
		t.Errorf("%v", r.Err)
	}
	if len(b.env.jobs) != 0 {
		t.Errorf("%d jobs are left", len(b.env.jobs))
	}
}

func TestBashInterrupt(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	tool, _ := Find(b.tools, "bash")
	raw, _ := json.Marshal(args{"command": "trap '' TERM; echo started; while :; do sleep 0.1; done"})
	r := tool.Run(ctx, Input{Args: raw, Progress: func(v View) {
		if strings.Contains(v.(Command).Output, "started") {
			cancel()
		}
	}})
	if r.Err == nil || !strings.Contains(textOf(r), "started\n[ended by signal: killed]") {
		t.Errorf("%q %v", textOf(r), r.Err)
	}
}

func TestBackgroundJobs(t *testing.T) {
	b := newBench(t)
	got := b.text("bash", args{"command": "sleep 300", "background": true})
	if !strings.Contains(got, "job 1.") {
		t.Fatalf("got %q", got)
	}
	b.fails("bash_output", args{"id": 7}, "no background job 7")
	if jobs := b.env.Jobs(); len(jobs) != 1 || jobs[0].ID != 1 || jobs[0].Command != "sleep 300" || !jobs[0].Running {
		t.Errorf("jobs %+v", jobs)
	}
	if got = b.text("bash_kill", args{"id": 1}); got != "[job 1, ended]\n[ended by signal: terminated]" {
		t.Errorf("got %q", got)
	}
	b.text("bash", args{"command": "echo start; while :; do sleep 0.02; [ -e go2 ] && { echo two; exit 4; }; done", "background": true})
	j, err := b.env.job(2)
	if err != nil {
		t.Fatal(err)
	}
	b.put("go2", "")
	<-j.process.Gone()
	<-j.drained
	got = b.text("bash_output", args{"id": 2})
	if got != "[job 2, ended]\nstart\ntwo\n[exit code 4]" {
		t.Errorf("got %q", got)
	}
	if got = b.text("bash_output", args{"id": 2}); got != "[job 2, ended]\n[exit code 4]" {
		t.Errorf("shown again: %q", got)
	}
}

// A command that leaves processes behind returns at once, and they are a job.
func TestLeftBehind(t *testing.T) {
	b := newBench(t)
	got := b.text("bash", args{"command": "(sleep 0.2; echo late; sleep 300) & echo early"})
	if !strings.HasPrefix(got, "early\n") || !strings.Contains(got, "still running") || !strings.Contains(got, "background job 1") {
		t.Fatalf("got %q", got)
	}
	j, err := b.env.job(1)
	if err != nil {
		t.Fatal(err)
	}
	for j.readTo == 6 { // the late line may come in the next call
		if got = b.text("bash_output", args{"id": 1}); strings.Contains(got, "early") {
			t.Fatalf("shown again: %q", got)
		}
	}
	if got != "[job 1, still running]\nlate\n" {
		t.Errorf("got %q", got)
	}
	if got = b.text("bash_kill", args{"id": 1}); got != "[job 1, ended]\n[no output]" {
		t.Errorf("got %q", got)
	}
}

func TestCloseEndsJobs(t *testing.T) {
	env, err := NewEnv(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := bench{t, env, All(env)}
	for range 3 {
		b.text("bash", args{"command": "echo $$; exec sleep 300", "background": true})
	}
	var pids []int
	for id, j := range env.jobs {
		for j.readTo == 0 {
			got := b.text("bash_output", args{"id": id})
			if pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(got, fmt.Sprintf("[job %d, still running]\n", id)))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) != 3 {
		t.Fatalf("pids %v", pids)
	}
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil && p.Signal(nil) == nil {
			t.Errorf("%d is alive", pid)
		}
		if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
			t.Errorf("%d is alive", pid)
		}
	}
	if _, err := os.Stat(env.temp); err == nil {
		t.Error("the temporary folder is left")
	}
}

func BenchmarkBash(b *testing.B) {
	w := newBench(b)
	for b.Loop() {
		w.text("bash", args{"command": "true"})
	}
}

// git log, which needs no approval, runs nothing that a repository names.
func TestGitLogInAHostileRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newBench(t)
	b.put("f", "x\n")
	b.text("bash", args{"command": "git init -q . && git add f && git -c user.name=a -c user.email=a@b commit -qm one"})
	// A signed commit: git asks gpg.program about it.
	b.text("bash", args{"command": `{ git cat-file commit HEAD | sed '/^$/,$d'; printf 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\none, signed\n'; } >.git/signed && git update-ref HEAD $(git hash-object -t commit -w .git/signed)`})
	b.put("evil", "#!/bin/sh\ntouch '"+b.path("ran")+"'\ncat\n")
	if err := os.Chmod(b.path("evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := b.path("evil")
	for _, key := range []string{"core.fsmonitor", "core.pager", "pager.log", "gpg.program", "diff.external", "diff.x.textconv", "core.sshCommand", "core.editor", "filter.x.clean", "filter.x.smudge", "credential.helper", "core.askPass"} {
		b.text("bash", args{"command": "git config " + key + " " + evil})
	}
	b.text("bash", args{"command": "git config log.showSignature true; git config alias.log '!" + evil + "'; git config core.hooksPath ."})
	b.put(".gitattributes", "* diff=x filter=x\n")
	b.put("f", "changed\n")
	b.text("bash", args{"command": "git log", "env": args{"GIT_CONFIG_COUNT": "0"}})
	if err := os.Remove(b.path("ran")); err != nil {
		t.Error("git log ran nothing by itself: this shows nothing", err)
	}
	for _, command := range []string{"git log", "git log --oneline --stat", "git log --graph --all --numstat -- f", "git --no-pager log -3"} {
		if got := b.text("bash", args{"command": command}); !strings.Contains(got, "one") {
			t.Errorf("%s: %q", command, got)
		}
		if _, err := os.Stat(b.path("ran")); err == nil {
			t.Fatalf("%s ran a program of the repository", command)
		}
	}
}
