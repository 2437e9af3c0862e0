package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/tool"
)

// newWorkspace is a folder with the files that the corpora speak of, and things
// that lead out of it.
func newWorkspace(t testing.TB) Workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "elsewhere")
	dir = filepath.Join(dir, "work")
	for path, content := range map[string]string{
		dir + "/main.go": "package main\n", dir + "/go.mod": "module x\n", dir + "/data.json": "{}", dir + "/internal/x.go": "package x\n",
		dir + "/.env": "KEY=1\n", dir + "/bin/ourtool": "#!/bin/sh\n", dir + "/bin/ls": "#!/bin/sh\n", dir + "/.git/config": "",
		out + "/secret": "x", out + "/home/.ssh/id_rsa": "x",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(out, dir+"/outside"); err != nil {
		t.Fatal(err)
	}
	return Workspace{Dir: dir, Home: out + "/home", Path: dir + "/bin2:/usr/local/bin:/usr/bin:/bin:" + dir + "/bin"}
}

func bashCall(command string) Call {
	args, _ := json.Marshal(map[string]string{"command": command})
	return Call{Tool: "bash", Access: tool.Execute, Args: args}
}

// corpus reads a file of commands, one a line.
func corpus(t testing.TB, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\\n`, "\\\n", `$'\n'`, `$'\n'`, `\\`, `\\`, `'x\n'`, `'x\n'`, `\r\n`, "\r\n", `\n`, "\n", `\rr`, "\rr", `\x1b`, "\x1b",
		`\u202e`, "\u202e", `\u200b`, "\u200b", `\u00a0`, "\u00a0", `\x00`, "\x00", `\x7f`, "\x7f")
	var commands []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && !strings.HasPrefix(line, "# ") {
			commands = append(commands, unescape.Replace(line))
		}
	}
	return commands
}

func TestDangerousCommandsAsk(t *testing.T) {
	p := New(newWorkspace(t))
	commands := corpus(t, "dangerous.txt")
	for _, command := range commands {
		for _, mode := range Modes {
			if err := p.SetMode(mode); err != nil {
				t.Fatal(err)
			}
			if v := p.Decide(bashCall(command)); v.Action == Allow {
				t.Errorf("mode %s allows %q: %s", mode, command, v.Reason)
			}
		}
	}
	if len(commands) < 150 {
		t.Errorf("only %d commands", len(commands))
	}
	t.Logf("%d commands, none is allowed", len(commands))
}

func TestSafeCommandsRun(t *testing.T) {
	p := New(newWorkspace(t))
	commands := corpus(t, "safe.txt")
	for _, command := range commands {
		for _, mode := range Modes { // plan too: they change nothing
			if err := p.SetMode(mode); err != nil {
				t.Fatal(err)
			}
			if v := p.Decide(bashCall(command)); v.Action != Allow {
				t.Errorf("mode %s: %s: %q: %s", mode, v.Action, command, v.Reason)
			}
		}
	}
	if len(commands) < 100 {
		t.Errorf("only %d commands", len(commands))
	}
	t.Logf("%d commands, all are allowed", len(commands))
}

// Nothing that can be written breaks the parser or takes long.
func TestDeepCommands(t *testing.T) {
	p := New(newWorkspace(t))
	for _, text := range []string{"(", "$(", "{ ", "`", "\"$(", "if ", "! ", "ls | ", "ls && ", "a=$((", "${a:-", "<(", "ls; ", "bash -c '", "'", "((", "[[ "} {
		if v := p.Decide(bashCall(strings.Repeat(text, maxCommand/len(text)))); v.Action == Allow {
			t.Errorf("many %q are allowed", text)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	p := New(newWorkspace(b))
	c := bashCall("cd internal && grep -rn 'func main' --include=*.go . | head -20; git log --oneline -5")
	if v := p.Decide(c); v.Action != Allow {
		b.Fatal(v.Reason)
	}
	for b.Loop() {
		p.Decide(c)
	}
}
