package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// newRepository fills a workspace with files that git ignores and others.
func newRepository(t testing.TB) bench {
	b := newBench(t)
	b.put(".git/HEAD", "ref: refs/heads/main\n")
	b.put(".gitignore", "*.log\n/build/\n!keep.log\n")
	b.put("main.go", "package main\n\nfunc main() {\n\tprintln(\"TODO one\")\n}\n")
	b.put("a/b/deep.go", "package b // todo two\n")
	b.put("a/b/deep_test.go", "package b // TODO three\n")
	b.put("a/.gitignore", "secret*\n!secret.md\n")
	b.put("a/secret.txt", "TODO hidden\n")
	b.put("a/secret.md", "TODO shown\n")
	b.put("debug.log", "TODO log\n")
	b.put("a/keep.log", "TODO kept\n")
	b.put("build/out.go", "TODO built\n")
	b.put("a/build/out.go", "TODO other\n")
	b.put(".github/ci.yml", "# TODO ci\n")
	b.put("bin", "TODO\x00binary\n")
	b.put("long.js", strings.Repeat("x", 3000)+"TODO"+strings.Repeat("y", 3000)+"\n")
	return b
}

func TestGrep(t *testing.T) {
	b := newRepository(t)
	long := "…" + strings.Repeat("x", 125) + "TODO" + strings.Repeat("y", 371) + "…"
	for _, test := range []struct {
		name string
		args args
		want string
	}{
		{"all", args{"pattern": "TODO"}, ".github/ci.yml:1:# TODO ci\na/b/deep_test.go:1:package b // TODO three\na/build/out.go:1:TODO other\na/keep.log:1:TODO kept\na/secret.md:1:TODO shown\nlong.js:1:" + long + "\nmain.go:4:\tprintln(\"TODO one\")\n"},
		{"folder", args{"pattern": "todo", "path": "a/b"}, "a/b/deep.go:1:package b // todo two\n"},
		{"case", args{"pattern": "todo t", "ignore_case": true}, "a/b/deep.go:1:package b // todo two\na/b/deep_test.go:1:package b // TODO three\n"},
		{"glob", args{"pattern": "package", "glob": "*_test.go"}, "a/b/deep_test.go:1:package b // TODO three\n"},
		{"glob by path", args{"pattern": "package", "glob": "a/**/deep.{go,c}"}, "a/b/deep.go:1:package b // todo two\n"},
		{"glob not", args{"pattern": "^package", "glob": "!*_test.go"}, "a/b/deep.go:1:package b // todo two\nmain.go:1:package main\n"},
		{"file", args{"pattern": "^func|^}", "path": "main.go"}, "main.go:3:func main() {\nmain.go:5:}\n"},
		{"ignored but named", args{"pattern": "TODO", "path": "build"}, "build/out.go:1:TODO built\n"},
		{"ignored file named", args{"pattern": "TODO", "path": "debug.log"}, "debug.log:1:TODO log\n"},
		{"literal", args{"pattern": "main() {", "literal": true}, "main.go:3:func main() {\n"},
		{"files", args{"pattern": "package", "output_mode": "files_with_matches"}, "a/b/deep.go\na/b/deep_test.go\nmain.go\n"},
		{"count", args{"pattern": "a", "glob": "*.go", "output_mode": "count"}, "a/b/deep.go:1\na/b/deep_test.go:1\nmain.go:2\n"},
		{"context", args{"pattern": "func", "context": 1}, "main.go-2-\nmain.go:3:func main() {\nmain.go-4-\tprintln(\"TODO one\")\n"},
		{"limit", args{"pattern": "package", "limit": 1}, "a/b/deep.go:1:package b // todo two\n[more than 1: narrow the search or give a larger limit]\n"},
		{"none", args{"pattern": "nowhere"}, "No match in 11 files."},
	} {
		if got := b.text("grep", test.args); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	b.fails("grep", args{"pattern": "a(b"}, "missing closing )", "literal")
	b.fails("grep", args{"pattern": "x", "path": "none"}, "not exist")
	b.fails("grep", args{"pattern": "x", "path": "/dev/zero"}, "device")
	b.fails("grep", args{"pattern": "x", "context": -1}, "context")
}

func TestGrepContextGroups(t *testing.T) {
	b := newBench(t)
	b.put("f", "1\n2 hit\n3\n4\n5\n6\n7 hit\n8 hit\n9\n10\n")
	want := "f-1-1\nf:2:2 hit\nf-3-3\n--\nf-6-6\nf:7:7 hit\nf:8:8 hit\nf-9-9\n"
	if got := b.text("grep", args{"pattern": "hit", "context": 1}); got != want {
		t.Errorf("got\n%s", got)
	}
	want = "f-1-1\nf:2:2 hit\nf-3-3\n[more than 1: narrow the search or give a larger limit]\n"
	if got := b.text("grep", args{"pattern": "hit", "context": 1, "limit": 1}); got != want {
		t.Errorf("got\n%s", got)
	}
}

// The fast way through a file finds what the slow way finds: each line by
// itself.
func TestSearchFindsLinesByThemselves(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", ".", "^", "$", `\s`, `\n`, "[^a]", `\b`, `\A`, `\z`, "(a|b)", "a*", "", `\S+`, "(?i:A)", "b?", "ab", "(?i:kA)", "(?i:b)", "(ab)+"})
	piece := rapid.SampledFrom([]string{"a", "b", " ", "\n", "\n\n", "ab", "\r\n", "é", "\t", "\u212a", "A", "k"})
	b := newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(atom, 1, 4).Draw(rt, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(rt, "text"), "")
		line, err := regexp.Compile(pattern)
		if err != nil {
			rt.Skip()
		}
		var want []string
		number := 0
		for l := range strings.Lines(text) {
			number++
			l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
			if line.MatchString(l) {
				want = append(want, fmt.Sprintf("%d %s", number, l))
			}
		}
		s, err := newSearch(grepArgs{Pattern: pattern, Limit: 1000})
		if err != nil {
			rt.Fatal(err)
		}
		b.put("f", text)
		p, err := b.env.place("f")
		if err != nil {
			rt.Fatal(err)
		}
		hits, err := s.file(t.Context(), p, ".")
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		for _, l := range hits.lines {
			got = append(got, fmt.Sprintf("%d %s", l.number, l.text))
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("pattern %q in %q: got %q, want %q", pattern, text, got, want)
		}
	})
}

