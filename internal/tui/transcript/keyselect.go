package transcript

// Selecting by keyboard goes by items. The selection is the mouse's: from is the
// end that stays, to the one that moves, and each covers its whole item.

// SelectItem begins a selection at the last item on the screen. It says whether
// there is one.
func (m *Model) SelectItem() bool {
	parts := m.window()
	for i := len(parts) - 1; i >= 0; i-- {
		if m.selectable(parts[i].item) {
			m.selectItems(parts[i].item, parts[i].item)
			return true
		}
	}
	return false
}

// MoveSelection moves it by n items, up if n is negative, or with extend only
// the end that moves. It stops at the ends of the conversation.
func (m *Model) MoveSelection(n int, extend bool) {
	if !m.sel.active {
		return
	}
	to, step := m.sel.to.item, 1
	if n < 0 {
		n, step = -n, -1
	}
	for i := to + step; n > 0 && i >= 0 && i < m.count(); i += step {
		if m.selectable(i) {
			to = i
			n--
		}
	}
	from := to
	if extend {
		from = m.sel.from.item
	}
	m.selectItems(from, to)
}

// ToggleSelected opens or closes the first fold of the item where the selection
// moves. It says whether there is one.
func (m *Model) ToggleSelected() bool {
	if !m.sel.active {
		return false
	}
	from, to := m.sel.from.item, m.sel.to.item
	for _, z := range m.draw(to).zones {
		if z.hit.Kind == HitFold {
			m.toggle(to, z.hit.Fold)
			m.selectItems(from, to)
			return true
		}
	}
	return false
}

// selectable says whether there is something of an item to be copied.
func (m *Model) selectable(i int) bool {
	for _, r := range m.draw(i).rows {
		if len(r.Marks) > 0 {
			return true
		}
	}
	return false
}

// selectItems selects the items from one to another, which may stand before it,
// and shows where the other is.
func (m *Model) selectItems(from, to int) {
	whole := func(i int, begin bool) place {
		if begin {
			return place{item: i}
		}
		n := len(m.draw(i).text())
		return place{item: i, src: n, after: n}
	}
	m.sel = selection{active: true, from: whole(from, from <= to), to: whole(to, from > to)}
	m.showItem(to)
}

// showItem scrolls as little as it takes to have an item on the screen, or its
// beginning where it is larger.
func (m *Model) showItem(i int) {
	h, a := m.height(i), m.top()
	if i < a.item || i == a.item && a.line > lead(m.draw(i)) || h >= m.h {
		m.goTo(anchor{i, lead(m.draw(i))})
		return
	}
	below := -a.line // rows from the top of the screen to the end of the item
	for j := a.item; j <= i && below <= m.h; j++ {
		below += m.height(j)
	}
	if below <= m.h {
		return
	}
	left := m.h
	for j := i; j >= 0; j-- {
		if n := m.height(j); n < left {
			left -= n
			continue
		}
		m.goTo(anchor{j, m.height(j) - left})
		return
	}
}
