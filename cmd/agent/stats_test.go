package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// statsOf runs `agent stats` and reads its JSON.
func statsOf(t *testing.T, args ...string) stats {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"stats", "--json"}, args...), strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var s stats
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return s
}

// spender makes sessions whose clock the test sets.
type spender struct {
	t   *testing.T
	dir string
	now time.Time
}

func (p *spender) session() *session.Manager {
	p.t.Helper()
	m, err := session.New(p.dir, "/w", session.Options{Now: func() time.Time { p.now = p.now.Add(time.Second); return p.now }})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { m.Close() })
	return m
}

// ask appends a prompt and an answer of a model that cost so much; less than
// nothing says that nobody knows.
func (p *spender) ask(m *session.Manager, model string, usd float64) {
	p.t.Helper()
	u := llm.Usage{Input: 100, CacheRead: 300, Output: 100, Total: 500, Cost: llm.Cost{Total: max(0, usd)}, CostUnknown: usd < 0}
	for _, msg := range []llm.Message{
		llm.UserText("what about "+model+"?", p.now),
		{Role: llm.Assistant, Provider: "p", Model: model, Time: p.now, Usage: u, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "a"}}},
	} {
		if _, err := m.Append(session.Message{Message: msg}); err != nil { // a second each
			p.t.Fatal(err)
		}
	}
}

func newSpender(t *testing.T) *spender {
	data := t.TempDir()
	t.Setenv("BANYAN_DATA_DIR", filepath.Join(data, "banyan"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(data, "cache"))
	return &spender{t, session.Dir(filepath.Join(data, "banyan", "sessions"), "/w"), time.Now().AddDate(0, 0, -3)}
}

func TestStats(t *testing.T) {
	p := newSpender(t)
	m := p.session()
	p.ask(m, "one", 0.5)
	p.ask(m, "two", 0.25)
	first := m.Snapshot().Leaf()
	if err := m.Branch(m.Snapshot().PathIDs(first)[1]); err != nil {
		t.Fatal(err)
	}
	p.ask(m, "two", 0.25) // on another branch
	fork, err := m.CreateBranchedSession(p.dir, first)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	p.now = time.Now()
	p.ask(fork, "three", -1) // what the fork took over counts once
	if _, err := fork.Append(session.Compaction{Summary: "s", FirstKept: first, Usage: &llm.Usage{Output: 10, Total: 10, Cost: llm.Cost{Total: 0.125}}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(p.dir, "junk.jsonl"), []byte("{\n"), 0o600), m.Close(), fork.Close()); err != nil {
		t.Fatal(err)
	}

	s := statsOf(t)
	if s.Total.Tokens != 2010 || s.Total.USD != 1.125 || s.Total.Answers != 4 || s.Total.Summaries != 1 || !s.Total.CostUnknown || s.Total.CacheHits != 0.75 || s.Total.Ms < 4000 {
		t.Errorf("total %+v", s.Total)
	}
	if len(s.Days) != 2 || s.Days[0].Answers != 3 || s.Days[1].Day != time.Now().Format(time.DateOnly) || s.Days[1].USD != 0.125 {
		t.Errorf("days %+v", s.Days)
	}
	if len(s.Models) != 4 || s.Models[0].Model != "two" || s.Models[0].Tokens != 1000 || s.Models[0].CostUnknown || s.Models[3].Model != "" {
		t.Errorf("models %+v", s.Models)
	}
	if len(s.Sessions) != 2 || s.Sessions[0].Tokens != 1500 || s.Sessions[1].Tokens != 510 || s.Sessions[0].Title != "what about one?" {
		t.Errorf("sessions %+v", s.Sessions)
	}
	if len(s.Unread) != 1 || !strings.Contains(s.Unread[0].Path, "junk") {
		t.Errorf("unread %+v", s.Unread)
	}
	if s := statsOf(t, "--days", "2"); s.Total.Answers != 1 || len(s.Days) != 1 || len(s.Sessions) != 1 || s.Total.USD != 0.125 {
		t.Errorf("of two days %+v", s)
	}

	var out bytes.Buffer
	run(t.Context(), []string{"stats"}, strings.NewReader(""), &out, &out)
	for _, want := range []string{"$1.1250+", "p/two", "summaries", "75% cached", "what about one?", "████████████████████", "Not read: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestStatsOfNothing(t *testing.T) {
	newSpender(t)
	if s := statsOf(t); s.Total != (statsSum{}) || s.Days == nil || s.Sessions == nil {
		t.Errorf("%+v", s)
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"stats"}, strings.NewReader(""), &out, &out); code != exitDone || !strings.Contains(out.String(), "Nothing has been asked") {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if code := run(t.Context(), []string{"stats", "--days", "-1"}, strings.NewReader(""), &out, &out); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// What tasks took counts with their session, and is told apart.
func TestStatsCountTasks(t *testing.T) {
	data := t.TempDir()
	t.Setenv("BANYAN_DATA_DIR", data)
	p := &spender{t: t, dir: filepath.Join(data, "sessions", "w"), now: time.Now().Add(-time.Hour)}
	m := p.session()
	p.ask(m, "large", 1)
	parent := m
	for depth := 1; depth <= 2; depth++ { // a task, and one of its own
		id := strings.Repeat("0", 8) + "-0000-4000-8000-00000000000" + string(rune('0'+depth))
		link := session.Task{ID: id, Session: session.ChildID(parent.Snapshot().Header().ID, id), Prompt: "x", Cwd: "/w", Depth: depth}
		if _, err := parent.Append(link.Entry()); err != nil {
			t.Fatal(err)
		}
		child, err := parent.Snapshot().OpenTask(link, nil, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer child.Close()
		p.ask(child, "small", 0.25)
		parent = child
	}
	s := statsOf(t)
	if len(s.Sessions) != 1 || s.Total.USD != 1.5 || s.Tasks.USD != 0.5 || s.Sessions[0].USD != 1.5 || s.Sessions[0].Tasks.Answers != 2 {
		t.Errorf("%+v", s)
	}
	if len(s.Models) != 2 || s.Models[0].Model != "small" || s.Models[0].Answers != 2 {
		t.Errorf("models %+v", s.Models)
	}
}
