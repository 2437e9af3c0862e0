package session_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl/fstest"
	"banyan/internal/session"
)

// Files of older versions and what they say.
var oldFiles = []struct {
	name    string
	version int
	lines   []string
	context []string
	roots   int
	// keeps are texts that must be in the migrated file byte for byte.
	keeps []string
}{
	{
		name: "version 1", version: 1,
		lines: []string{
			`{"type":"session","id":"old","timestamp":"2025-11-20T07:00:00.000Z","cwd":"/w","provider":"x"}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:01.000Z","message":{"role":"user","content":"first","timestamp":1}}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"r1"}],"provider":"p","model":"m"},"extra":{"a" : 1.0}}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:03.000Z","message":{"role":"user","content":"second"}}`,
			`{"type":"compaction","timestamp":"2025-11-20T07:00:04.000Z","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":50000}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:05.000Z","message":{"role":"user","content":"third"}}`,
		},
		context: []string{"s:sum", "u:second", "u:third"}, roots: 1,
		keeps: []string{`"extra":{"a" : 1.0}`, `"provider":"x"`},
	},
	{
		name: "version 1, keeping from the header", version: 1,
		lines: []string{
			`{"type":"session","id":"old","timestamp":"2025-11-20T07:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:01.000Z","message":{"role":"user","content":"first"}}`,
			`{"type":"compaction","timestamp":"2025-11-20T07:00:04.000Z","summary":"sum","firstKeptEntryIndex":0,"tokensBefore":1}`,
		},
		context: []string{"s:sum"}, roots: 1,
	},
	{
		name: "version 1 with a bad line, which counts", version: 1,
		lines: []string{
			`{"type":"session","id":"old","timestamp":"2025-11-20T07:00:00.000Z","cwd":"/w"}`,
			`{"type":"mess`,
			`{"type":"message","timestamp":"2025-11-20T07:00:01.000Z","message":{"role":"user","content":"first"}}`,
			`{"type":"message","timestamp":"2025-11-20T07:00:02.000Z","message":{"role":"user","content":"second"}}`,
			`{"type":"compaction","timestamp":"2025-11-20T07:00:04.000Z","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":1}`,
		},
		context: []string{"s:sum", "u:second"}, roots: 1,
		keeps: []string{"\n{\"type\":\"mess\n"},
	},
	{
		name: "version 2", version: 2,
		lines: []string{
			`{"type":"session","version":2,"id":"old","timestamp":"2025-11-20T07:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","id":"a","parentId":null,"timestamp":"2025-11-20T07:00:01.000Z","message":{"role":"user","content":"first"}}`,
			`{"type":"message","id":"b","parentId":"a","timestamp":"2025-11-20T07:00:02.000Z","message":{"role":"hookMessage","customType":"h","content":"hooked","display":true}}`,
			`{"type":"message","id":"c","parentId":"a","timestamp":"2025-11-20T07:00:03.000Z","message":{"role":"user","content":"other"}}`,
			`{"type":"message","id":"d","parentId":"b","timestamp":"2025-11-20T07:00:03.000Z","message":{"role":"user","content":"after"}}`,
		},
		context: []string{"u:first", "c:hooked", "u:after"}, roots: 1,
		keeps: []string{`"message":{"role":"custom","customType":"h","content":"hooked","display":true}`},
	},
	{
		name: "the dialect", version: 2,
		lines: []string{
			`{"type":"session","version":2,"uuid":"h","parentUuid":null,"timestamp":"2025-11-20T07:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","uuid":"a","parentUuid":"h","timestamp":"2025-11-20T07:00:01.000Z","message":{"role":"user","content":"first"}}`,
			`{"type":"message","uuid":"b","parentUuid":"a","message":{"role":"user","content":"left"}}`,
			`{"type":"stack_summary","uuid":"c","parentUuid":"a","summary":"popped"}`,
			`{"type":"message","uuid":"d","parentUuid":"c","timestamp":"2025-11-20T07:00:03.000Z","message":{"role":"user","content":"on"}}`,
			`{"type":"compaction","uuid":"e","parentUuid":"d","summary":"sum","firstKeptEntryUuid":"c","tokensBefore":1}`,
			`{"type":"message","uuid":"f","parentUuid":"e","message":{"role":"user","content":"last"}}`,
		},
		context: []string{"s:sum", "b:popped", "u:on", "u:last"}, roots: 1,
		keeps: []string{`"fromId":"a"`, `"firstKeptEntryId":"c"`},
	},
}

func TestMigration(t *testing.T) {
	for _, tt := range oldFiles {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.lines...)
			before, _ := os.ReadFile(path)
			m := open(t, path)
			s := m.Snapshot()
			check := func(what string, s session.Snapshot, want []string) {
				t.Helper()
				if got := texts(t, s, s.Leaf()); !slices.Equal(got, want) || len(s.Children("")) != tt.roots {
					t.Errorf("%s: context %q with %d roots, want %q with %d", what, got, len(s.Children("")), want, tt.roots)
				}
			}
			check("opened", s, tt.context)
			if s.Header().Version != tt.version {
				t.Errorf("version %d, want %d", s.Header().Version, tt.version)
			}
			if again := look(t, path); !slices.Equal(again.PathIDs(again.Leaf()), s.PathIDs(s.Leaf())) {
				t.Error("two readings give different ids")
			}
			if now, _ := os.ReadFile(path); string(now) != string(before) {
				t.Error("opening changed the file")
			}

			add(t, m, user("new"))
			check("appended", m.Snapshot(), append(slices.Clone(tt.context), "u:new"))
			check("old snapshot", s, tt.context)
			migrated := look(t, path)
			check("read back", migrated, append(slices.Clone(tt.context), "u:new"))
			if v := migrated.Header().Version; v != session.Version {
				t.Errorf("migrated to version %d", v)
			}
			backups, _ := filepath.Glob(path + ".v*.bak")
			if len(backups) != 1 || !strings.HasSuffix(backups[0], map[int]string{1: ".v1.bak", 2: ".v2.bak"}[tt.version]) {
				t.Fatalf("the old file is kept as %v", backups)
			}
			if kept, _ := os.ReadFile(backups[0]); string(kept) != string(before) {
				t.Error("the kept file is not the old one")
			}
			now, _ := os.ReadFile(path)
			for _, keep := range tt.keeps {
				if !strings.Contains(string(now), keep) {
					t.Errorf("%q is not in the migrated file:\n%s", keep, now)
				}
			}
		})
	}
}

