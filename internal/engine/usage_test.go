package engine

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// Whatever the session, the parts of a report add up to its sums, and those are
// what the session itself says.
func TestUsageAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(1000, 0)
		m, err := session.New("", "/w", session.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
		if err != nil {
			rt.Fatal(err)
		}
		for i := range rapid.IntRange(1, 40).Draw(rt, "entries") {
			u := llm.Usage{Input: i + 1, Output: 2 * i, CacheRead: 3 * i, CostUnknown: i%7 == 0, Cost: llm.Cost{Total: float64(i)}}
			if rapid.Bool().Draw(rt, "total is given") {
				u.Total = u.Context()
			}
			var d session.Data
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				d = session.Message{Message: llm.UserText(fmt.Sprintf("prompt %d\nmore", i), now)}
			case 1, 2:
				d = session.Message{Message: llm.Message{
					Role: llm.Assistant, Provider: "p", Model: rapid.SampledFrom([]string{"m1", "m2"}).Draw(rt, "model"),
					Usage: u, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "a"}},
				}}
			case 3:
				d = session.BranchSummary{Summary: "s", Usage: &u}
			case 4:
				d = session.Info{Name: "x"}
			case 5:
				if n := m.Snapshot().Len(); n > 0 {
					_ = m.Branch(m.Snapshot().ID(tree.Node(rapid.IntRange(0, n-1).Draw(rt, "to"))))
				}
				continue
			}
			if _, err := m.Append(d); err != nil {
				rt.Fatal(err)
			}
		}
		snap := m.Snapshot()
		var since session.ID
		if n := snap.Len(); n > 0 {
			since = snap.ID(tree.Node(rapid.IntRange(0, n-1).Draw(rt, "since")))
		}
		r, err := Usage(snap, since)
		if err != nil {
			rt.Fatal(err)
		}
		check := func(what string, got, want llm.Usage) {
			got.Total, want.Total = 0, 0 // a sum of what is given and what is not
			if got != want {
				rt.Fatalf("%s\n got %+v\nwant %+v", what, got, want)
			}
		}
		check("the file", r.File.Usage, snap.Usage())
		check("the path", r.Path.Usage, snap.UsageSince(""))
		check("since an entry", r.Since.Usage, snap.UsageSince(since))
		var models UsageSum
		for _, m := range r.Models {
			models.Usage = models.Usage.Add(m.Usage)
			models.Answers += m.Answers
			models.Summaries += m.Summaries
		}
		check("the models", models.Usage, r.File.Usage)
		if models.Answers != r.File.Answers || models.Summaries != r.File.Summaries {
			rt.Fatalf("models %+v, file %+v", models, r.File)
		}
		for _, b := range r.Branches {
			if b.Leaf == snap.Leaf() && (b.Tokens != r.Path.Total || b.Answers != r.Path.Answers) {
				rt.Fatalf("the active branch %+v, its path %+v", b, r.Path)
			}
		}
	})
}

func TestUsageReport(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	w := script(t, Config{Now: clock, Session: session.Options{Now: clock}, Compaction: Compaction{KeepRecent: 1}},
		llmtest.Call("c1", "look", `{}`), llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("the summary"))
	w.say("first\nprompt")
	w.say("second")
	w.engine.Send(Compact{})
	w.finished()
	w.engine.Send(ReportUsage{Since: w.prompts()[1]})
	r := w.until("the report", func(ev Event) bool { _, ok := ev.(UsageReport); return ok }).(UsageReport)
	if len(r.Turns) != 2 || r.Turns[0].Text != "first" || r.Turns[0].Answers != 2 || r.Turns[0].Total != 220 || r.Turns[1].Total != 220 {
		t.Errorf("turns %+v", r.Turns)
	}
	if r.Turns[0].Took < 3*time.Second || r.Path.Took < r.Turns[0].Took {
		t.Errorf("took %s, in all %s", r.Turns[0].Took, r.Path.Took)
	}
	if r.Path.Total != 440 || r.Path.Answers != 3 || r.Path.Summaries != 1 || r.Since.Total != 220 || r.File.Usage != r.Path.Usage {
		t.Errorf("sums %+v, since %+v", r.Path, r.Since)
	}
	if len(r.Models) != 2 || r.Models[0].Model != testModel || r.Models[1].Model != (session.ModelRef{}) {
		t.Errorf("models %+v", r.Models)
	}
	// The footer's sum has the summary, too.
	var last State
	for _, ev := range w.seen {
		if s, ok := ev.(State); ok {
			last = s
		}
	}
	if last.Usage.Total != 440 {
		t.Errorf("the footer says %d tokens", last.Usage.Total)
	}
}

func TestCacheHits(t *testing.T) {
	for _, c := range []struct {
		u    llm.Usage
		want float64
	}{
		{llm.Usage{}, 0},
		{llm.Usage{Output: 5}, 0},
		{llm.Usage{Input: 1, CacheRead: 3}, 0.75},
		{llm.Usage{Input: 1, CacheRead: 2, CacheWrite: 1}, 0.5},
	} {
		if got := CacheHits(c.u); got != c.want {
			t.Errorf("%+v: %v, want %v", c.u, got, c.want)
		}
	}
}
