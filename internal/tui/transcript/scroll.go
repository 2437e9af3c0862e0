package transcript

import "banyan/internal/session"

// ScrollLines moves the screen down by n lines, up if n is negative. At the end
// it stays with the end as that grows.
func (m *Model) ScrollLines(n int) {
	a := m.top()
	a.line += n
	for a.line < 0 && a.item > 0 {
		a.item--
		a.line += m.height(a.item)
	}
	a.line = max(a.line, 0)
	for a.item < m.count() && a.line >= m.height(a.item) {
		a.line -= m.height(a.item)
		a.item++
	}
	m.goTo(a)
}

// Page moves the screen down by n screens less two lines of overlap.
func (m *Model) Page(n int) { m.ScrollLines(n * max(m.h-2, 1)) }

// Top goes to the beginning.
func (m *Model) Top() { m.goTo(anchor{}) }

// Bottom goes to the end and stays there.
func (m *Model) Bottom() { m.stick, m.below = true, 0 }

// AtBottom says whether the end is in view.
func (m *Model) AtBottom() bool { return m.stick }

// NewBelow is the number of blocks that came while the end was out of view.
func (m *Model) NewBelow() int { return m.below }

// PrevTurn puts the turn that begins above the top of the screen at the top.
func (m *Model) PrevTurn() {
	a := m.top()
	from := a.item
	if from < m.items.len() && isTurn(m.items.class(from)) && a.line > lead(m.draw(from)) {
		from++ // the top is within a turn: its beginning is the one before
	}
	if i := m.turnBefore(from); i >= 0 {
		m.goTo(anchor{i, lead(m.draw(i))})
		return
	}
	m.Top()
}

// NextTurn puts the turn that begins below the top of the screen at the top; at
// the last it goes to the end.
func (m *Model) NextTurn() {
	a := m.top()
	for i := a.item; i < m.items.len(); i++ {
		if !isTurn(m.items.class(i)) || i == a.item && a.line >= lead(m.draw(i)) {
			continue
		}
		m.goTo(anchor{i, lead(m.draw(i))})
		return
	}
	m.Bottom()
}

// ShowEntry puts the beginning of an entry at the top of the screen. False if
// the entry is not here.
func (m *Model) ShowEntry(id session.ID) bool {
	for i := m.items.len() - 1; i >= 0; i-- {
		if m.items.at(i).block.ID != id {
			continue
		}
		if owner, ok := m.owner(i); ok && m.draw(owner).claims[i] {
			i = owner // a result: the card of its call
		}
		m.goTo(anchor{i, lead(m.draw(i))})
		return true
	}
	return false
}

// goTo puts a line at the top of the screen, or shows the end if that comes first.
func (m *Model) goTo(a anchor) {
	e, short := m.end()
	if short || !a.before(e) {
		m.Bottom()
		return
	}
	m.anchor, m.stick = a, false
}
