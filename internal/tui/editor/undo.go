package editor

import "strings"

// edit is one change: at a position, removed gave way to inserted. Exchanging
// the two takes it back.
type edit struct {
	at                pos
	removed, inserted string
	caret             pos // before the change
	typed             bool
}

// undo is what was done to a text. Redo is lost with the next change.
type undo struct {
	done   []edit
	undone []edit
}

// record adds a change. Characters typed one after the other are one change,
// up to the end of a word.
func (u *undo) record(e edit) {
	u.undone = nil
	if n := len(u.done); n > 0 && e.typed {
		last := &u.done[n-1]
		joins := last.typed && e.removed == "" && after(last.at, last.inserted) == e.at
		newWord := strings.HasSuffix(last.inserted, " ") && e.inserted != " "
		if joins && !newWord {
			last.inserted += e.inserted
			return
		}
	}
	u.done = append(u.done, e)
}

// seal makes the next typed character a change of its own.
func (u *undo) seal() {
	if n := len(u.done); n > 0 {
		u.done[n-1].typed = false
	}
}

// back takes the last change back and says where the caret belongs.
func (u *undo) back(b *buffer) (pos, bool) {
	n := len(u.done)
	if n == 0 {
		return pos{}, false
	}
	e := u.done[n-1]
	u.done, u.undone = u.done[:n-1], append(u.undone, e)
	b.replace(e.at, after(e.at, e.inserted), e.removed)
	return e.caret, true
}

// forth does again what back took back.
func (u *undo) forth(b *buffer) (pos, bool) {
	n := len(u.undone)
	if n == 0 {
		return pos{}, false
	}
	e := u.undone[n-1]
	e.typed = false
	u.undone, u.done = u.undone[:n-1], append(u.done, e)
	return b.replace(e.at, after(e.at, e.removed), e.inserted), true
}
