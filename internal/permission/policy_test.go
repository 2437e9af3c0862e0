package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/tool"
)

// rules parses lines such as "deny Bash(rm *)".
func rules(t testing.TB, from Source, lines ...string) []Rule {
	t.Helper()
	var list []Rule
	for _, line := range lines {
		action, text, _ := strings.Cut(line, " ")
		i := slices.IndexFunc([]Action{Ask, Allow, Deny}, func(a Action) bool { return a.String() == action })
		r, err := ParseRule(Action(i), text, from)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

var user = Source{Name: "settings.json"}

func call(t testing.TB, name string, args map[string]any) Call {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	access := map[string]tool.Access{"write": tool.Edit, "edit": tool.Edit, "mkdir": tool.Edit, "rm": tool.Edit, "bash": tool.Execute, "fetch": tool.Network}[name]
	if strings.HasPrefix(name, "mcp__") {
		access = tool.Execute
	}
	return Call{Tool: name, Access: access, Args: raw}
}

func TestParseRule(t *testing.T) {
	for _, text := range []string{"Bash", "Bash(npm run *)", "Bash(npm run:*)", "Read(//etc/**)", "Edit(src/**)", "Read(~/x)", "WebFetch(domain:go.dev)", "mcp__a", "mcp__a__b", "mcp__a__*", "Agent(reviewer)"} {
		r, err := ParseRule(Allow, text, user)
		if err != nil || r.String() != text {
			t.Errorf("%s: %q %v", text, r, err)
		}
	}
	for text, word := range map[string]string{
		"": "name of a tool", "Bash(x": "closing", "Bash()": "nothing", "(x)": "name of a tool", "Read([)": "pattern", "WebFetch(go.dev)": "domain:", "mcp__a(x)": "no specifier", "two words": "name of a tool",
	} {
		if _, err := ParseRule(Allow, text, user); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCommandRules(t *testing.T) {
	for _, test := range []struct {
		rules   []string
		command string
		want    Action
	}{
		{[]string{"allow Bash(npm run build)"}, "npm run build", Allow},
		{[]string{"allow Bash(npm run build)"}, "npm run build x", Ask},
		{[]string{"allow Bash(npm run build)"}, "npm  run   'build'", Allow},
		{[]string{"allow Bash(npm run *)"}, "npm run test", Allow},
		{[]string{"allow Bash(npm run *)"}, "npm run", Allow},
		{[]string{"allow Bash(npm run *)"}, "npm runx", Ask},
		{[]string{"allow Bash(npm run:*)"}, "npm run test", Allow},
		{[]string{"allow Bash(npm run:*)"}, "npm run", Allow},
		{[]string{"allow Bash(npm run:*)"}, "npm runx", Ask},
		{[]string{"allow Bash(* --version)"}, "foo --version", Allow},
		{[]string{"allow Bash(npm *)"}, "npm run x && rm y", Ask},
		{[]string{"allow Bash(npm *)"}, "npm run x; npm test | head", Allow},
		{[]string{"allow Bash(npm *)"}, "npm run $(rm y)", Ask},
		{[]string{"allow Bash(npm *)"}, "npm run x > out", Ask},
		{[]string{"allow Bash(npm *)"}, "npm run x & npm test", Ask},
		{[]string{"allow Bash(npm *)"}, "X=1 npm test", Ask},
		{[]string{"allow Bash(npm *)"}, "npm test 2>&1 | tail -5", Allow},
		{[]string{"allow Bash(git commit -m \"a b\")"}, "git commit -m 'a b'", Allow},
		{[]string{"allow Bash(git *)"}, "git push", Allow},
		{[]string{"allow Bash(git *)"}, "git -c core.pager=x log", Ask}, // not what was meant
		{[]string{"allow Bash(git -c core.pager=x log)"}, "git -c core.pager=x log", Allow},
		{[]string{"allow Bash(go test *)"}, "go test -count=1 -run Exec ./...", Allow},
		{[]string{"allow Bash(go test *)"}, "go test -exec ./x ./...", Ask},
		{[]string{"allow Bash(go test *)"}, "go test -exec=./x ./...", Ask},
		{[]string{"allow Bash(find *)"}, "find . -exec rm x +", Ask},
		{[]string{"allow Bash"}, "anything > x; goes", Allow},
		{[]string{"allow Bash(*)"}, "anything > x; goes", Allow},
		{[]string{"allow Bash", "deny Bash(rm *)"}, "rm x", Deny},
		{[]string{"allow Bash(rm x)", "ask Bash(rm *)"}, "rm x", Ask},
		{[]string{"ask Bash(ls *)"}, "ls -l", Ask},
		{[]string{"deny Bash(ls)"}, "ls", Deny},
		{[]string{"deny Bash(ls)"}, "ls -l", Allow},
		{[]string{"deny Bash"}, "ls", Deny},
		{[]string{"deny Bash(curl *)"}, "curlx y", Ask},
	} {
		p := New(newWorkspace(t), rules(t, user, test.rules...)...)
		if v := p.Decide(bashCall(test.command)); v.Action != test.want {
			t.Errorf("%v: %q: %s, want %s (%s)", test.rules, test.command, v.Action, test.want, v.Reason)
		}
	}
}

// A rule that denies is not got round by writing the same in another way.
func TestDenyIsThorough(t *testing.T) {
	w := newWorkspace(t)
	for _, mode := range append(slices.Clone(Modes), Full) {
		p := New(w, rules(t, user, "allow Bash", "deny Bash(rm *)", "deny Read(.env)", "deny Edit(//etc/**)")...)
		if err := p.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{
			"rm x", "ls; rm x", "ls && rm x", "ls\nrm x", "ls & rm x", "(rm x)", "{ rm x; }", "echo $(rm x)", "echo `rm x`", `echo "$(rm x)"`, "cat <(rm x)",
			"if true; then rm x; fi", "f() { rm x; }; f", "env rm x", "env A=1 rm x", "sudo -n rm x", "nohup nice -n 5 rm x", "timeout 5 rm x", "xargs rm", "ls | xargs -n1 rm",
			"find . -exec rm {} +", "bash -c 'rm x'", "bash -c 'bash -c \"rm x\"'", "eval 'rm x'", "/bin/rm x", "sudo /bin/rm x", `\rm x`, "r''m x", `"rm" x`, "command rm x", "time rm x", "X=1 rm x", "rm x > y", "! rm x",
			"while :; do rm x; done", "case a in a) rm x;; esac", strings.Repeat("true; ", 200) + "rm x",
			"bash <<E\nrm x\nE", "bash <<< 'rm x'", "sudo sh -c 'true;rm x'", "env -S 'rm x'", "sh -c \"ls && rm x\"",
			"cat .env", "head -5 ./.env", "cat < .env", "grep x --file=.env", "echo x > /etc/passwd", "tee /etc/hosts", "sudo cat .env",
		} {
			if v := p.Decide(bashCall(command)); v.Action != Deny {
				t.Errorf("mode %s: %q: %s (%s)", mode, command, v.Action, v.Reason)
			}
		}
		// What cannot be seen does not get past the rule either.
		for _, command := range []string{"rm x\n(", "$CMD x", "$'\\x72m' x", "{rm,x}", "/???/r? x", "bash -c \"$X\"", "bash -c 'rm\nx ('", "$(echo rm) x", "sudo $CMD"} {
			if v := p.Decide(bashCall(command)); v.Action == Allow {
				t.Errorf("mode %s: %q is allowed: %s", mode, command, v.Reason)
			}
		}
		for _, command := range []string{"python -c 'print(1, 2) or (3)'", "awk '{print $1, $2}' x", "find . -name '*.go'"} {
			if v := p.Decide(bashCall(command)); v.Action != Allow && mode == Full {
				t.Errorf("mode %s: %q: %s (%s)", mode, command, v.Action, v.Reason)
			}
		}
		for _, command := range []string{"echo rm x", "ls rm", "cat /etc/hostname"} {
			if v := p.Decide(bashCall(command)); v.Action == Deny && mode != "plan" {
				t.Errorf("mode %s: %q is denied: %s", mode, command, v.Reason)
			}
		}
	}
}

func TestProjectsOnlyTighten(t *testing.T) {
	project := Source{Name: ".banyan/settings.json", Project: true}
	p := New(newWorkspace(t), rules(t, project, "allow Bash(make *)", "deny Bash(ls)", "ask Bash(pwd)")...)
	for command, want := range map[string]Action{"make x": Ask, "ls": Deny, "pwd": Ask} {
		if v := p.Decide(bashCall(command)); v.Action != want {
			t.Errorf("%s: %s", command, v.Action)
		}
	}
	if got := p.Ignored(); len(got) != 1 || got[0].String() != "Bash(make *)" {
		t.Errorf("ignored: %v", got)
	}
}

func TestFiles(t *testing.T) {
	w := newWorkspace(t)
	w.Readable = []string{"/tmp/banyan-1"}
	w.Protected = []string{w.Home + "/.config/banyan"}
	if err := os.Mkdir(w.Dir+"/.git/hooks", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.Dir+"/.git/hooks", w.Dir+"/innocent"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tool, path string
		ask, edits Action // in these modes
	}{
		{"read", "main.go", Allow, Allow},
		{"read", w.Dir + "/main.go", Allow, Allow},
		{"read", ".", Allow, Allow},
		{"ls", "", Allow, Allow},
		{"grep", "internal", Allow, Allow},
		{"read", "new/x", Allow, Allow},
		{"read", ".env", Ask, Ask},
		{"read", ".ENV", Ask, Ask},
		{"read", ".env.example", Allow, Allow},
		{"read", "keys/id_rsa", Ask, Ask},
		{"read", "keys/id_rsa.pub", Allow, Allow},
		{"read", ".git/config", Ask, Ask},
		{"exists", ".env", Allow, Allow},
		{"read", "outside/secret", Ask, Ask},
		{"read", "../x", Ask, Ask},
		{"read", "/etc/passwd", Ask, Ask},
		{"read", "~/x", Ask, Ask},
		{"read", w.Dir + "-evil/x", Ask, Ask},
		{"read", "/tmp/banyan-1/output-1.txt", Allow, Allow},
		{"read", "/tmp/banyan-1/../x", Ask, Ask},
		{"write", "main.go", Ask, Allow},
		{"edit", "new/x", Ask, Allow},
		{"rm", "main.go", Ask, Allow},
		{"mkdir", "new", Ask, Allow},
		{"edit", "outside/secret", Ask, Ask},
		{"write", "/tmp/banyan-1/x", Ask, Ask},
		{"write", ".env", Ask, Ask},
		{"write", ".github/workflows/ci.yml", Ask, Ask},
		{"write", "sub/.vscode/tasks.json", Ask, Ask},
		{"write", "AGENTS.md", Ask, Ask},
		{"write", ".mcp.json", Ask, Ask},
		{"write", ".git/HEAD", Ask, Ask},
		{"write", ".git/hooks/pre-commit", Deny, Deny},
		{"write", ".GIT/Hooks/pre-commit", Deny, Deny},
		{"write", "sub/.git/config", Deny, Deny},
		{"write", "x/../.git/config", Deny, Deny},
		{"write", "innocent/pre-commit", Deny, Deny},
		{"write", ".banyan/settings.json", Deny, Deny},
		{"write", w.Home + "/.config/banyan/settings.json", Deny, Deny},
	} {
		for mode, want := range map[string]Action{"ask": test.ask, "edits": test.edits} {
			p := New(w)
			if err := p.SetMode(mode); err != nil {
				t.Fatal(err)
			}
			args := map[string]any{"path": test.path}
			if v := p.Decide(call(t, test.tool, args)); v.Action != want {
				t.Errorf("mode %s: %s %s: %s, want %s (%s)", mode, test.tool, test.path, v.Action, want, v.Reason)
			}
		}
	}
	p := New(w)
	for pattern, want := range map[string]Action{"**/*.go": Allow, "/etc/**": Ask, "../*": Ask, "outside/*": Ask, "internal/*.go": Allow} {
		if v := p.Decide(call(t, "glob", map[string]any{"pattern": pattern})); v.Action != want {
			t.Errorf("glob %s: %s (%s)", pattern, v.Action, v.Reason)
		}
	}
}

func TestFileRules(t *testing.T) {
	w := newWorkspace(t)
	for _, test := range []struct {
		rules      []string
		tool, path string
		want       Action
	}{
		{[]string{"deny Read(.env)"}, "read", ".env", Deny},
		{[]string{"deny Read(.env)"}, "read", "sub/.env", Deny},
		{[]string{"deny Read(./.env)"}, "read", "sub/.env", Ask}, // only the one here
		{[]string{"deny Read(/.env)"}, "read", "sub/.env", Ask},  // only the one at the top
		{[]string{"deny Read(secret/**)"}, "read", "secret/a/b", Deny},
		{[]string{"deny Read(secret)"}, "read", "secret/a/b", Deny},
		{[]string{"deny Read(secret)"}, "grep", "internal", Ask},
		{[]string{"deny Read(//etc/**)"}, "grep", "internal", Allow},
		{[]string{"deny Read(*.go)"}, "read", "main.go", Deny},
		{[]string{"allow Read(//etc/**)"}, "read", "/etc/hostname", Allow},
		{[]string{"allow Read(//etc/**)"}, "read", "/etc/../root/x", Ask},
		{[]string{"allow Read(~/notes/**)"}, "read", "~/notes/x", Allow},
		{[]string{"allow Read"}, "read", "/etc/hostname", Allow},
		{[]string{"allow Read(outside/**)"}, "read", "outside/secret", Ask}, // where it leads is not allowed
		{[]string{"deny Read(//" + filepath.Dir(w.Dir)[1:] + "/elsewhere/**)"}, "read", "outside/secret", Deny},
		{[]string{"allow Edit(internal/**)"}, "edit", "internal/x.go", Allow},
		{[]string{"allow Edit(internal/**)"}, "write", "internal/new/x.go", Allow},
		{[]string{"allow Edit(internal/**)"}, "edit", "main.go", Ask},
		{[]string{"allow Edit(internal/**)"}, "edit", "internal/../main.go", Ask},
		{[]string{"allow Edit(internal/**)"}, "read", "internal/x.go", Allow},
		{[]string{"allow Edit"}, "edit", ".git/hooks/x", Deny},
		{[]string{"allow Edit", "ask Edit(*.lock)"}, "write", "x.lock", Ask},
		{[]string{"allow Edit(src/**)", "deny Edit(src/gen/**)"}, "edit", "src/gen/x", Deny},
		{[]string{"deny Write"}, "write", "x", Deny},
		{[]string{"deny Write"}, "edit", "main.go", Ask},
	} {
		p := New(w, rules(t, user, test.rules...)...)
		if v := p.Decide(call(t, test.tool, map[string]any{"path": test.path})); v.Action != test.want {
			t.Errorf("%v: %s %s: %s, want %s (%s)", test.rules, test.tool, test.path, v.Action, test.want, v.Reason)
		}
	}
}

func TestFetchRules(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, test := range []struct {
		rules []string
		url   string
		want  Action
	}{
		{nil, "https://go.dev/", Ask},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://go.dev/doc", Allow},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://GO.dev./doc", Allow},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://pkg.go.dev/", Ask},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://go.dev.evil.com/", Ask},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://evil.com/go.dev", Ask},
		{[]string{"allow WebFetch(domain:go.dev)"}, "https://go.dev@evil.com/", Ask},
		{[]string{"allow WebFetch(domain:*.go.dev)"}, "https://pkg.go.dev/", Allow},
		{[]string{"allow WebFetch(domain:*.go.dev)"}, "https://evilgo.dev/", Ask},
		{[]string{"allow WebFetch"}, "https://anything.com/", Allow},
		{[]string{"allow WebFetch"}, "https://anything.com/?q=" + long, Ask},
		{[]string{"allow WebFetch"}, "https://" + strings.Repeat("a1", 40) + ".anything.com/", Ask},
		{[]string{"allow WebFetch", "deny WebFetch(domain:evil.com)"}, "https://evil.com/", Deny},
		{[]string{"allow WebFetch"}, "://", Ask},
	} {
		p := New(newWorkspace(t), rules(t, user, test.rules...)...)
		if v := p.Decide(call(t, "fetch", map[string]any{"url": test.url})); v.Action != test.want {
			t.Errorf("%v: %s: %s, want %s (%s)", test.rules, test.url, v.Action, test.want, v.Reason)
		}
	}
}

func TestOtherTools(t *testing.T) {
	for _, test := range []struct {
		rules []string
		tool  string
		want  Action
	}{
		{nil, "mcp__files__read", Ask},
		{[]string{"allow mcp__files__read"}, "mcp__files__read", Allow},
		{[]string{"allow mcp__files__read"}, "mcp__files__write", Ask},
		{[]string{"allow mcp__files"}, "mcp__files__write", Allow},
		{[]string{"allow mcp__files__*"}, "mcp__files__write", Allow},
		{[]string{"allow mcp__files"}, "mcp__files2__write", Ask},
		{[]string{"allow mcp__files", "deny mcp__files__write"}, "mcp__files__write", Deny},
		{nil, "todo", Allow},
		{nil, "bash_output", Allow},
		{nil, "bash_kill", Allow},
		{nil, "unheard_of", Ask},
	} {
		p := New(newWorkspace(t), rules(t, user, test.rules...)...)
		if v := p.Decide(call(t, test.tool, nil)); v.Action != test.want {
			t.Errorf("%v: %s: %s, want %s (%s)", test.rules, test.tool, v.Action, test.want, v.Reason)
		}
	}
}

func TestModes(t *testing.T) {
	w := newWorkspace(t)
	boxed := w
	boxed.Boxed = true
	for _, test := range []struct {
		mode  string
		w     Workspace
		rules []string
		call  Call
		want  Action
	}{
		{"plan", w, []string{"allow Bash(make *)"}, bashCall("make x"), Deny},
		{"plan", w, []string{"allow Edit"}, call(t, "edit", map[string]any{"path": "main.go"}), Deny},
		{"plan", w, nil, call(t, "read", map[string]any{"path": "main.go"}), Allow},
		{"plan", w, []string{"ask Bash(ls *)"}, bashCall("ls -l"), Ask},
		{"plan", w, nil, call(t, "mcp__a__b", nil), Deny},
		{"auto", w, nil, bashCall("go test ./..."), Ask},
		{"auto", boxed, nil, bashCall("go test ./..."), Allow},
		{"auto", boxed, nil, bashCall("rm -rf internal"), Ask},
		{"auto", boxed, nil, bashCall("env rm x"), Ask},
		{"auto", boxed, nil, bashCall("bash -c 'git push'"), Ask},
		{"auto", boxed, nil, bashCall("go test $(x)"), Ask},
		{"auto", boxed, []string{"ask Bash(go *)"}, bashCall("go test ./..."), Ask},
		{"auto", boxed, nil, call(t, "edit", map[string]any{"path": "main.go"}), Allow},
		{"auto", boxed, []string{"allow Bash(go *)"}, call(t, "bash", map[string]any{"command": "go test ./...", "unconfined": true}), Ask},
		{"edits", boxed, nil, bashCall("go test ./..."), Ask},
		{"full", w, nil, bashCall("rm -rf / > x"), Allow},
		{"full", w, []string{"deny Bash(rm *)"}, bashCall("rm -rf /"), Deny},
		{"full", w, []string{"ask Bash(rm *)"}, bashCall("rm -rf /"), Allow},
		{"full", w, nil, call(t, "edit", map[string]any{"path": "/etc/passwd"}), Allow},
		{"full", w, nil, call(t, "mcp__a__b", nil), Allow},
		{"full", w, nil, bashCall(strings.Repeat("(", maxCommand+1)), Allow},
		{"full", w, []string{"deny Bash(rm *)"}, bashCall(strings.Repeat("(", maxCommand+1)), Ask},
	} {
		p := New(test.w, rules(t, user, test.rules...)...)
		if err := p.SetMode(test.mode); err != nil {
			t.Fatal(err)
		}
		if v := p.Decide(test.call); v.Action != test.want {
			t.Errorf("mode %s, rules %v: %s %s: %s, want %s (%s)", test.mode, test.rules, test.call.Tool, test.call.Args, v.Action, test.want, v.Reason)
		}
	}
	if err := New(w).SetMode("wild"); err == nil {
		t.Error("there is a mode wild")
	}
}

func TestSurroundings(t *testing.T) {
	p := New(newWorkspace(t), rules(t, user, "allow Bash(make *)")...)
	for _, test := range []struct {
		args map[string]any
		want Action
	}{
		{map[string]any{"command": "ls", "cwd": "internal"}, Allow},
		{map[string]any{"command": "ls", "cwd": "outside"}, Ask},
		{map[string]any{"command": "ls", "cwd": "/"}, Ask},
		{map[string]any{"command": "make x", "env": map[string]string{"CI": "1"}}, Allow},
		{map[string]any{"command": "make x", "env": map[string]string{"LD_PRELOAD": "x"}}, Ask},
		{map[string]any{"command": "ls", "env": map[string]string{"PATH": "."}}, Ask},
		{map[string]any{"command": "ls", "background": true}, Ask},
	} {
		if v := p.Decide(call(t, "bash", test.args)); v.Action != test.want {
			t.Errorf("%v: %s (%s)", test.args, v.Action, v.Reason)
		}
	}
}

// What "always" stores is named exactly, allows the same call, and nothing that
// it does not say.
func TestAlways(t *testing.T) {
	for _, test := range []struct {
		command string
		want    []string
	}{
		{"go test ./...", []string{"Bash(go test *)"}},
		{"go test -exec x ./...", []string{"Bash(go test -exec x ./...)"}},
		{"npm run build -- --watch", []string{"Bash(npm run build *)"}},
		{"make test", []string{"Bash(make test)"}},
		{"go build ./... && go vet ./... | head", []string{"Bash(go build *)", "Bash(go vet *)"}},
		{"ls && make", []string{"Bash(make)"}},
		{"git commit -m 'a b'", []string{"Bash(git commit *)"}},
		{"foo 'a b' c", []string{"Bash(foo 'a b' c)"}},
		{"cd /tmp", []string{"Bash(cd /tmp)", "Read(//tmp/**)"}},
		{"rm x", nil},
		{"sudo make", nil},
		{"env make", nil},
		{"bash -c ls", nil},
		{"python x.py", nil},
		{"xargs make", nil},
		{"find . -delete", nil},
		{"git push", nil},
		{"curl https://x", nil},
		{"make $(x)", nil},
		{"make > x", nil},
		{"make; rm x", nil},
		{"a; b; c; d; e; f", nil},
		{"foo '*'", nil},
		{"npm publish", nil},
	} {
		p := New(newWorkspace(t))
		v := p.Decide(bashCall(test.command))
		if v.Action != Ask {
			t.Errorf("%q: %s (%s)", test.command, v.Action, v.Reason)
		}
		var got []string
		for _, r := range v.Always {
			got = append(got, r.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: always stores %q, want %q", test.command, got, test.want)
		}
		p.Remember(v.Always...)
		if v := p.Decide(bashCall(test.command)); test.want != nil && v.Action != Allow {
			t.Errorf("%q is still asked for: %s", test.command, v.Reason)
		}
		if v := p.Decide(bashCall(test.command + "; rm x")); v.Action == Allow {
			t.Errorf("%q: always allows rm too", test.command)
		}
	}
	w := newWorkspace(t)
	for _, c := range []Call{
		call(t, "edit", map[string]any{"path": "main.go"}),
		call(t, "edit", map[string]any{"path": "a*b[c]"}),
		call(t, "read", map[string]any{"path": "/etc/hostname"}),
		call(t, "fetch", map[string]any{"url": "https://go.dev/x"}),
		call(t, "mcp__a__b", nil),
	} {
		p := New(w)
		v := p.Decide(c)
		if v.Action != Ask || len(v.Always) != 1 {
			t.Errorf("%s %s: %s, always %v", c.Tool, c.Args, v.Action, v.Always)
		}
		p.Remember(v.Always...)
		if v := p.Decide(c); v.Action != Allow || v.Source != "this session" {
			t.Errorf("%s %s: %s by %s", c.Tool, c.Args, v.Action, v.Source)
		}
	}
}

func TestExplain(t *testing.T) {
	p := New(newWorkspace(t), rules(t, user, "allow Bash(npm run *)", "deny Bash(rm *)")...)
	for command, want := range map[string]string{
		"ls -la":             "allow  built in: it only reads\n",
		"npm run x":          "allow  by Bash(npm run *) of settings.json\n",
		"ls; rm x":           "deny  by Bash(rm *) of settings.json\n",
		"go test ./... | wc": "ask  built in: go test ./...: go: only go version, go env and go help are known to only read\n  ask    go test ./...  (built in: go: only go version, go env and go help are known to only read)\n  allow  wc  (built in: it only reads)\n  always would allow Bash(go test *)\n",
		"ls > x":             "ask  built in: it redirects input or output\n",
	} {
		if got := p.Explain(command); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", command, got, want)
		}
	}
}
