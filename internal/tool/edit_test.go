package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func edits(pairs ...string) []replacement {
	var out []replacement
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, replacement{pairs[i], pairs[i+1]})
	}
	return out
}

func TestApplyEdits(t *testing.T) {
	for _, test := range []struct {
		name, text string
		edits      []replacement
		want       string
	}{
		{"plain", "a b c", edits("b", "x"), "a x c"},
		{"delete", "a b c", edits(" b", ""), "a c"},
		{"several, any order", "one two three", edits("three", "3", "one", "1"), "1 two 3"},
		{"against the original", "ab", edits("a", "b", "b", "a"), "ba"},
		{"neighbours", "abcd", edits("ab", "1", "cd", "2"), "12"},
		{"literal", "a b", edits("b", `$1 \1 $& %s`), `a $1 \1 $& %s`},
		{"crlf matches lf", "a\r\nb\r\nc\r\n", edits("a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf given", "a\r\nb\r\n", edits("a\r\nb", "x\r\ny"), "x\r\ny\r\n"},
		{"lf file stays lf", "a\nb\n", edits("a\nb", "x\r\ny"), "x\ny\n"},
		{"new lines in a crlf line", "a\r\nb\r\n", edits("b", "b\nc"), "a\r\nb\r\nc\r\n"},
		{"last line of a crlf file", "a\r\nb", edits("b", "b\nc"), "a\r\nb\r\nc"},
		{"mixed: lf neighbour", "a\nb\nc\r\n", edits("a", "x\ny"), "x\ny\nb\nc\r\n"},
		{"mixed: crlf neighbour", "a\nb\nc\r\n", edits("c", "x\ny"), "a\nb\nx\r\ny\r\n"},
		{"mixed: common lines stay", "a\nb\r\nc\n", edits("a\nb\nc", "a\nB\nc"), "a\nB\r\nc\n"},
		{"only the line end", "a\r\nb\r\n", edits("a\nb", "ab"), "ab\r\n"},
		{"lone cr", "a\rb\rc", edits("b", "x"), "a\rx\rc"},
		{"foreign bytes around", "\xe9 x \xff", edits("x", "é"), "\xe9 é \xff"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := applyEdits([]byte(test.text), test.edits)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestApplyEditsRefuses(t *testing.T) {
	source := "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"
	for _, test := range []struct {
		name, text string
		edits      []replacement
		words      []string
	}{
		{"empty", "a", edits("", "x"), []string{"empty"}},
		{"same", "a", edits("a", "a"), []string{"the same"}},
		{"twice", "a\nb\na\n", edits("a", "x"), []string{"2 times", "lines 1, 3"}},
		{"overlapping itself", "ababa", edits("aba", "x"), []string{"2 times"}},
		{"many", strings.Repeat("a\n", 50), edits("a", "x"), []string{"50 times", "10, …"}},
		{"wrong space", source, edits("func b() {\n    return 2", "x"), []string{"5\tfunc b() {", "6\t\treturn 2"}},
		{"wrong word", source, edits("\treturn 3\n", "x"), []string{"nearest", "return"}},
		{"nothing alike", source, edits("import zzz", "x"), []string{"nor anything like it"}},
		{"overlap", "abc", edits("ab", "x", "bc", "y"), []string{"1 and 2 overlap", "line 1"}},
		{"one of two", "abc", edits("ab", "x", "z", "y"), []string{"edit 2 of 2"}},
		{"whitespace only", "a", edits("\n\n", "x"), []string{"not occur"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := applyEdits([]byte(test.text), test.edits)
			if err == nil {
				t.Fatalf("worked: %q", got)
			}
			for _, w := range test.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("lacks %q: %v", w, err)
				}
			}
		})
	}
}

// Whatever the file and the edit: it is refused, or exactly one place changed
// and every byte before and after it is as it was.
func TestEditChangesNothingElse(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "\n", "\r\n", "\r", " ", "é", "\xe9", "\xff", "{", "}"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "text"), "")
		old := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "old"), "")
		new := strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "new"), "")
		checkEdit(t, text, old, new)
	})
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "b", "x\ny")
	f.Add("aXbXc", "X", "")
	f.Fuzz(func(t *testing.T, text, old, new string) { checkEdit(t, text, old, new) })
}

type fataler interface{ Fatalf(string, ...any) }

