package permission

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a command that is allowed runs is what its parse tree names: generated
// commands, full of quotes and traps, are really run by bash, with programs that
// only record how they were called.
func TestAllowedCommandsRunWhatTheyName(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("bash is not installed, and it is what we compare with:", err)
	}
	w := newWorkspace(t)
	programs := t.TempDir()
	record := filepath.Join(programs, "record")
	stub := "#!/bin/bash\nprintf '%q ' \"${0##*/}\" \"$@\" >> " + record + "\necho >> " + record + "\n"
	for _, name := range []string{"ls", "cat", "head", "grep", "wc", "sort", "find", "rm", "sh", "evil", "id"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.Path = programs
	for _, name := range []string{"-exec", "--output=x", "a b", "$(evil)", ";evil", "x'y"} { // a repository may hold any names
		if err := os.WriteFile(filepath.Join(w.Dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	atom := rapid.SampledFrom([]string{
		"ls", "cat", "head", "grep", "wc", "sort", "echo", "rm", "evil", "-l", "-o", "x", "main.go", "internal", ".",
		" ", " ", " ", " ", " && ", " || ", " | ", "; ", ";", "&", "|", "\n", "\r", "\t", "'", "'", `"`, `"`, `\`, "$", "$(", ")", "(", "`", "{", "}", ",",
		"*", "?", "[", "]", "~", "#", "!", "<", ">", "2>&1", ">/dev/null", "=", "A=", "$'", `$"`, "${", "<<x", "=~", "''", `""`, "é", "%", "^", "--", "@(", "\x7f",
	})
	p := New(w)
	ran := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", "ls ", "echo ", "cat main.go", "grep x "}).Draw(rt, "start") +
			strings.Join(rapid.SliceOfN(atom, 0, 10).Draw(rt, "atoms"), "")
		if p.Decide(bashCall(text)).Action != Allow {
			return
		}
		ran++
		commands, err := understand(text)
		if err != nil {
			rt.Fatalf("%q is allowed and not understood: %v", text, err)
		}
		if err := os.WriteFile(record, nil, 0o644); err != nil {
			rt.Fatal(err)
		}
		cmd := exec.Command("/bin/bash", "--noprofile", "--norc", "-c", text)
		cmd.Dir, cmd.Env = w.Dir, []string{"PATH=" + programs, "HOME=" + w.Home}
		_ = cmd.Run() // how it ends is not the point
		for _, got := range recorded(rt, record) {
			if !slices.ContainsFunc(commands, func(c command) bool { return same(c, got) }) {
				rt.Fatalf("%q ran %q, which is not in %v", text, got, commands)
			}
		}
	})
	if ran == 0 {
		t.Error("no command was allowed: this shows nothing")
	}
	t.Logf("%d commands were allowed and run", ran)
}

// recorded are the words of each command that was run.
func recorded(t *rapid.T, file string) [][]string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	for line := range strings.Lines(string(text)) {
		words, err := exec.Command("/bin/bash", "-c", "printf '%s\\n' "+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, strings.Split(strings.TrimSuffix(string(words), "\n"), "\n"))
	}
	return calls
}

// same tells whether a call is what a command says: word for word, where no
// file name pattern stands for other words.
func same(c command, got []string) bool {
	if slices.Contains(c.globs, true) {
		return c.words[0] == got[0]
	}
	return slices.Equal(c.words, got)
}

// No text, however strange, makes the policy panic or allow what it does not
// understand.
func FuzzDecide(f *testing.F) {
	for _, seed := range []string{"ls", "ls; rm x", "a $(b) 'c' \"d\" <<e\nf\ne\n", "((", "x() { y; }"} {
		f.Add(seed)
	}
	w := newWorkspace(f)
	p := New(w, rules(f, user, "deny Bash(rm *)", "allow Bash(npm *)")...)
	f.Fuzz(func(t *testing.T, text string) {
		v := p.Decide(bashCall(text))
		if _, err := understand(text); v.Action == Allow && err != nil {
			t.Errorf("%q is allowed and not understood: %v", text, err)
		}
		_ = p.Explain(text)
	})
}
