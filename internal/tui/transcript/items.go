package transcript

import "banyan/internal/session"

// items are what there is to show, in order: the base, as it was opened, and a
// tail that grows.
type items struct {
	base    Source
	baseLen int
	tail    []item
}

// item is an entry or a notice.
type item struct {
	block  Block
	notice *notice
}

// notice is something the user should know that is not part of the session.
type notice struct {
	level Level
	text  string
}

// visible says whether an item takes room of its own.
func (it item) visible() bool { return it.notice != nil || takesRoom(it.block.Class) }

func (x *items) len() int { return x.baseLen + len(x.tail) }

func (x *items) at(i int) item {
	if i < x.baseLen {
		return item{block: x.base.Block(i)}
	}
	return x.tail[i-x.baseLen]
}

// class is the class of an item; that of a notice is empty.
func (x *items) class(i int) session.Class { return x.at(i).block.Class }

// owner finds the answer that a result, item i, may belong to: the last one
// before it, if no turn of the user stands between.
func (m *Model) owner(i int) (int, bool) {
	for i--; i >= 0; i-- {
		switch c := m.items.class(i); {
		case isAnswer(c):
			return i, true
		case isTurn(c):
			return 0, false
		}
	}
	return 0, false
}
