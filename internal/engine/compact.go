package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// The flow of a compaction, top to bottom: compact, or a turn's makeRoom or
// recover → compactPath → plan → hooks and summariser → one append. Until that
// append nothing has changed; every CompactionStarted gets one CompactionEnded.
//
// It cannot go in circles. One that begins by itself must stand for a tenth of
// what fits (worthwhile), so at least that much has to come between two of them,
// and its summary must be shorter than that. One that failed is not tried again
// before as much came (patience). An overflow is answered by one compaction; the
// next one must come after an answer.

// errNothing says that a path cannot be compacted further.
var errNothing = errors.New("there is nothing to compact yet: everything is recent, or nothing came since the last time")

// compaction is what Started calls the job.
const compaction = "compaction"

// worthwhile is the part of the limit that a compaction by itself must free.
const worthwhile = 10

// compact does what /compact says.
func (e *Engine) compact(c Compact) {
	if !e.idleOr("compact") {
		return
	}
	if e.client == nil {
		e.notice(Failure, "No model can write the summary. Choose one with /model.")
		return
	}
	e.start(compaction, func(ctx context.Context) error {
		return e.compactPath(ctx, CompactManual, c.Focus)
	})
}

// nearlyFull says whether the context should be compacted before it is sent.
func (e *Engine) nearlyFull() bool {
	limit := e.contextLimit()
	return limit > 0 && !e.cfg.Compaction.Off && e.contextTokens() > max(limit, e.patience)
}

// compactPath plans, has the summary written and appends it, in a job's goroutine.
func (e *Engine) compactPath(ctx context.Context, why CompactionReason, focus string) error {
	var p planned
	if err := e.do(func() error { p = e.planned(why, focus); return nil }); err != nil {
		return err
	}
	planError := p.plan()
	if why != CompactManual && errors.Is(planError, errNothing) {
		// Not worth a word: the request is sent as it is, or with shorter results.
		_ = e.do(func() error { e.wait(); return nil })
		return planError
	}
	ended := CompactionEnded{Reason: why, Before: p.before, Err: errors.New("a fault in this program ended the compaction")}
	if err := e.do(func() error { e.emit(CompactionStarted{why}); return nil }); err != nil {
		return err
	}
	defer func() {
		_ = e.do(func() error {
			if ended.Err != nil {
				e.wait()
			}
			e.emit(ended)
			return nil
		})
	}()
	if planError != nil {
		ended.Err = planError
	} else {
		ended.After, ended.Err = p.carryOut(ctx)
	}
	return ended.Err
}

// wait puts off the next compaction by itself until enough has come.
func (e *Engine) wait() {
	e.patience = e.contextTokens() + e.contextLimit()/worthwhile
}

// planned is a compaction that is being made.
type planned struct {
	summariser
	why     CompactionReason
	focus   string
	snap    session.Snapshot
	options summary.CompactOptions
	before  int     // tokens of the context
	least   int     // tokens that it must free, as estimated
	ratio   float64 // of counted to estimated tokens

	summary.Compaction
}

// planned says what a plan depends on.
func (e *Engine) planned(why CompactionReason, focus string) planned {
	p := planned{summariser: e.summariser(), why: why, focus: focus, snap: e.session.Snapshot(), ratio: e.ratio(e.model)}
	p.before = e.contextTokens()
	reserve, keep := e.sizes()
	switch why {
	case CompactThreshold:
		p.least = int(float64(e.contextLimit()/worthwhile) / p.ratio)
	case CompactOverflow:
		keep = min(keep, p.before/3) // whatever the window is, something must go
	}
	p.options = summary.CompactOptions{
		Window: int(float64(p.info.Context) / e.ratio(p.model)), Output: p.info.Output, Reserve: reserve,
		KeepRecent: max(1, int(float64(keep)/p.ratio)), Instructions: focus,
	}
	return p
}

// plan reads the context and decides what is to be summarised.
func (p *planned) plan() error {
	c, err := p.snap.Context(p.snap.Leaf())
	if err != nil {
		return err
	}
	var ok bool
	if p.Compaction, ok = summary.Compact(c, p.options); !ok || p.Freed < p.least {
		return errNothing
	}
	return nil
}

// carryOut has the summary written, takes it into the session, and gives the
// size of the context then.
func (p *planned) carryOut(ctx context.Context) (after int, err error) {
	c, err := p.written(ctx)
	if err != nil {
		return 0, err
	}
	err = p.do(func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.append(c); err != nil {
			return err
		}
		snap := p.session.Snapshot()
		after, p.patience = p.contextTokens(), 0
		p.emitState()
		entry, _, err := snap.Entry(snap.Leaf())
		p.tell(&SessionCompact{entry, c.FromHook, snap})
		return err
	})
	return after, err
}

// written is the summary of a hook that brings one, else the model's.
func (p *planned) written(ctx context.Context) (session.Compaction, error) {
	if brought, err := p.brought(ctx); err != nil {
		return session.Compaction{}, err
	} else if brought != nil {
		return p.given(*brought)
	}
	if err := p.enrich(ctx); err != nil {
		return session.Compaction{}, err
	}
	text, usage, err := p.run(ctx, p.Job)
	if err != nil {
		return session.Compaction{}, err
	}
	c := session.Compaction{
		Summary: p.Finish(text), FirstKept: p.FirstKept, TokensBefore: p.before,
		Details: &p.Files, Usage: &usage,
	}
	if p.why != CompactManual && summary.Tokens(c) >= p.Freed {
		return c, errors.New("the summary is longer than what it would stand for")
	}
	return c, nil
}

