package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// errNothing says that a path cannot be compacted further.
var errNothing = errors.New("there is nothing to compact yet: everything is recent, or nothing came since the last time")

// compact does what /compact says.
func (e *Engine) compact(c Compact) {
	if !e.idleOr("compact") {
		return
	}
	if e.client == nil {
		e.notice(Failure, "No model can write the summary. Choose one with /model.")
		return
	}
	s := summariser{e, e.client, e.model, e.info}
	e.start("compaction", func(ctx context.Context) error {
		return e.compactPath(ctx, s, CompactManual, c.Focus)
	})
}

// compactNow compacts in the middle of a turn.
func (t turn) compactNow(ctx context.Context, why CompactionReason) error {
	return t.compactPath(ctx, summariser(t), why, "")
}

// compactPath plans, asks for the summary and appends it, in a job's goroutine.
// Where it fails nothing has changed.
func (e *Engine) compactPath(ctx context.Context, s summariser, why CompactionReason, focus string) error {
	var plan summary.Compaction
	err := e.do(func() (err error) { plan, err = e.planCompaction(focus); return err })
	if errors.Is(err, errNothing) && why == CompactThreshold {
		return err // not worth a word: the request is sent as it is
	}
	_ = e.do(func() error { e.emit(CompactionStarted{why}); return nil })
	ended := CompactionEnded{Reason: why, Before: plan.Before, Err: err}
	if err == nil {
		ended.After, ended.Err = e.applyCompaction(ctx, s, CompactPreparation{
			Reason: why, FirstKept: plan.FirstKept, TokensBefore: plan.Before, Instructions: focus,
		}, plan)
	}
	_ = e.do(func() error { e.emit(ended); return nil })
	return ended.Err
}

func (e *Engine) planCompaction(focus string) (summary.Compaction, error) {
	snap := e.session.Snapshot()
	path, err := snap.Branch(snap.Leaf())
	if err != nil {
		return summary.Compaction{}, err
	}
	plan, ok := summary.Compact(path, summary.CompactOptions{
		Window: e.info.Context, Reserve: e.reserve(), KeepRecent: e.keepRecent(), Instructions: focus,
	})
	if !ok {
		return plan, errNothing
	}
	return plan, nil
}

func (e *Engine) applyCompaction(ctx context.Context, s summariser, p CompactPreparation, plan summary.Compaction) (after int, err error) {
	c, err := s.compaction(ctx, p, plan)
	if err != nil {
		return 0, err
	}
	done := CompactDone{FromHook: c.FromHook}
	err = e.do(func() error {
		if err := e.append(c); err != nil {
			return err
		}
		snap := e.session.Snapshot()
		after = e.estimate()
		done.Entry, _, err = snap.Entry(snap.Leaf())
		return err
	})
	if err == nil && e.cfg.Hooks != nil {
		e.cfg.Hooks.Compact(ctx, done)
	}
	return after, err
}

// compaction is the summary of a hook that brings one, else the model's.
func (s summariser) compaction(ctx context.Context, p CompactPreparation, plan summary.Compaction) (session.Compaction, error) {
	if h := s.cfg.Hooks; h != nil {
		var snap session.Snapshot
		_ = s.do(func() error { snap = s.session.Snapshot(); return nil })
		var err error
		if p.Path, err = snap.Branch(snap.Leaf()); err != nil {
			return session.Compaction{}, err
		}
		change, err := h.BeforeCompact(ctx, p)
		if err != nil {
			return session.Compaction{}, err
		}
		if c := change.Summary; c != nil {
			given := *c
			given.TokensBefore, given.FromHook = plan.Before, true
			given.FirstKept = cmp.Or(given.FirstKept, plan.FirstKept)
			return given, nil
		}
	}
	text, usage, err := s.run(ctx, plan.Job)
	return session.Compaction{
		Summary: plan.Finish(text), FirstKept: plan.FirstKept, TokensBefore: plan.Before,
		Details: &plan.Files, Usage: &usage,
	}, err
}

// reserve and keepRecent are settings, made small enough for small windows:
// what is kept and the answer must leave room for each other.
func (e *Engine) reserve() int {
	return within(e.cfg.Compaction.Reserve, summary.DefaultReserve, e.info.Context/4)
}

func (e *Engine) keepRecent() int {
	return within(e.cfg.Compaction.KeepRecent, summary.DefaultKeepRecent, e.info.Context/3)
}

func within(set, otherwise, limit int) int {
	if set == 0 {
		set = otherwise
	}
	if limit > 0 {
		set = min(set, limit)
	}
	return set
}

// contextLimit is how large a request may be, in tokens; 0 if that is not known.
func (e *Engine) contextLimit() int {
	if e.info.Context <= 0 {
		return 0
	}
	return e.info.Context - e.reserve()
}

// nearlyFull says whether the context should be compacted before it is sent.
func (e *Engine) nearlyFull() bool {
	limit := e.contextLimit()
	return limit > 0 && !e.cfg.Compaction.Off && e.estimate() > limit
}

// estimate is the size of the context at the leaf in tokens: what the provider
// counted for the last answer since the last compaction, and an estimate of
// what came after it.
func (e *Engine) estimate() int {
	snap := e.session.Snapshot()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		return 0
	}
	tokens := 0
	for i := len(c.Items) - 1; i >= 0; i-- {
		if m, ok := c.Items[i].Data.(session.Message); ok && e.counted(m) && !staleUsage(c, i) {
			return tokens + m.Usage.Context()
		}
		tokens += summary.Tokens(c.Items[i].Data)
	}
	return tokens + len(e.cfg.System)/4
}

// counted says whether a message's usage tells the size of the context up to it.
func (e *Engine) counted(m session.Message) bool {
	return m.Role == llm.Assistant && m.Usage.Context() > 0 && m.StopReason != llm.StopError && m.StopReason != llm.StopAborted
}

// staleUsage says whether an answer was given before the context's compaction,
// so that its usage counts what is no longer there.
func staleUsage(c session.Context, i int) bool {
	compaction, ok := c.Items[0].Data.(session.Compaction)
	return ok && compaction.FirstKept != "" && !c.Items[i].Time.After(c.Items[0].Time)
}

// summariser asks a model for summaries, in a job's goroutine.
type summariser turn

// run makes all the requests of a job; the answers come as Progress.
func (s summariser) run(ctx context.Context, job summary.Job) (text string, usage llm.Usage, err error) {
	for i := range job.Pieces {
		req := job.Request(i, text)
		req.Model = s.model.Model
		m, err := s.ask(ctx, req)
		usage = usage.Add(s.info.Cost(m.Usage))
		if err != nil {
			return "", usage, fmt.Errorf("the summary was not made: %w", err)
		}
		if text, err = summary.Accept(m); err != nil {
			return "", usage, fmt.Errorf("the summary was not accepted: %w", err)
		}
	}
	return text, usage, nil
}

func (s summariser) ask(ctx context.Context, req llm.Request) (llm.Message, error) {
	fold := llm.NewFold(s.info.API, s.model.Provider, s.model.Model, s.cfg.Now())
	for ev, err := range s.client.Stream(ctx, req) {
		if err != nil {
			return fold.Message(), err
		}
		fold.Apply(ev)
		if err := s.do(func() error { s.emit(Progress{ev}); return nil }); err != nil {
			return fold.Message(), err
		}
	}
	return fold.Message(), nil
}
