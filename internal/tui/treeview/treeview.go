package treeview

import (
	"time"

	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// Options describe a tree. Only Session is needed.
type Options struct {
	Session session.Snapshot
	State   State               // to begin with
	Keys    map[string][]string // overrides of [Bindings] by id
	Now     func() time.Time    // nil for time.Now; label times are told from it

	// Choose, Menu and Label are told what the user wants with an entry. The tree
	// stays open; whoever opened it closes it.
	Choose func(session.ID) tea.Cmd
	Menu   func(session.ID) tea.Cmd
	Label  func(id session.ID, text string) tea.Cmd // empty text: no label
	// Closed is told when the user leaves.
	Closed func() tea.Cmd
}

// State is what a tree looked like, to be kept and given to the next one.
type State struct {
	Filter tree.Filter
	Folds  []session.ID
	Times  bool // of labels are shown
}

// Model is an open tree. See [New].
type Model struct {
	opts    Options
	id      int64
	theme   theme.Theme
	keys    keymap.Table[*Model]
	session session.Snapshot
	labels  map[tree.Node]string
	outline *tree.Outline
	err     error // why the search is none

	reads   int      // numbers the slices of texts
	reading int      // the slice that is being read; 0 for none
	slice   textsMsg // the slice that is being taken in

	typing bool   // the last key went to the search: capitals do, too
	times  bool   // label times are shown
	field  *field // the label that is being edited, of the selected entry; nil for none
	scroll int    // of the preview, in rows

	texts   map[tree.Node]said // of rows that were seen
	preview preview            // what was drawn last

	w, h int // cells
}

// New makes a tree with the leaf selected. O(entries).
func New(o Options, th theme.Theme) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Model{
		opts: o, id: lastID.Add(1), theme: th, keys: keymap.New(Bindings(), o.Keys),
		session: o.Session, labels: labelsOf(o.Session), times: o.State.Times,
		texts: map[tree.Node]said{}, w: 80, h: 24,
	}
	m.outline = tree.NewOutline(m.source(), o.State.Filter, nil)
	var folds []tree.Node
	for _, id := range o.State.Folds {
		if n := m.session.Node(id); n != tree.None {
			folds = append(folds, n)
		}
	}
	m.outline.SetFolds(folds)
	m.Select(o.Session.Leaf())
	return m
}

// Init begins to read what searches look in, or goes on where it was when the
// tree was closed. It is called whenever the tree is opened.
func (m *Model) Init() tea.Cmd {
	m.reading = 0 // what was under way has nobody to hear of it any more
	return m.index()
}

// Theme is how it is painted.
func (m *Model) Theme() theme.Theme { return m.theme }

// SetTheme says how it is painted.
func (m *Model) SetTheme(th theme.Theme) { m.theme, m.preview = th, preview{} }

// State is what the tree looks like.
func (m *Model) State() State {
	s := State{Filter: m.outline.Filter(), Times: m.times}
	for _, n := range m.outline.Folds() {
		s.Folds = append(s.Folds, m.session.ID(n))
	}
	return s
}

// Selected is the selected entry; zero where there are no rows.
func (m *Model) Selected() session.ID { return m.session.ID(m.outline.Selected()) }

// Select selects an entry, unfolding what hides it, or its nearest ancestor that
// has a row.
func (m *Model) Select(id session.ID) {
	m.scroll = 0
	m.outline.Reveal(m.session.Node(id))
}

// EditLabel begins to edit the label of the selected entry.
func (m *Model) EditLabel() tea.Cmd {
	if n := m.outline.Selected(); n != tree.None {
		m.field = newField(m.labels[n])
	}
	return nil
}

// Reset leaves the search and the label that is being edited.
func (m *Model) Reset() {
	m.field, m.typing = nil, false
	m.search("")
}

// Update handles a key, a paste, the mouse, or what was read for the search. It
// says whether the user has left.
func (m *Model) Update(msg tea.Msg) (done bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if text := squeeze(msg.Content, mostText); m.field != nil {
			m.field.insert(text)
		} else {
			m.search(m.outline.Query() + text)
		}
	case tea.MouseMsg:
		return false, m.mouse(msg)
	case textsMsg:
		return false, m.indexed(msg)
	}
	return false, nil
}

func (m *Model) key(msg tea.KeyPressMsg) (bool, tea.Cmd) {
	key := msg.String()
	if m.field != nil {
		return false, m.edit(key, msg.Text)
	}
	capital := key == "L" || key == "T"
	if b, ok := m.keys.Find(m, key); ok && !(capital && m.typing) {
		m.typing = false
		at := m.outline.Selected()
		if b.ID == idClose && m.outline.Query() == "" || b.ID == idCancel {
			return true, m.closed()
		}
		cmd := b.Run(m)
		if m.outline.Selected() != at {
			m.scroll = 0
		}
		return false, cmd
	}
	if msg.Text != "" {
		m.search(m.outline.Query() + msg.Text)
		m.typing = true
	}
	return false, nil
}

func (m *Model) closed() tea.Cmd {
	if m.opts.Closed == nil {
		return nil
	}
	return m.opts.Closed()
}

func (m *Model) search(text string) {
	m.err = m.outline.Search(text)
	m.typing = m.typing && text != ""
	m.scroll = 0
}

// edit is a key while a label is edited.
func (m *Model) edit(key, text string) tea.Cmd {
	switch key {
	case "enter":
		label := squeeze(m.field.text, mostText)
		m.field = nil
		if id := m.Selected(); id != "" && label != m.session.Label(id) && m.opts.Label != nil {
			return m.opts.Label(id, label)
		}
	case "esc", "ctrl+c":
		m.field = nil
	default:
		m.field.key(key, text)
	}
	return nil
}
