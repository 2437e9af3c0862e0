package tui

// The smallest screen that anything is drawn on.
const (
	minWidth  = 40
	minHeight = 10
)

// layout says how many rows of the screen are whose, top to bottom. The last
// row is the footer's.
type layout struct {
	transcript int
	status     int
	rule       int // 0 or 1: the line above the editor
	bottom     int // the editor, or the overlay on top of it
}

// The heights from which on there is room for a rule, and for blank rows.
const (
	ruleFrom = 14
	airyFrom = 20
)

// bottomLimit is the most rows that the bottom may have: a third of the screen
// for the editor, three quarters for an overlay, all of it where that is little.
func bottomLimit(height int, overlay bool) int {
	switch {
	case !overlay:
		return max(1, height/3)
	case height < ruleFrom:
		return height - 2
	}
	return max(ruleFrom-2, height*3/4)
}

// arranged divides the screen between the footer, the bottom, and what is above
// it. It is a pure function. The status gives way first.
func arranged(height, bottom, status int) layout {
	l := layout{bottom: min(bottom, height-1)}
	left := height - 1 - l.bottom
	if height >= ruleFrom && left > 0 {
		l.rule = 1
		left--
	}
	l.status = max(0, min(status, left-1))
	l.transcript = left - l.status
	return l
}

// arrange follows every message: sizes are set here and nowhere else.
func (m *Model) arrange() {
	if m.tooSmall() {
		return
	}
	limit := bottomLimit(m.height, m.top() != nil)
	bottom := 0
	switch o := m.top(); {
	case o == nil:
		m.editor.SetSize(m.width, limit)
		bottom = m.editor.Height()
	case covers(o):
		bottom = m.height - 1
		o.Height(m.width, bottom)
	default:
		bottom = min(o.Height(m.width, limit), limit)
	}
	m.layout = arranged(m.height, bottom, len(m.status()))
	m.transcript.SetSize(m.width, m.layout.transcript)
	m.shown().SetSize(m.width, m.layout.transcript)
	if o := m.behind(); o != nil {
		o.Height(m.width, m.layout.transcript)
	}
}

// tooSmall says whether there is no screen to draw on, or none that is large enough.
func (m *Model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }
