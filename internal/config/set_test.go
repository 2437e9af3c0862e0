//go:build unix

package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetKeepsWhatStandsThere(t *testing.T) {
	for _, c := range []struct {
		name, before, path string
		value              any
		after              string
	}{
		{"a new file", "", "theme", "dark", "{\n  \"theme\": \"dark\"\n}\n"},
		{"nested in a new file", "", "compaction.enabled", false, "{\n  \"compaction\": {\"enabled\": false}\n}\n"},
		{"nothing but a comment", "// mine", "vim", true, "// mine\n{\n  \"vim\": true\n}\n"},
		{"an empty object", "{}", "vim", true, "{\n  \"vim\": true\n}"},
		{
			"a value in its place", "{\n\t// why\n\t\"theme\": \"light\", // because\n\t\"vim\": true\n}\n", "theme", "dark",
			"{\n\t// why\n\t\"theme\": \"dark\", // because\n\t\"vim\": true\n}\n",
		},
		{
			"a new one at the end, with the indent of the others", "{\n\t\"vim\": true // yes, vim\n\t// the end\n}\n", "mouse", false,
			"{\n\t\"vim\": true, // yes, vim\n\t// the end\n\t\"mouse\": false\n}\n",
		},
		{
			"after a trailing comma", "{\n    \"vim\": true, // a, b\n}", "mouse", false,
			"{\n    \"vim\": true, // a, b\n    \"mouse\": false\n}",
		},
		{"on one line", `{"vim": true}`, "mouse", false, `{"vim": true, "mouse": false}`},
		{"in an object that is there", "{\n  \"compaction\": {\"enabled\": true}\n}\n", "compaction.models.a/b.c.reserveTokens", 7, "{\n  \"compaction\": {\"enabled\": true, \"models\": {\"a/b.c\": {\"reserveTokens\": 7}}}\n}\n"},
		{"in an empty object", "{\n  \"keys\": {}\n}\n", "keys.tree.fold", []string{"left", "h"}, "{\n  \"keys\": {\"tree.fold\": [\"left\",\"h\"]}\n}\n"},
		{"CRLF", "{\r\n  \"vim\": true\r\n}\r\n", "mouse", false, "{\r\n  \"vim\": true,\r\n  \"mouse\": false\r\n}\r\n"},
		{"BOM", "\ufeff{\"vim\": true}", "vim", false, "\ufeff{\"vim\": false}"},
		{"the one of two that counts", `{"vim": true, "vim": true}`, "vim", false, `{"vim": true, "vim": false}`},
		{"away, with its line", "{\n  \"theme\": \"x\",\n  \"vim\": true\n}\n", "theme", nil, "{\n  \"vim\": true\n}\n"},
		{"away, the last", "{\n  \"theme\": \"x\",\n  \"vim\": true\n}\n", "vim", nil, "{\n  \"theme\": \"x\"\n}\n"},
		{"away, the only one", "{\n  \"vim\": true\n}\n", "vim", nil, "{\n}\n"},
		{"away, before a comment and its comma", `{"vim": true /* v, i */, "mouse": true}`, "vim", nil, `{ /* v, i */ "mouse": true}`},
		{"away, the last after a comment", `{"vim": true /* v, i */, "mouse": true}`, "mouse", nil, `{"vim": true /* v, i */ }`},
		{"away, not there", "{\n}", "compaction.model", nil, "{\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config", "settings.json")
			if c.before != "" {
				write(t, file, c.before)
			}
			if err := Set(file, c.path, c.value); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != c.after {
				t.Errorf("\n got %q\nwant %q (%v)", got, c.after, err)
			}
			if info, _ := os.Stat(file); c.value != nil && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			if files, _ := os.ReadDir(filepath.Dir(file)); len(files) != 1 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		name, before, path string
		value              any
		want               string
	}{
		{"no such setting", "{}", "thme", "x", `no such setting; did you mean "theme"?`},
		{"a wrong value", "{}", "thinking", "hihg", `it takes "off", "minimal"`},
		{"a broken file", "{\n\"vim\": tru", "theme", "x", "line 2: it is not JSON"},
		{"something in the way", `{"compaction": 3}`, "compaction.enabled", true, `line 1: "compaction" is not an object`},
		{"one of two", `{"vim": true, "vim": true}`, "vim", nil, "by hand"},
		{"one of two, inside", `{"keys": {"a": "x"}, "keys": {"a": "y"}}`, "keys.a", nil, "by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "settings.json")
			write(t, file, c.before)
			if err := Set(file, c.path, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got, _ := os.ReadFile(file); string(got) != c.before {
				t.Errorf("the file changed to %q", got)
			}
		})
	}
}

func TestSetWritesBehindALink(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "config", "settings.json"), filepath.Join(dir, "dotfiles", "banyan.json")
	write(t, target, "{}")
	write(t, filepath.Join(dir, "config", "x"), "")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := Set(link, "vim", true); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Contains(got, []byte(`"vim": true`)) {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// Whatever a file looks like, after Set it loads, the setting has its value, all
// other settings have theirs, and no comment is lost.
func TestSetProperty(t *testing.T) {
	paths := []struct {
		path   string
		values []any
	}{
		{"theme", []any{"a", "}", nil}},
		{"vim", []any{true, false, nil}},
		{"compaction.reserveTokens", []any{1, 2, nil}},
		{"compaction.models.a/b.reserveTokens", []any{3, nil}},
		{"keys.x.y", []any{[]string{}, []string{"k", ","}, nil}},
		{"permissions.deny", []any{[]string{"D//"}, nil}},
	}
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", " /*c,*/ ", " //c,}\n", "\r\n\t"})
		g := func() string { return gap.Draw(t, "gap") }
		comma := func() string { return rapid.SampledFrom([]string{"", ","}).Draw(t, "comma") }
		member := func(name, value string) string { return g() + `"` + name + `"` + g() + ":" + g() + value + g() }
		var parts []string
		for _, part := range []string{
			member("theme", `"t"`), member("vim", "true"),
			member("compaction", "{"+member("reserveTokens", "5")+comma()+g()+"}"),
			member("keys", "{"+g()+"}"),
			member("permissions", "{"+member("ask", `["A"]`)+","+member("deny", `"B"`)+"}"),
		} {
			if rapid.Bool().Draw(t, "there") {
				parts = append(parts, part)
			}
		}
		text := "{" + strings.Join(parts, ",")
		if len(parts) > 0 {
			text += comma()
		}
		text += g() + "}" + g()
		p := rapid.SampledFrom(paths).Draw(t, "path")
		value := rapid.SampledFrom(p.values).Draw(t, "value")

		dir, err := os.MkdirTemp("", "settings")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		config := Paths{Config: dir}
		if err := os.WriteFile(config.UserFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := shownOf(t, config)
		if err := Set(config.UserFile(), p.path, value); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		changed, err := os.ReadFile(config.UserFile())
		if err != nil {
			t.Fatal(err)
		}
		want := Defaults()
		delete(before, p.path)
		if value != nil {
			f, name, _ := match(p.path)
			if _, err := f.put(&want, name, []byte(jsonOf(value)), Source{}); err != nil {
				t.Fatal(err)
			}
			before[p.path] = jsonOf(value)
		}
		after := shownOf(t, config)
		for path, value := range before {
			if after[path] != value {
				t.Fatalf("%s is %q, not %q\n%q\n%q", path, after[path], value, text, changed)
			}
		}
		if len(after) != len(before) {
			t.Fatalf("set now: %v, want %v\n%q\n%q", after, before, text, changed)
		}
		if a, b := bytes.Count([]byte(text), []byte("c,")), bytes.Count(changed, []byte("c,")); value != nil && b < a-strings.Count(before[p.path], "c,") {
			t.Fatalf("%d comments became %d\n%q\n%q", a, b, text, changed)
		}
	})
}

// shownOf is what is set in the user's file, by path.
func shownOf(t *rapid.T, paths Paths) map[string]string {
	_, values, problems := Load(paths, "", false, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set := map[string]string{}
	for _, v := range values {
		if v.Sources[0].Scope == User {
			set[v.Path] = v.JSON
		}
	}
	return set
}

func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A change either is refused, or gives a file in which that value is another and
// no other value is.
func FuzzSet(f *testing.F) {
	for _, text := range []string{everything, "", "{}", "{ // c\n}", `{"vim": true,}`, "{\"keys\": {\"a\": 1,\n\t\"b\": [], },}"} {
		for n := range 6 {
			f.Add([]byte(text), n)
		}
	}
	changes := []struct {
		path  string
		value any
	}{
		{"vim", true},
		{"vim", nil},
		{"keys.a", []string{"x"}},
		{"keys.b", nil},
		{"compaction.models.m.reserveTokens", 5},
		{"permissions.deny", []string{"D"}},
	}
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		c := changes[uint(n)%uint(len(changes))]
		field, name, _ := match(c.path)
		var value []byte
		if c.value != nil {
			value = []byte(jsonOf(c.value))
		}
		changed, err := edit(bytes.Clone(text), field.names(name), value)
		if err != nil {
			return
		}
		before, after := set(t, text), set(t, changed)
		if c.value == nil && after[c.path] != "" || c.value != nil && after[c.path] != string(value) {
			// A list adds up with one that stands there twice.
			if !field.addsUp() || !strings.Contains(after[c.path], string(value[1:len(value)-1])) {
				t.Fatalf("%s is %s, not %s, in %q", c.path, after[c.path], value, changed)
			}
		}
		delete(before, c.path)
		delete(after, c.path)
		if !maps.Equal(before, after) {
			t.Fatalf("%s changed others: %v became %v\n%q\n%q", c.path, before, after, text, changed)
		}
	})
}

// set is what a file sets, by path.
func set(t *testing.T, text []byte) map[string]string {
	t.Helper()
	l := newLoader(Paths{})
	if err := l.text(Source{Scope: User}, text); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	values := map[string]string{}
	for _, v := range l.values() {
		if v.Sources[0].Scope == User {
			values[v.Path] = v.JSON
		}
	}
	return values
}
