package treeview

import (
	"sync/atomic"

	"banyan/internal/session"
	"banyan/internal/tree"

	tea "charm.land/bubbletea/v2"
)

// A slice of texts is as much as can be taken in without a key having to wait.
const (
	sliceNodes = 1024
	sliceBytes = 512 << 10
)

// textsMsg are the texts of some nodes, one after the other.
type textsMsg struct {
	view  int64 // whose they are
	read  int   // which slice of that tree's
	from  tree.Node
	texts []string
}

// index reads the next slice of texts, unless that is under way or all are read.
func (m *Model) index() tea.Cmd {
	if m.reading != 0 || m.outline.Indexed() >= m.session.Len() {
		return nil
	}
	m.reads++
	m.reading = m.reads
	s, id, read, from := m.session, m.id, m.reading, tree.Node(m.outline.Indexed())
	return func() tea.Msg { return textsMsg{id, read, from, readTexts(s, from)} }
}

// readTexts reads what searches look in, from a node on.
func readTexts(s session.Snapshot, from tree.Node) []string {
	var texts []string
	r := newReader(s)
	for n, bytes := from, 0; int(n) < s.Len() && len(texts) < sliceNodes && bytes < sliceBytes; n++ {
		texts = append(texts, r.words(n))
		bytes += len(texts[len(texts)-1])
	}
	return texts
}

// indexed takes a slice in and reads the next.
func (m *Model) indexed(msg textsMsg) tea.Cmd {
	if msg.view != m.id || msg.read != m.reading {
		return nil
	}
	m.reading = 0
	m.slice = msg
	m.outline.IndexSome(len(msg.texts))
	m.slice = textsMsg{}
	return m.index()
}

// searchText is what a search looks in: from the slice that is being taken in,
// and for a node that has changed read anew.
func (m *Model) searchText(n tree.Node) string {
	text := ""
	if i := int(n - m.slice.from); i >= 0 && i < len(m.slice.texts) {
		text = m.slice.texts[i]
	} else {
		text = newReader(m.session).words(n)
	}
	if label := m.labels[n]; label != "" {
		text = label + " " + text
	}
	return text
}

// lastID tells the trees of one program apart in their messages.
var lastID atomic.Int64
