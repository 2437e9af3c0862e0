package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/store/database"
)

// kept writes a session of a few messages and gives its path.
func keptSession(t *testing.T, dir string, prompts ...string) string {
	t.Helper()
	m, err := session.New(dir, "/work", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompts {
		_, err := m.AppendAll(session.Message{Message: llm.UserText(p, time.Now())}, session.Message{Message: llm.Message{
			Role: llm.Assistant, Time: time.Now(), StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "re: " + p}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	path := m.Snapshot().Path()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTrashIsNeverTheEnd(t *testing.T) {
	for _, desktop := range []bool{true, false} {
		dir := t.TempDir()
		paths := config.Paths{Data: filepath.Join(dir, "share", "banyan")}
		want := filepath.Join(paths.Data, "trash", "files")
		if desktop {
			if err := os.MkdirAll(paths.TrashDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			want = filepath.Join(paths.TrashDir(), "files")
		}
		path := keptSession(t, filepath.Join(paths.Data, "sessions"), "hello")
		if err := (shelf{store: store.Files{}, paths: paths}).trash(path); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("desktop %v: it is still there: %v", desktop, err)
		}
		if _, err := os.Stat(filepath.Join(want, filepath.Base(path))); err != nil {
			t.Errorf("desktop %v: %v", desktop, err)
		}
	}
}

// What is deleted in a database goes to our own trash, as a file.
func TestTrashOfADatabase(t *testing.T) {
	dir := t.TempDir()
	s, err := database.Open("sqlite:"+filepath.Join(dir, "s.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	path, err := session.Copy(keptSession(t, dir, "hello"), session.Options{}, s, "p")
	if err != nil {
		t.Fatal(err)
	}
	if err := (shelf{store: s, paths: config.Paths{Data: dir}}).trash(path); err != nil {
		t.Fatal(err)
	}
	if infos, err := s.List(""); err != nil || len(infos) > 0 {
		t.Errorf("it is still there: %v, %v", infos, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "trash", "files", "*.jsonl"))
	if len(files) != 1 {
		t.Errorf("the trash has %v", files)
	}
}

func TestRename(t *testing.T) {
	path := keptSession(t, t.TempDir(), "hello")
	for _, name := range []string{"a name", "another", ""} {
		if err := (shelf{store: store.Files{}}).rename(path, name); err != nil {
			t.Fatal(err)
		}
		m, err := session.Open(path, session.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Snapshot().Name(); got != name {
			t.Errorf("it is called %q, want %q", got, name)
		}
		m.Close()
	}
	held, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := (shelf{store: store.Files{}}).rename(path, "x"); err == nil {
		t.Error("a session that is open elsewhere was renamed")
	}
}

func TestPreviewIsTheEnd(t *testing.T) {
	long := strings.Repeat("世", previewBytes)
	said, err := shelf{store: store.Files{}}.preview(keptSession(t, t.TempDir(), "one", "two", "three", "four", "five", long))
	if err != nil || len(said) != previewMessages || said[0].Who != "You" || said[0].Text != "three" {
		t.Fatalf("%v: %d, %+v", err, len(said), said)
	}
	last := said[len(said)-1]
	if last.Who != "Agent" || len(last.Text) > previewBytes || !strings.HasPrefix(last.Text, "re: 世") {
		t.Errorf("%.40q of %d bytes", last.Text, len(last.Text))
	}
}

func TestImportCopiesAndNeverOverwrites(t *testing.T) {
	dir, from := t.TempDir(), keptSession(t, t.TempDir(), "hello")
	path, err := shelf{store: store.Files{}}.take(dir, filepath.Dir(from), filepath.Base(from))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(from)
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) || filepath.Dir(path) != dir {
		t.Errorf("%s: %v, %d of %d bytes", path, err, len(got), len(want))
	}
	if _, err := (shelf{store: store.Files{}}).take(dir, "", from); err == nil || !strings.Contains(err.Error(), "here already") {
		t.Errorf("the second time: %v", err)
	}
	other := filepath.Join(t.TempDir(), "notes.jsonl")
	if err := os.WriteFile(other, []byte("not a session\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (shelf{store: store.Files{}}).take(dir, "", other); err == nil {
		t.Error("what is no session was taken in")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
}