func checkEdit(t fataler, text, old, new string) {
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	got, err := applyEdits([]byte(text), edits(old, new))
	n := countOverlapping(lf(text), lf(old))
	if valid := n == 1 && lf(old) != lf(new) && old != ""; valid != (err == nil) {
		t.Fatalf("%d occurrences, error %v", n, err)
	}
	if err != nil {
		return
	}
	view := newLFView([]byte(text))
	at := strings.Index(lf(text), lf(old))
	before, after := text[:view.back(at)], text[view.back(at+len(lf(old))):]
	if !strings.HasPrefix(string(got), before) || !strings.HasSuffix(string(got), after) || len(got) < len(before)+len(after) {
		t.Fatalf("%q → %q: bytes outside of the match changed", text, got)
	}
	// A carriage return of its own before a line end is one with it afterwards.
	if put := string(got[len(before) : len(got)-len(after)]); lf(put) != lf(new) && put != lf(new) {
		t.Fatalf("%q → %q: put in %q, want %q but for line ends", text, got, put, new)
	}
}

func countOverlapping(text, sub string) int {
	if sub == "" {
		return 0
	}
	n := 0
	for i := 0; i+len(sub) <= len(text); i++ {
		if text[i:i+len(sub)] == sub {
			n++
		}
	}
	return n
}

func TestEditKeepsTheFileAsItIs(t *testing.T) {
	b := newBench(t)
	path := b.put("script.sh", "\uFEFF#!/bin/sh\r\necho one\r\n")
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	r := b.call("edit", args{"path": "script.sh", "old_string": "one", "new_string": "two\nexit"})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if got := b.get("script.sh"); got != "\uFEFF#!/bin/sh\r\necho two\r\nexit\r\n" {
		t.Errorf("got %q", got)
	}
	if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o751 {
		t.Errorf("mode %v", fi.Mode())
	}
	if d := r.View.(Diff); d.Added != 2 || d.Removed != 1 || d.Path != "script.sh" || strings.HasPrefix(d.Diff, "---") {
		t.Errorf("view %+v", d)
	}
	b.put("wide.txt", "\xfe\xff\x00a\x00b")
	b.text("edit", args{"path": "wide.txt", "old_string": "b", "new_string": "é"})
	if got := b.get("wide.txt"); got != "\xfe\xff\x00a\x00\xe9" {
		t.Errorf("UTF-16: got %q", got)
	}
}

func TestEditInPlaceWhereItMust(t *testing.T) {
	b := newBench(t)
	b.put("one", "alpha\n")
	if err := os.Link(b.path("one"), b.path("two")); err != nil {
		t.Fatal(err)
	}
	b.text("edit", args{"path": "one", "old_string": "alpha", "new_string": "a"})
	if got := b.get("two"); got != "a\n" {
		t.Errorf("the other name has %q", got)
	}
	b.put("frozen", "x\n")
	if err := os.Chmod(b.path("frozen"), 0o444); err != nil {
		t.Fatal(err)
	}
	b.fails("edit", args{"path": "frozen", "old_string": "x", "new_string": "y"}, "read-only")
	if os.Getuid() == 0 {
		t.Log("as root every folder can be written to: that case is not shown here")
	} else {
		b.put("dir/f", "x\n")
		if err := os.Chmod(b.path("dir"), 0o555); err != nil {
			t.Fatal(err)
		}
		b.text("edit", args{"path": "dir/f", "old_string": "x", "new_string": "y"})
		os.Chmod(b.path("dir"), 0o755)
		if got := b.get("dir/f"); got != "y\n" {
			t.Errorf("got %q", got)
		}
	}
	if left, _ := filepath.Glob(b.path(".banyan-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(b.env.temp, "backup-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestChangedFilesAreNotTouched(t *testing.T) {
	b := newBench(t)
	path := b.put("f", "old\n")
	b.text("read", args{"path": "f"})
	// Same size, same time: only the content tells.
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b.put("f", "odd\n")
	if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	b.fails("edit", args{"path": "f", "old_string": "o", "new_string": "x"}, "changed since you read it")
	b.fails("write", args{"path": "f", "content": "mine"}, "changed since you read it")
	b.text("read", args{"path": "f"})
	b.text("edit", args{"path": "f", "old_string": "odd", "new_string": "even"})
	b.text("write", args{"path": "f", "content": "mine"}) // knows what it has written

	b.put("unread", "x")
	b.fails("write", args{"path": "unread", "content": "y"}, "have not read it")
	if got := b.get("unread"); got != "x" {
		t.Errorf("got %q", got)
	}
	b.put("blank", "")
	b.text("write", args{"path": "blank", "content": "y"})
}

// A program that changes the file while an edit is worked out is always noticed.
func TestReplaceNoticesAChange(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\n")
	p, err := b.env.place("f")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		old, err := load(p)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]byte("z"), old.data...)
		b.put("f", string(changed))
		if err := b.env.replace(p, old, []byte("mine")); !errors.Is(err, errChanged) {
			t.Fatalf("got %v", err)
		}
		if got := b.get("f"); got != string(changed) {
			t.Fatalf("the other program's change is lost: %q", got)
		}
	}
}

