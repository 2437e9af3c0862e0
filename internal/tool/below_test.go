package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Tasks that work side by side, each in an environment of its own below the same
// one, change files one after the other. Who has not seen what another did has to
// look again; no edit is lost.
func TestEditsOfTasksAllLand(t *testing.T) {
	b := newBench(t)
	const tasks = 8
	var lines []string
	for i := range tasks {
		lines = append(lines, fmt.Sprintf("line %d.", i))
	}
	b.put("sub/f", strings.Join(lines, "\n"))
	var work sync.WaitGroup
	for i := range tasks {
		env, err := b.env.Below(filepath.Join(b.env.Dir, "sub"))
		if err != nil {
			t.Fatal(err)
		}
		one := bench{t, env, All(env)}
		work.Go(func() {
			defer env.Close()
			for {
				one.call("read", args{"path": "f"})
				r := one.call("edit", args{"path": "f", "old_string": lines[i], "new_string": lines[i] + "!"})
				if r.Err == nil {
					return
				}
				if !strings.Contains(r.Err.Error(), "changed since you read it") {
					t.Error(r.Err)
					return
				}
			}
		})
	}
	work.Wait()
	if got := strings.Count(b.get("sub/f"), "!"); got != tasks {
		t.Errorf("%d of %d edits landed:\n%s", got, tasks, b.get("sub/f"))
	}
}

// What a task's tools may touch is what the others may, they start in its folder,
// and their files are gone when it has ended.
func TestAnEnvironmentBelow(t *testing.T) {
	b := newBench(t)
	b.put("above.txt", "above")
	b.put("sub/here.txt", "here")
	env, err := b.env.Below(filepath.Join(b.env.Dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	one := bench{t, env, All(env)}
	if r := one.call("read", args{"path": "here.txt"}); r.Err != nil {
		t.Error(r.Err)
	}
	if r := one.call("read", args{"path": "../above.txt"}); r.Err != nil {
		t.Error(r.Err)
	}
	if r := one.call("read", args{"path": "../../x"}); r.Err == nil {
		t.Error("it left the workspace")
	}
	if !strings.HasPrefix(env.Temp(), b.env.Temp()+string(filepath.Separator)) {
		t.Errorf("%s is not where results may be read, in %s", env.Temp(), b.env.Temp())
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(env.Temp()); err == nil {
		t.Error("its files are left")
	}
	if r := b.call("read", args{"path": "above.txt"}); r.Err != nil {
		t.Error(r.Err)
	}
}
