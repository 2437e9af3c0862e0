package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// agentSession runs `agent session` as the program would.
func agentSession(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	root := rootCommand()
	if !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "session" }) {
		root.AddCommand(sessionCommand())
	}
	var out, errs bytes.Buffer
	root.SetArgs(append([]string{"session"}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	if err := root.Execute(); err != nil {
		return out.String(), err.Error(), exitCode(err)
	}
	return out.String(), errs.String(), exitDone
}

// forest is a session with a label, a compaction and two branches, and a data
// folder of its own.
//
//	u1 ─ a1 ┬ label ─ u2 ─ compaction(u2) ─ u3
//	        └ summary ─ u4
func forest(t *testing.T) (path string, ids map[string]session.ID) {
	t.Helper()
	data := t.TempDir()
	t.Setenv("BANYAN_DATA_DIR", filepath.Join(data, "banyan"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(data, "cache"))
	m, err := session.New(session.Dir(filepath.Join(data, "banyan", "sessions"), "/w"), "/w", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids = map[string]session.ID{}
	put := func(name string, d session.Data) {
		e, err := m.Append(d)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = e.ID
	}
	say := func(text string) session.Data { return session.Message{Message: llm.UserText(text, time.Time{})} }
	put("model", session.ModelChange{Provider: "acme", Model: "m0"})
	put("u1", say("why <is> it & so?"))
	put("a1", session.Message{Message: llm.Message{
		Role: llm.Assistant, Provider: "acme", Model: "m1", StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "because"}},
	}})
	put("label", session.Label{Target: ids["a1"], Text: "fork here"})
	put("u2", say("go on"))
	put("compaction", session.Compaction{Summary: "it is so", FirstKept: ids["label"], TokensBefore: 9})
	put("u3", say("and then"))
	if _, err := m.BranchWithSummary(ids["a1"], session.BranchSummary{Summary: "went on"}); err != nil {
		t.Fatal(err)
	}
	ids["summary"] = m.Snapshot().Leaf()
	put("u4", say("something else"))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return m.Snapshot().Path(), ids
}

func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

func mustRun[T any](t *testing.T, args ...string) T {
	t.Helper()
	out, errs, code := agentSession(t, "", append(args, "--json")...)
	if code != exitDone {
		t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	return parse[T](t, out)
}

func TestSessionShapes(t *testing.T) {
	path, ids := forest(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	show := mustRun[map[string]any](t, "show", path)
	for _, key := range []string{"id", "version", "cwd", "name", "leafId", "entries", "messages", "bytes", "parentSession", "problems"} {
		if _, ok := show[key]; !ok {
			t.Errorf("show has no %s: %v", key, show)
		}
	}
	if show["leafId"] != string(ids["u4"]) || show["entries"] != 9.0 || show["messages"] != 5.0 || show["bytes"] != float64(len(before)) {
		t.Errorf("show: %v", show)
	}

	id := show["id"].(string)
	want := []session.ID{ids["model"], ids["u1"], ids["a1"], ids["label"], ids["u2"], ids["compaction"], ids["u3"]}
	if got := mustRun[[]session.ID](t, "path", id, "--leaf", string(ids["u3"])); !slices.Equal(got, want) {
		t.Errorf("path %v, want %v", got, want)
	}
	if got := mustRun[[]session.ID](t, "path", id[:13], "--leaf", "root"); got == nil || len(got) != 0 {
		t.Errorf("path of the root: %v", got)
	}

	rows := mustRun[[]session.Row](t, "tree", path)
	var got []string
	for _, r := range rows {
		got = append(got, strings.Repeat(".", r.Depth)+r.Type+":"+string(r.Role)+":"+r.Label+":"+r.Text)
	}
	wantRows := []string{
		"model_change:::acme/m0", ".message:user::why <is> it & so?", "..message:assistant:fork here:because",
		"...label:::fork here", "....message:user::go on", ".....compaction:::it is so", "......message:user::and then",
		"...branch_summary:::went on", "....message:user::something else",
	}
	if !slices.Equal(got, wantRows) {
		t.Errorf("tree\n got %q\nwant %q", got, wantRows)
	}
	checkContextShape(t, path, ids)

	verify := mustRun[map[string]any](t, "verify", path)
	if p, ok := verify["problems"].([]any); !ok || len(p) != 0 {
		t.Errorf("verify: %v", verify)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("looking changed the file")
	}
}

func checkContextShape(t *testing.T, path string, ids map[string]session.ID) {
	t.Helper()
	c := mustRun[map[string]any](t, "context", path, "--leaf", string(ids["u3"]))
	messages := c["messages"].([]any)
	for _, m := range messages {
		if _, ok := m.(map[string]any)["timestamp"].(float64); !ok {
			t.Errorf("no timestamp in %v", m)
		}
		delete(m.(map[string]any), "timestamp")
	}
	block := func(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }
	want := map[string]any{
		"leafId": string(ids["u3"]), "model": map[string]any{"provider": "acme", "modelId": "m1"}, "thinkingLevel": "off",
		"messages": []any{
			map[string]any{"role": "compactionSummary", "summary": "it is so", "tokensBefore": 9.0},
			map[string]any{"role": "user", "content": block("go on")},
			map[string]any{"role": "user", "content": block("and then")},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("context\n got %v\nwant %v", c, want)
	}
	c = mustRun[map[string]any](t, "context", path, "--leaf", "root")
	if c["leafId"] != nil || c["model"] != nil || c["thinkingLevel"] != "off" || len(c["messages"].([]any)) != 0 {
		t.Errorf("context at the root: %v", c)
	}
}

func TestSessionFork(t *testing.T) {
	path, ids := forest(t)
	made := mustRun[struct {
		Path, ID string
		Entries  int
	}](t, "fork", path, "--at", string(ids["u3"]), "--session-dir", filepath.Join(t.TempDir(), "new"))
	if made.Entries != 7 {
		t.Errorf("the fork has %d entries, want 6 kept and a label: %+v", made.Entries, made)
	}
	show := mustRun[map[string]any](t, "show", made.Path)
	if show["parentSession"] != path || show["id"] != made.ID || len(show["problems"].([]any)) != 0 {
		t.Errorf("the fork: %v", show)
	}
	was := mustRun[map[string]any](t, "context", path, "--leaf", string(ids["u3"]))
	is := mustRun[map[string]any](t, "context", made.Path)
	if !reflect.DeepEqual(was["messages"], is["messages"]) {
		t.Errorf("the fork's context\n got %v\nwant %v", is, was)
	}
	if _, errs, code := agentSession(t, "", "fork", path, "--at", "nothing"); code != exitError || !strings.Contains(errs, "nothing") {
		t.Errorf("fork at no entry: exit %d, %s", code, errs)
	}
}

func TestSessionChanges(t *testing.T) {
	path, ids := forest(t)
	mustRun[map[string]any](t, "label", path, string(ids["u1"]), "start")
	mustRun[map[string]any](t, "name", path, "a name")
	if rows := mustRun[[]session.Row](t, "tree", path); rows[1].Label != "start" {
		t.Errorf("the label is not there: %+v", rows[1])
	}
	if show := mustRun[map[string]any](t, "show", path); show["name"] != "a name" {
		t.Errorf("the name is not there: %v", show)
	}
	// A label names an entry as its id does.
	if got := mustRun[[]session.ID](t, "path", path, "--leaf", "start"); len(got) != 2 {
		t.Errorf("the path to the label: %v", got)
	}
	if _, errs, code := agentSession(t, "", "label", path, "star", "x"); code != exitDone {
		t.Errorf("the beginning of a label: %s", errs)
	}
	for _, args := range [][]string{{"label", path, "zzz", "x"}, {"label", path, "root", "x"}} {
		if _, _, code := agentSession(t, "", args...); code != exitError {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

func TestSessionExport(t *testing.T) {
	path, ids := forest(t)
	all, _ := os.ReadFile(path)
	if out, errs, code := agentSession(t, "", "export", path, "--format", "jsonl"); code != exitDone || out != string(all) {
		t.Errorf("the export is not the file: exit %d, %s", code, errs)
	}
	to := filepath.Join(t.TempDir(), "out.jsonl")
	if _, errs, code := agentSession(t, "", "export", path, "--entry", string(ids["u3"]), "-o", to); code != exitDone {
		t.Fatal(errs)
	}
	was := mustRun[map[string]any](t, "context", path, "--leaf", string(ids["u3"]))
	is := mustRun[map[string]any](t, "context", to)
	if !reflect.DeepEqual(was["messages"], is["messages"]) {
		t.Errorf("the exported path\n got %v\nwant %v", is, was)
	}
	// As pages, by flag, by format and by the file's name.
	page := filepath.Join(t.TempDir(), "out.html")
	if _, errs, code := agentSession(t, "", "export", path, "-o", page); code != exitDone {
		t.Fatal(errs)
	}
	written, _ := os.ReadFile(page)
	for _, flags := range [][]string{{"--html"}, {"--format", "html"}} {
		if out, errs, code := agentSession(t, "", append([]string{"export", path}, flags...)...); code != exitDone || out != string(written) || !strings.HasPrefix(out, "<!doctype html>") {
			t.Errorf("%v: exit %d, %s", flags, code, errs)
		}
	}
	below, _, _ := agentSession(t, "", "export", path, "--subtree", string(ids["summary"]), "--format", "md")
	if !strings.Contains(below, "something else") || strings.Contains(below, "because") {
		t.Errorf("below the summary: %s", below)
	}
	for _, args := range [][]string{{"--html", "--format", "md"}, {"--entry", "root", "--subtree", "root"}} {
		if _, _, code := agentSession(t, "", append([]string{"export", path}, args...)...); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	if _, _, code := agentSession(t, "", "export", path, "-o", to); code != exitError {
		t.Errorf("a file was written over: exit %d", code)
	}
}

func TestSessionList(t *testing.T) {
	path, _ := forest(t)
	files := mustRun[[]session.File](t, "list", "--all")
	if len(files) != 1 || files[0].Path != path || files[0].Prompt != "why <is> it & so?" || files[0].Messages != 5 || files[0].Branches != 2 {
		t.Errorf("list: %+v", files)
	}
	if files := mustRun[[]session.File](t, "list"); len(files) != 0 {
		t.Errorf("of this folder: %+v", files)
	}
}

func TestSessionDelete(t *testing.T) {
	path, _ := forest(t)
	if _, _, code := agentSession(t, "n\n", "delete", path); code != exitError {
		t.Errorf("no was not heard: exit %d", code)
	}
	trash := filepath.Join(filepath.Dir(os.Getenv("BANYAN_DATA_DIR")), "Trash")
	if err := os.Mkdir(trash, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := agentSession(t, "", "delete", path); code != exitDone {
		t.Fatal(errs)
	}
	if _, err := os.Stat(filepath.Join(trash, "files", filepath.Base(path))); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(trash, "info", filepath.Base(path)+".trashinfo")); err != nil {
		t.Error(err)
	}
	path, _ = forest(t)
	if _, errs, code := agentSession(t, "y\n", "delete", path); code != exitDone {
		t.Fatal(errs)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}

func TestSessionErrors(t *testing.T) {
	path, _ := forest(t)
	dir := t.TempDir()
	put := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	tests := []struct {
		args []string
		code int
		want []string // in the message
	}{
		{[]string{"show", filepath.Join(dir, "missing.jsonl")}, exitError, []string{"missing.jsonl", "list the sessions"}},
		{[]string{"show", put("empty.jsonl", "")}, exitError, []string{"empty.jsonl", "empty"}},
		{[]string{"show", put("readme.jsonl", "# hello\n")}, exitError, []string{"readme.jsonl", "not a session"}},
		{[]string{"show", dir + "/"}, exitError, []string{dir, "not a regular file"}},
		{[]string{"show", "zzz"}, exitError, []string{"zzz", "no session"}},
		{[]string{"label", put("newer.jsonl", `{"type":"session","version":99,"id":"x"}`+"\n"), "root"}, exitError, []string{"root"}},
		{[]string{"name", filepath.Join(dir, "newer.jsonl"), "x"}, exitError, []string{"newer.jsonl", "newer version"}},
		{[]string{"show"}, exitUsage, nil},
		{[]string{"export", path, "--format", "docx"}, exitUsage, []string{"docx", "jsonl"}},
		{[]string{"verify", put("torn.jsonl", `{"type":"session","version":3,"id":"x"}`+"\n"+`{"type":"mess`)}, exitError, []string{"1 problem"}},
	}
	for _, tt := range tests {
		_, errs, code := agentSession(t, "", tt.args...)
		if code != tt.code {
			t.Errorf("%v: exit %d, want %d (%s)", tt.args, code, tt.code, errs)
		}
		for _, want := range tt.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%v: %q is not in %q", tt.args, want, errs)
			}
		}
	}
	out, _, _ := agentSession(t, "", "verify", filepath.Join(dir, "torn.jsonl"), "--json")
	report := parse[struct{ Problems []session.Problem }](t, out)
	if len(report.Problems) != 1 || report.Problems[0].Kind != "torn-tail" || report.Problems[0].Line != 2 {
		t.Errorf("verify: %+v", report)
	}
}

func TestSessionRepair(t *testing.T) {
	path, ids := forest(t)
	b, _ := os.ReadFile(path)
	lines := strings.Split(string(b), "\n")
	lines[3] = lines[3][:len(lines[3])/2] // u1's answer
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	made := mustRun[session.Repaired](t, "repair", path)
	if made.Entries != 8 || made.Dropped != 1 {
		t.Errorf("repaired: %+v", made)
	}
	if got := mustRun[[]session.ID](t, "path", made.Path, "--leaf", string(ids["u4"])); !slices.Equal(got, []session.ID{ids["model"], ids["u1"], ids["summary"], ids["u4"]}) {
		t.Errorf("path in the copy: %v", got)
	}
	report := mustRunAny(t, "verify", made.Path)
	for _, p := range report.Problems {
		if p.Kind != "label-target" {
			t.Errorf("the copy has the problem %+v", p)
		}
	}
}

func mustRunAny(t *testing.T, args ...string) (report struct{ Problems []session.Problem }) {
	t.Helper()
	out, _, _ := agentSession(t, "", append(args, "--json")...)
	return parse[struct{ Problems []session.Problem }](t, out)
}
