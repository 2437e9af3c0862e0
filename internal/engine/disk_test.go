package engine

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// faultyWorld has a disk that fails as told.
func faultyWorld(t *testing.T, retry time.Duration, turns ...llmtest.Turn) (*world, *fstest.Faults) {
	t.Helper()
	disk := &fstest.Faults{FS: jsonl.OS}
	w := &world{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	w.start(Config{Session: session.Options{FS: disk}, RetryAfter: retry})
	return w, disk
}

func TestFullDiskPausesTheTurnAndLosesNothing(t *testing.T) {
	w, disk := faultyWorld(t, time.Hour, llmtest.Text("a1"), llmtest.Call("c1", "look", `{}`), llmtest.Text("a2"))
	w.say("u1")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.ENOSPC, Short: 30})
	w.engine.Send(Submit{Text: "u2"})
	if n := w.notice(); n.Level != Failure {
		t.Fatalf("notice %+v", n)
	}
	if n := len(w.model.Requests()); n != 1 {
		t.Fatalf("%d requests: one was sent for a prompt that is not on the disk", n)
	}
	disk.Set() // space was freed; the next append saves everything
	w.engine.Send(SetName{Name: "saved"})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got, want := w.roles(), "user u1 | assistant a1 | user u2 | assistant look() | toolResult look done | assistant a2"; got != want {
		t.Errorf("context %s", got)
	}
	w.sameOnDisk()
}

func TestSaveElsewhereWhenTheDiskStaysFull(t *testing.T) {
	w, disk := faultyWorld(t, time.Hour, llmtest.Text("a1"), llmtest.Text("a2"))
	w.say("u1")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, For: 1, Err: syscall.ENOSPC})
	w.engine.Send(Submit{Text: "u2"})
	w.notice()
	elsewhere := filepath.Join(w.dir, "elsewhere", "s.jsonl")
	w.engine.Send(Save{Path: elsewhere})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if w.snap.Path() != elsewhere {
		t.Errorf("goes on in %s", w.snap.Path())
	}
	w.sameOnDisk()
}

// Whatever call of the disk fails once, in whichever order: nothing that was
// acknowledged is lost, and what is told is what is in the file.
func TestAnyOneFaultOfTheDisk(t *testing.T) {
	for _, op := range []fstest.Op{fstest.Write, fstest.Sync, fstest.Truncate, fstest.Create, fstest.SyncDir, fstest.Mkdir} {
		for n := 1; ; n++ {
			w, disk := faultyWorld(t, time.Millisecond, llmtest.Call("c1", "look", `{}`), llmtest.Text("a1"), llmtest.Text("a2"))
			disk.Set(fstest.Fault{Op: op, N: n, For: 1, Err: syscall.EIO, Short: 50})
			if f := w.say("u1"); f.Err != nil {
				t.Fatalf("%s %d: %v", op, n, f.Err)
			}
			hit := disk.Hits() > 0
			w.sameOnDisk()
			if !hit {
				break
			}
			if n > 50 {
				t.Fatalf("%s: no end", op)
			}
		}
	}
}