// brought is the summary that a hook brings; nil for none.
func (p *planned) brought(ctx context.Context) (*session.Compaction, error) {
	o := &SessionBeforeCompact{Reason: p.why, FirstKept: p.FirstKept, TokensBefore: p.before, Instructions: p.focus, Session: p.snap}
	if !p.hears(o.Name()) {
		return nil, nil
	}
	var err error
	if o.Path, err = p.snap.Branch(p.snap.Leaf()); err != nil {
		return nil, err
	}
	err = p.consult(ctx, o)
	return o.Summary, err
}

// enrich has hooks say what the summary should know besides.
func (p *planned) enrich(ctx context.Context) error {
	o := &SessionCompacting{Reason: p.why, Instructions: p.focus}
	if err := p.consult(ctx, o); err != nil || len(o.Context) == 0 {
		return err
	}
	p.options.Instructions = strings.TrimSpace(p.focus + "\n\n" + strings.Join(o.Context, "\n\n"))
	return p.plan()
}

// given is a hook's summary, if it makes sense.
func (p *planned) given(c session.Compaction) (session.Compaction, error) {
	c.TokensBefore, c.FromHook = cmp.Or(c.TokensBefore, p.before), true
	c.FirstKept = cmp.Or(c.FirstKept, p.FirstKept)
	switch {
	case strings.TrimSpace(c.Summary) == "":
		return c, errors.New("an extension brought an empty summary")
	case !slices.Contains(p.snap.PathIDs(p.snap.Leaf()), c.FirstKept):
		return c, fmt.Errorf("an extension wants to keep the path from %s on, which is not on it", c.FirstKept)
	}
	return c, nil
}

// summariser asks a model for summaries, in a job's goroutine.
type summariser turn

// summariser is the model that the settings name for summaries, else the one
// that answers.
func (e *Engine) summariser() summariser {
	answering := summariser{Engine: e, client: e.client, model: e.model, info: e.info}
	ref := e.cfg.Compaction.Model
	if ref == (session.ModelRef{}) || ref == e.model {
		return answering
	}
	client, info, err := e.cfg.Models.Client(ref)
	if err != nil {
		e.notice(Warning, "The model that answers writes the summary, not %s: %v", ref.Model, err)
		return answering
	}
	return summariser{Engine: e, client: client, model: ref, info: info}
}

// run has the summary written. Where the model that settings name cannot, the
// one that answers does.
func (s summariser) run(ctx context.Context, job summary.Job) (text string, usage llm.Usage, err error) {
	text, usage, err = s.write(ctx, job)
	var failed *llm.Error
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return text, usage, err
	}
	answering := s
	_ = s.do(func() error {
		if e := s.Engine; e.model != s.model && e.client != nil {
			answering = summariser{Engine: e, client: e.client, model: e.model, info: e.info}
			e.notice(Warning, "%v; the model that answers writes it", err)
		}
		return nil
	})
	if answering.model == s.model {
		return text, usage, err
	}
	text, more, err := answering.write(ctx, job)
	return text, usage.Add(more), err
}

// write makes all the requests of a job; the answers come as Progress. A piece
// that does not fit the summariser's window is halved.
func (s summariser) write(ctx context.Context, job summary.Job) (text string, usage llm.Usage, err error) {
	for i := 0; i < len(job.Pieces); {
		m, err := s.ask(ctx, job.Request(i, text))
		usage = usage.Add(m.Usage)
		if tooLong(err) {
			if smaller, ok := job.Halved(i); ok {
				job = smaller
				continue
			}
		}
		if err != nil {
			return "", usage, fmt.Errorf("the summary was not made: %w", err)
		}
		if text, err = summary.Accept(m); err != nil {
			return "", usage, fmt.Errorf("the summary was not accepted: %w", err)
		}
		i++
	}
	return text, usage, nil
}

// ask makes one request and gives the answer, as far as it came, with its cost.
func (s summariser) ask(ctx context.Context, req llm.Request) (m llm.Message, err error) {
	if err := s.do(s.withinBudget); err != nil {
		return m, err
	}
	req.Model = s.model.Model
	fold := llm.NewFold(s.info.API, s.model.Provider, s.model.Model, s.cfg.Now())
	for ev, failed := range s.client.Stream(ctx, req) {
		if err = failed; err != nil {
			break
		}
		fold.Apply(ev)
		if err = s.do(func() error { s.emit(Progress{ev}); return nil }); err != nil {
			break
		}
	}
	m = fold.Message()
	m.Usage = s.info.Cost(m.Usage)
	_ = s.do(func() error { s.spend(m.Usage); return nil })
	return m, err
}

// tooLong says whether a request failed because it does not fit the window.
func tooLong(err error) bool {
	var failed *llm.Error
	return errors.As(err, &failed) && failed.Class == llm.Overflow
}