// Lines are found, and numbered right, where a large file is cut into pieces.
func TestGrepLargeFile(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	var want strings.Builder
	for i := 1; text.Len() < 3*pieceSize; i++ {
		if i%20000 == 0 {
			fmt.Fprintf(&text, "needle %d\n", i)
			fmt.Fprintf(&want, "f:%d:needle %d\n", i, i)
			continue
		}
		fmt.Fprintf(&text, "line %d of a large file\n", i)
	}
	b.put("f", text.String())
	if got := b.text("grep", args{"pattern": "needle"}); got != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
	b.put("g", strings.Repeat("x", 3*pieceSize)+"needle")
	if got := b.text("grep", args{"pattern": "needle", "path": "g", "output_mode": "count"}); got != "g:1\n" {
		t.Errorf("got %q", got)
	}
}

func TestGrepTakesNoExponentialTime(t *testing.T) {
	b := newBench(t)
	b.put("f", strings.Repeat("a", 50_000)+"!\n")
	if got := b.text("grep", args{"pattern": "((a+)+)+$"}); got != "No match in 1 file." {
		t.Errorf("got %q", got)
	}
}

func TestGlob(t *testing.T) {
	b := newRepository(t)
	at := time.Now()
	for i, name := range []string{"main.go", "a/b/deep.go", "a/b/deep_test.go", "a/build/out.go"} {
		when := at.Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(b.path(name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"pattern": "**/*.go"}, "main.go\na/b/deep.go\na/b/deep_test.go\na/build/out.go\n"},
		{args{"pattern": "*.go"}, "main.go\n"},
		{args{"pattern": "a/**/*.go"}, "a/b/deep.go\na/b/deep_test.go\na/build/out.go\n"},
		{args{"pattern": "*.go", "path": "a/b"}, "a/b/deep.go\na/b/deep_test.go\n"},
		{args{"pattern": b.path("a/b/*_test.go")}, "a/b/deep_test.go\n"},
		{args{"pattern": "**/{main,out}.go"}, "main.go\na/build/out.go\n"},
		{args{"pattern": "**/*.go", "limit": 1}, "main.go\n[3 more of 4]\n"},
		{args{"pattern": "build/*"}, "build/out.go\n"},
		{args{"pattern": "**/*.log"}, "a/keep.log\n"},
		{args{"pattern": "deep.go"}, `No file matches deep.go. For any depth use "**/deep.go".`},
	} {
		if got := b.text("glob", test.args); got != test.want {
			t.Errorf("%v: got\n%s\nwant\n%s", test.args, got, test.want)
		}
	}
	b.fails("glob", args{"pattern": "a[b"}, "no partner")
	b.fails("glob", args{"pattern": "*", "path": "none"}, "not exist")
}

