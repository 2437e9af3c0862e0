package engine

import (
	"maps"
	"slices"

	"banyan/internal/tool"
)

// setTools takes the tools of a source in place of those that it gave before. A
// tool whose name another one has already, or may have, is left out, and the user
// is told.
func (e *Engine) setTools(c SetTools) {
	if e.more == nil {
		e.more = map[string][]tool.Tool{}
	}
	delete(e.more, c.From)
	var kept []tool.Tool
	for _, t := range c.Tools {
		if _, taken := tool.Find(append(e.tools(), kept...), t.Name); taken || tool.Reserved(t.Name) {
			e.notice(Warning, "The tool %s of %s is left out: that name is taken.", t.Name, c.From)
			continue
		}
		kept = append(kept, t)
	}
	if len(kept) > 0 {
		e.more[c.From] = kept
	}
	e.weigh()
}

// tools are all that the model has: the engine's own, then those of each source,
// always in the same order, so that providers can cache what they are told.
func (e *Engine) tools() []tool.Tool { return append(slices.Clone(e.cfg.Tools), e.otherTools()...) }

// otherTools are those of all sources but the engine's own.
func (e *Engine) otherTools() (all []tool.Tool) {
	for _, from := range slices.Sorted(maps.Keys(e.more)) {
		all = append(all, e.more[from]...)
	}
	return all
}
