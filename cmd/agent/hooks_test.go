package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The example of docs/hooks.md, as it stands there.
func TestTheExampleOfHooks(t *testing.T) {
	doc, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) string {
		m := regexp.MustCompile("(?s)```" + kind + "\n(.*?)```").FindSubmatch(doc)
		if m == nil {
			t.Fatalf("docs/hooks.md has no example in %s", kind)
		}
		return string(m[1])
	}
	home, work := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		".config/banyan/settings.json": block("json"),
		".config/banyan/keep-out.sh":   block("sh"),
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"migrations/1.sql", "main.go"} {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("old words\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "BANYAN_CONFIG_DIR", "BANYAN_DATA_DIR"} {
		t.Setenv(name, "")
	}
	replace := func(file string) (said, content string) {
		var out bytes.Buffer
		run(t.Context(), []string{"-C", work, "--offline", "-p", "--permission-mode", "edits", "replace old with new in " + file}, strings.NewReader(""), &out, &out)
		text, err := os.ReadFile(filepath.Join(work, file))
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), string(text)
	}
	if said, content := replace("main.go"); content != "new words\n" {
		t.Errorf("main.go has %q: %s", content, said)
	}
	if said, content := replace("migrations/1.sql"); content != "old words\n" || !strings.Contains(said, "Migrations are written by hand.") {
		t.Errorf("migrations/1.sql has %q: %s", content, said)
	}
}