func TestParallelEditsAllLand(t *testing.T) {
	b := newBench(t)
	var lines []string
	for i := range 20 {
		lines = append(lines, strings.Repeat("x", i+1)+".")
	}
	b.put("f", strings.Join(lines, "\n"))
	var wg sync.WaitGroup
	for i := range lines {
		wg.Go(func() {
			old := "\n" + lines[i] + "\n"
			if i == 0 {
				old = lines[0] + "\nxx."
			} else if i == len(lines)-1 {
				old = "\n" + lines[i]
			}
			r := b.call("edit", args{"path": "f", "old_string": old, "new_string": strings.Replace(old, ".", "!", 1)})
			if i > 1 && r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(b.get("f"), "!"); got < len(lines)-2 {
		t.Errorf("%d of %d edits landed:\n%s", got, len(lines), b.get("f"))
	}
}

func TestEditArguments(t *testing.T) {
	b := newBench(t)
	b.put("f", "a b\n")
	b.text("edit", args{"path": "f", "edits": []args{{"old_string": "a", "new_string": "1"}, {"old_string": "b", "new_string": "2"}}})
	if got := b.get("f"); got != "1 2\n" {
		t.Errorf("got %q", got)
	}
	for _, a := range []args{
		{"path": "f"},
		{"path": "f", "old_string": "1"},
		{"path": "f", "edits": []args{}},
		{"path": "f", "old_string": "1", "new_string": "3", "edits": []args{{"old_string": "2", "new_string": "4"}}},
		{"path": "f", "old_string": "1", "new_string": "3", "replace_all": true},
	} {
		b.fails("edit", a, "edit")
	}
	b.fails("edit", args{"path": "none", "old_string": "1", "new_string": "3"}, "not exist")
	b.fails("edit", args{"path": ".", "old_string": "1", "new_string": "3"}, "folder")
}

func TestPreviewChangesNothing(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\n")
	preview := func(name, raw string) View {
		tool, _ := Find(b.tools, name)
		return tool.Preview(Input{Args: []byte(raw)})
	}
	if d, ok := preview("edit", `{"path":"f","old_string":"a","new_string":"b"}`).(Diff); !ok || d.Added != 1 || d.Removed != 1 {
		t.Errorf("edit: %+v", d)
	}
	if d, ok := preview("write", `{"path":"f","content":"a\nb\n"}`).(Diff); !ok || d.Added != 1 || d.Created {
		t.Errorf("write: %+v", d)
	}
	if d, ok := preview("write", `{"path":"g/h","content":"a\nb\n"}`).(Diff); !ok || d.Added != 2 || !d.Created {
		t.Errorf("new: %+v", d)
	}
	if v := preview("edit", `{"path":"f","old_string":"zz","new_string":"b"}`); v != nil {
		t.Errorf("an edit that fails has a preview: %+v", v)
	}
	if b.get("f") != "a\n" {
		t.Error("a preview wrote")
	}
	if _, err := os.Stat(b.path("g")); err == nil {
		t.Error("a preview made a folder")
	}
}

func TestWrite(t *testing.T) {
	b := newBench(t)
	r := b.call("write", args{"path": "a/b/c.txt", "content": "one\ntwo\n"})
	if r.Err != nil || !strings.Contains(textOf(r), "Created a/b/c.txt, 2 lines") {
		t.Fatalf("%q %v", textOf(r), r.Err)
	}
	b.text("write", args{"path": "a/b/c.txt", "content": "three\n"})
	if got := b.get("a/b/c.txt"); got != "three\n" {
		t.Errorf("got %q", got)
	}
	b.put("dos", "\uFEFFa\r\nb\r\n")
	b.text("read", args{"path": "dos"})
	b.text("write", args{"path": "dos", "content": "x\ny\n"})
	if got := b.get("dos"); got != "\uFEFFx\r\ny\r\n" {
		t.Errorf("got %q", got)
	}
	if got := b.text("write", args{"path": "dos", "content": "x\ny\n"}); !strings.Contains(got, "already") {
		t.Errorf("got %q", got)
	}
	b.put("unread", "as it was\n")
	b.fails("write", args{"path": "unread", "content": "other\n"}, "have not read it")
	if got := b.text("write", args{"path": "unread", "content": "as it was\n"}); !strings.Contains(got, "already") {
		t.Errorf("got %q", got)
	}
	b.fails("write", args{"path": "a", "content": ""}, "folder")
	b.fails("write", args{"path": "dos/x", "content": ""}, "dos/x")
}
