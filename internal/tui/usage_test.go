package tui_test

import (
	"fmt"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// spent is a sum of so many tokens.
func spent(tokens int, usd float64, took time.Duration) engine.UsageSum {
	return engine.UsageSum{
		Usage:   llm.Usage{Input: tokens / 5, CacheRead: tokens * 3 / 5, Output: tokens / 5, Total: tokens, Cost: llm.Cost{Total: usd}},
		Answers: 1 + tokens/10_000, Took: took,
	}
}

func usageReport() engine.UsageReport {
	r := engine.UsageReport{
		Path: spent(420_000, 1.2345, 754*time.Second), File: spent(1_250_000, 4.5, 2*time.Hour),
		Branches: []engine.UsageBranch{
			{Leaf: "5c6d7e8f", Active: true, Tokens: 420_000, USD: 1.2345, Answers: 42},
			{Leaf: "1a2b3c4d", Tokens: 830_000, USD: 3.2, Answers: 1},
		},
		Models: []engine.UsageModel{
			{Model: session.ModelRef{Provider: "anthropic", Model: "claude-opus-4"}, UsageSum: spent(1_000_000, 4.4, time.Hour)},
			{Model: session.ModelRef{Provider: "ollama", Model: "qwen3-coder"}, UsageSum: spent(240_000, 0, 12*time.Second)},
			{UsageSum: spent(10_000, 0.1, 0)},
		},
	}
	for i := range 30 {
		r.Turns = append(r.Turns, engine.UsageTurn{
			Entry: session.ID(fmt.Sprint(i)), Text: fmt.Sprintf("prompt %d, 世界 \x1b[31mred", i), UsageSum: spent(1000*(i*7%30), float64(i)/100, time.Duration(i)*900*time.Millisecond),
		})
	}
	r.Turns[7].CostUnknown = true
	return r
}

func TestUsage(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("/usage").Press("enter").WasSent(engine.ReportUsage{})
	d.Append(user("u1"), answer("a1"))
	id := d.Session.Snapshot().Leaf()
	d.Type("/usage " + string(id)).Press("enter").WasSent(engine.ReportUsage{Since: id})
	d.Type("/usage nothing-of-the-kind").Press("enter").Sees("no entry has the id or label")
	r := usageReport()
	r.Since = spent(5000, 0.5, time.Minute)
	d.Emit(r).Sees("What it took", "this path", "75%", "$1.2345", "12m34s", "all branches", "2h00m", "since then", "1m00s", "summaries", "qwen3-coder")
	d.Press("end").Sees("1a2b3c4d", "1 answer")
	d.Press("esc").Emit(engine.UsageReport{}).Sees("Nothing has been asked yet")
}

// The bar of the footer says whether its number is counted or estimated.
func TestFooterSaysWhatIsEstimated(t *testing.T) {
	d := tuitest.New(t).Open()
	s := engine.State{ModelName: "m", ContextTokens: 50_000, ContextWindow: 200_000}
	d.Emit(s).Sees("25%").Misses("~25%")
	s.ContextEstimated = true
	d.Emit(s).Sees("~25%")
}

func TestGoldenUsageAndContext(t *testing.T) {
	scenes := map[string]engine.Event{
		"usage": usageReport(),
		"context": engine.ContextReport{
			Window: 200_000, Reserve: 16_384, Total: 84_000, Counted: 83_210,
			Parts: []engine.ContextPart{
				{Kind: engine.ContextSystem, Count: 1, Tokens: 4_000},
				{Kind: engine.ContextTools, Count: 14, Tokens: 6_000},
				{Kind: engine.ContextSummaries, Count: 1, Tokens: 3_000},
				{Kind: engine.ContextPrompts, Count: 9, Tokens: 2_000},
				{Kind: engine.ContextAnswers, Count: 40, Tokens: 19_000},
				{Kind: engine.ContextResults, Count: 38, Tokens: 50_000},
			},
			Entries: []engine.ContextEntry{
				{ID: "a1b2c3d4", Kind: engine.ContextSummaries, Text: "## Goal", Tokens: 3_000},
				{ID: "b2c3d4e5", Kind: engine.ContextResults, Text: "package main\tfunc 世界", Tokens: 31_000},
			},
		},
	}
	for name, report := range scenes {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 60}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := tuitest.New(t, func(o *tui.Options) { o.Branch = func(contextT) string { return "main" } })
				d.Resize(size[0], size[1])
				chat(d)
				d.Emit(report)
				fits(t, d, size[0], size[1])
				golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), caret(d))
			})
		}
	}
}

// What fills the window can be left out, with what follows: that is a branch.
func TestDrop(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("u1"), answer("a1"), user("u2"), answer("a2"))
	path := d.Session.Snapshot().PathIDs(d.Session.Snapshot().Leaf())
	d.Type("/drop nothing-of-the-kind").Press("enter").Sees("no entry has the id or label")
	d.Type("/drop " + string(path[2])).Press("enter")
	sent := d.Press("enter").Sent() // "no summary" is the first choice, where there is one
	want := engine.Navigate{Target: path[1], At: true}
	if n := len(sent); n == 0 || sent[n-1] != engine.Command(want) {
		t.Errorf("sent %+v, want %+v\n%s", sent, want, d.Screen())
	}
}
