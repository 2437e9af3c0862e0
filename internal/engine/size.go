package engine

import (
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// size is what the path at the leaf takes of the context window, in tokens: what
// the provider counted for the last answer, and what came after it. The zero
// value says that it is not known.
type size struct {
	known   bool
	counted int // up to the last answer since the last compaction; 0 if there is none
	guessed int // of what was not counted, as package summary estimates it
}

// exact says whether all of it was counted.
func (s size) exact() bool { return s.counted > 0 && s.guessed == 0 }

// add takes an entry into account that was appended.
func (s *size) add(d session.Data) {
	switch m, message := d.(session.Message); {
	case message && counts(m):
		*s = size{known: true, counted: m.Usage.Context()}
	case isCompaction(d):
		*s = size{}
	default:
		s.guessed += summary.Tokens(d)
	}
}

// counts says whether a message's usage tells the size of the context up to it.
func counts(m session.Message) bool {
	return m.Role == llm.Assistant && m.Usage.Context() > 0 && m.StopReason != llm.StopError && m.StopReason != llm.StopAborted
}

func isCompaction(d session.Data) bool { _, ok := d.(session.Compaction); return ok }

// measure is the size of a context whose system prompt and tools take so many
// tokens. An answer that was given before the context's compaction counted what
// is no longer there; which came first is said by their places in the session.
func measure(snap session.Snapshot, c session.Context, fixed int) size {
	s := size{known: true, guessed: fixed}
	for i, it := range slices.Backward(c.Items) {
		if m, ok := it.Data.(session.Message); ok && counts(m) && !stale(snap, c, i) {
			s.counted, s.guessed = m.Usage.Context(), s.guessed-fixed
			break
		}
		s.guessed += summary.Tokens(it.Data)
	}
	return s
}

func stale(snap session.Snapshot, c session.Context, i int) bool {
	return isCompaction(c.Items[0].Data) && snap.Node(c.Items[i].Entry) < snap.Node(c.Items[0].Entry)
}

// fixed is what every request takes besides the conversation, as estimated.
func (e *Engine) fixed() int { return (len(e.systemPrompt())+3)/4 + toolTokens(e) }

// weigh measures the context at the leaf beside the owner, because it reads all of it.
func (e *Engine) weigh() {
	e.size, e.patience = size{}, 0
	e.weighing++
	mine, snap, fixed := e.weighing, e.session.Snapshot(), e.fixed()
	go func() {
		c, err := snap.Context(snap.Leaf())
		if err != nil {
			return // whoever needs the context will say so
		}
		s := measure(snap, c, fixed)
		_ = e.do(func() error {
			if e.weighing == mine && !e.size.known {
				s.guessed += e.size.guessed // what came meanwhile
				e.size = s
				e.emitState()
			}
			return nil
		})
	}()
}

// contextTokens is the size of the context at the leaf.
func (e *Engine) contextTokens() int {
	if !e.size.known {
		snap := e.session.Snapshot()
		c, err := snap.Context(snap.Leaf())
		if err != nil {
			return 0 // building the request will say why
		}
		e.size = measure(snap, c, e.fixed())
	}
	return e.tokens(e.size)
}

// tokens is a size as the model that answers counts.
func (e *Engine) tokens(s size) int { return s.counted + int(float64(s.guessed)*e.ratio(e.model)) }

// The estimate is off by a factor that depends on the model and the language;
// what a provider counted tells it. It is not believed beyond these bounds, nor
// where a request was so small that what providers add would spoil it.
const (
	leastRatio, mostRatio = 0.5, 3.0
	leastLearned          = 200 // tokens
)

// ratio is how many tokens a model's provider counts for one that is estimated.
func (e *Engine) ratio(ref session.ModelRef) float64 {
	if r, ok := e.ratios[ref]; ok {
		return r
	}
	return 1
}

// learn takes over what the provider counted for the request that was sent last.
func (e *Engine) learn(m llm.Message) {
	counted := m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheWrite
	ref := session.ModelRef{Provider: m.Provider, Model: m.Model}
	if e.asked < leastLearned || counted <= 0 || !counts(session.Message{Message: m}) {
		return
	}
	now := min(max(float64(counted)/float64(e.asked), leastRatio), mostRatio)
	if before, ok := e.ratios[ref]; ok {
		now = (before + now) / 2
	}
	e.ratios[ref] = now
}

// sizes are the settings for the model that answers, made small enough for its
// window: what is kept and the answer must leave room for each other.
func (e *Engine) sizes() (reserve, keepRecent int) {
	c := e.cfg.Compaction
	reserve, keepRecent = c.Reserve, c.KeepRecent
	if c.For != nil {
		reserve, keepRecent = c.For(e.model)
	}
	return within(reserve, summary.DefaultReserve, e.info.Context/4), within(keepRecent, summary.DefaultKeepRecent, e.info.Context/3)
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

// contextLimit is how large a request may be, in tokens: the window without the
// reserve, or less where a request of less was too large; 0 if that is not known.
func (e *Engine) contextLimit() int {
	limit := e.limits[e.model]
	if e.info.Context > 0 {
		reserve, _ := e.sizes()
		if window := e.info.Context - reserve; limit == 0 || window < limit {
			limit = window
		}
	}
	return limit
}

// leastWindow is the smallest window that is believed of a model, in tokens.
const leastWindow = 1000

// tooLarge remembers that the request that was sent last did not fit: the window
// is smaller than was thought, or not known.
func (e *Engine) tooLarge() {
	if sent := int(float64(e.asked) * e.ratio(e.model)); sent >= leastWindow {
		e.limits[e.model] = sent * 3 / 4
	}
}
