package transcript

import "banyan/internal/session"

// Hit is what a click was on. The zero Hit is nothing.
type Hit struct {
	Kind HitKind
	ID   session.ID // HitPrev and HitNext: the turn
	Fold string     // HitFold: which
	Task string     // HitTask: its id
}

// HitKind says what a [Hit] is.
type HitKind uint8

// The kinds.
const (
	HitNothing HitKind = iota
	HitFold            // a card, thinking or summary, which was opened or closed
	HitPrev            // ‹ of a turn: its previous sibling is wanted
	HitNext            // › of a turn: its next sibling is wanted
	HitTask            // a task, whose conversation is wanted
)

// Click acts on a cell: it opens and closes what is folded there. What it
// cannot do itself is for the caller.
func (m *Model) Click(x, y int) Hit {
	parts := m.window()
	for _, p := range parts {
		if n := p.to - p.from; y >= n {
			y -= n
			continue
		}
		return m.clickRow(p.item, p.from+y, x)
	}
	return Hit{}
}

func (m *Model) clickRow(i, row, x int) Hit {
	for _, z := range m.draw(i).zones {
		if z.row == row && x >= z.a && x < z.b {
			if z.hit.Kind == HitFold {
				m.toggle(i, z.hit.Fold)
			}
			return z.hit
		}
	}
	return Hit{}
}

// ToggleInView opens or closes the first fold on the screen, for keyboards.
func (m *Model) ToggleInView() bool {
	for _, p := range m.window() {
		for _, z := range m.draw(p.item).zones {
			if z.hit.Kind == HitFold && z.row >= p.from && z.row < p.to {
				m.toggle(p.item, z.hit.Fold)
				return true
			}
		}
	}
	return false
}

// toggle opens or closes one fold. The line at the top of the screen stays, so
// that what was clicked does not run away.
func (m *Model) toggle(i int, fold string) {
	top := m.top()
	m.sel = selection{} // its bytes are counted in what is shown
	m.toggled[fold] = !m.toggled[fold]
	delete(m.cache, i)
	for j := i + 1; j < m.items.len(); j++ { // the blank row above the next answer may come or go
		delete(m.cache, j)
		if c := m.items.class(j); isAnswer(c) || isTurn(c) {
			break
		}
	}
	if m.live != nil {
		m.live.forget()
	}
	m.goTo(top)
}