// TestMigrationIsOldOrNew: a power cut at any moment of the first append leaves
// the old file or the new one.
func TestMigrationIsOldOrNew(t *testing.T) {
	for _, tt := range oldFiles {
		disk := fstest.NewMem()
		path := "/s/old.jsonl"
		if err := errors.Join(disk.Mkdir("/s"), disk.WriteFile(path, []byte(strings.Join(tt.lines, "\n")+"\n")), disk.SyncDir("/s"), disk.SyncDir("/")); err != nil {
			t.Fatal(err)
		}
		rec := fstest.NewRecorder(disk)
		o := testOptions()
		o.FS = rec
		m, err := session.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		want := m.Snapshot().Len()
		if _, err := m.Append(user("new")); err != nil {
			t.Fatal(err)
		}
		rec.Mark = 1
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		for i, p := range rec.Points {
			for seed := range 4 {
				o.FS = p.FS.Crash(rand.New(rand.NewPCG(uint64(seed), 0)))
				m, err := session.Open(path, o)
				if err != nil {
					t.Fatalf("%s: cut %d (%s): %v", tt.name, i, p.Op, err)
				}
				if got := m.Snapshot().Len(); got < want+p.Mark || got > want+1 {
					t.Errorf("%s: cut %d (%s): %d entries, want %d", tt.name, i, p.Op, got, want+p.Mark)
				}
				m.Close()
			}
		}
	}
}

// TestMigrationOnAFullDisk: what cannot be written waits in memory.
func TestMigrationOnAFullDisk(t *testing.T) {
	disk := fstest.NewMem()
	path := "/s/old.jsonl"
	if err := errors.Join(disk.Mkdir("/s"), disk.WriteFile(path, []byte(strings.Join(oldFiles[0].lines, "\n")+"\n"))); err != nil {
		t.Fatal(err)
	}
	faults := &fstest.Faults{FS: disk}
	o := testOptions()
	o.FS = faults
	m, err := session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	faults.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.ENOSPC})
	for i := range 2 {
		_, err := m.Append(user("new"))
		if unsaved, ok := errors.AsType[*session.UnsavedError](err); !ok || unsaved.Count != i+1 {
			t.Fatalf("a full disk gives %v", err)
		}
	}
	if b, _ := disk.ReadFile(path); string(b) != strings.Join(oldFiles[0].lines, "\n")+"\n" {
		t.Error("the old file was changed")
	}
	if err := m.Close(); err == nil {
		t.Error("closing with unsaved entries is no error")
	}
	faults.Set()
	if err := m.Flush(); err != nil || m.Unsaved() != 0 {
		t.Errorf("the disk is well: %v, %d unsaved", err, m.Unsaved())
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	m, err = session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Snapshot().Len(); got != 7 {
		t.Errorf("%d entries, want 7", got)
	}
}

// TestVerifyOldFiles: problems of older versions have their lines too.
func TestVerifyOldFiles(t *testing.T) {
	path := write(t, oldFiles[0].lines[0], oldFiles[0].lines[1], `{"type":"message","timestamp":"2025-11-20T07:00:02.000Z","message":null}`, "{", oldFiles[0].lines[3])
	problems, err := session.Verify(path, session.Options{})
	if err != nil || len(problems) != 2 || problems[0].Line != 3 || problems[1].Line != 4 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestTitles reads oh-my-pi's names.
func TestTitles(t *testing.T) {
	slot := `{"type":"title","v":1,"title":"In the slot","source":"auto","updatedAt":"2026-11-20T07:00:00.000Z","pad":"   "}`
	titled := strings.Replace(header, `"cwd"`, `"title":"In the header","cwd"`, 1)
	info := `{"type":"session_info","id":"i","parentId":null,"timestamp":"2026-11-20T07:00:00.000Z","name":" Ours "}`
	change := `{"type":"title_change","id":"c","parentId":null,"timestamp":"2026-11-20T07:00:00.000Z","title":"Changed"}`
	tests := []struct {
		lines []string
		want  string
	}{
		{[]string{header}, ""},
		{[]string{slot, header}, "In the slot"},
		{[]string{titled}, "In the header"},
		{[]string{slot, header, info}, "Ours"},
		{[]string{titled, change}, "Changed"},
		{[]string{header, info, strings.Replace(info, `,"name":" Ours "`, "", 1)}, ""},
	}
	for _, tt := range tests {
		s := look(t, write(t, tt.lines...))
		if s.Name() != tt.want {
			t.Errorf("%v: name %q, want %q", tt.lines, s.Name(), tt.want)
		}
	}
}