// Links in a circle and folders without end are no trap.
func TestWalkEnds(t *testing.T) {
	b := newBench(t)
	b.put("d/f", "x\n")
	if err := os.Symlink("..", b.path("d/up")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("self", b.path("self")); err != nil {
		t.Fatal(err)
	}
	if got := b.text("grep", args{"pattern": "x"}); got != "d/f:1:x\n" {
		t.Errorf("got %q", got)
	}
	deep := b.path("deep")
	for range 150 {
		deep = filepath.Join(deep, "dir-with-a-name")
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	b.text("glob", args{"pattern": "**/nothing"})
}

// What our rules ignore is what git ignores.
func TestIgnoresLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, and it is what we compare with")
	}
	rules := []string{
		"*.log", "/build", "tmp/", "!keep.log", "a/**/z", "**/x", "docs/*.txt", "foo/**", "[!a]b", "[a-c]d", "[[:digit:]]*", "q?",
		`\#hash`, `\!bang`, "space\\ ", "trailing   ", "# comment", "", "{a,b}", "b**k", "**", "/*.md", "dir/sub/", "!dir/sub/in", "*/mid/*", "[^x]y", "[", "a\\*b", "[]-]w", "*.[oa]",
	}
	names := []string{"a", "b", "x", "z", "ab", "bb", "ad", "dd", "tmp", "build", "foo", "docs", "dir", "sub", "in", "mid", "1a", "qq", "#hash", "!bang", "space ", "trailing", "{a,b}", "book", "r.md", "n.txt", "d.log", "keep.log", "yy", "xy", "a*b", "]w", "-w", "m.o"}
	n := 10
	if os.Getenv("LONG") != "" {
		n = 500
	}
	for seed := range n {
		rapidly := rapid.Custom(func(t *rapid.T) [2][]string {
			return [2][]string{
				rapid.SliceOfN(rapid.SampledFrom(rules), 1, 6).Draw(t, "root"),
				rapid.SliceOfN(rapid.SampledFrom(rules), 0, 3).Draw(t, "dir"),
			}
		}).Example(seed)
		compareWithGit(t, rapidly[0], rapidly[1], names)
	}
	for _, rule := range rules {
		compareWithGit(t, []string{rule}, nil, names)
	}
}

func compareWithGit(t *testing.T, root, inDir, names []string) {
	t.Helper()
	b := newBench(t)
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = b.env.Dir
		cmd.Env = []string{"HOME=" + b.env.Dir + "/none", "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		cmd.Stdin = strings.NewReader(stdin)
		out, _ := cmd.Output() // exit 1: nothing is ignored
		return string(out)
	}
	git("", "init", "-q")
	b.put(".gitignore", strings.Join(root, "\n")+"\n")
	b.put("dir/.gitignore", strings.Join(inDir, "\n")+"\n")
	var all []string
	for _, name := range names {
		all = append(all, name, "dir/"+name, "dir/sub/"+name, "a/mid/"+name, "foo/b/"+name)
	}
	for i := len(all) - 1; i >= 0; i-- { // the same name may be a folder: that one first
		if fi, err := os.Stat(b.path(all[i])); err != nil || !fi.IsDir() {
			b.put(all[i], "")
		}
	}
	ignored := map[string]bool{}
	for _, path := range strings.Split(git(strings.Join(all, "\x00")+"\x00", "check-ignore", "-z", "--stdin"), "\x00") {
		ignored[path] = true
	}
	p, err := b.env.place(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", b.path("none"))
	files, _, err := walk(t.Context(), p, globFilter(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if fi, err := os.Stat(b.path(path)); err != nil || fi.IsDir() {
			continue
		}
		if found := slices.Contains(files, path); found == ignored[path] {
			t.Errorf("rules %q and, in dir, %q: git ignores %q: %v, we do: %v", root, inDir, path, ignored[path], !found)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	w := newBench(b)
	for i := range 2000 {
		w.put(fmt.Sprintf("d%d/f%d.go", i%50, i), strings.Repeat("some line of code in a file\n", 100))
	}
	for name, a := range map[string]args{
		"literal":    {"pattern": "nowhere"},
		"ignoreCase": {"pattern": "nowhere", "ignore_case": true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.text("grep", a)
			}
		})
	}
}
