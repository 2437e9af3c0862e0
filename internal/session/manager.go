package session

import (
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/tree"
)

// Options say how a session is made or opened. The zero value is for the real world.
type Options struct {
	FS       jsonl.FS         // nil for the real file system
	Now      func() time.Time // nil for time.Now
	NewID    func() string    // nil for random ids
	ReadOnly bool             // look, do not lock, never write
	Parent   string           // parentSession of a new session: path or id
	SessID   string           // id of a new session; empty for a fresh UUIDv7
}

// Manager owns one session: its log, tree, leaf and labels. It is not safe for
// concurrent use: one goroutine owns it and hands out [Snapshot] values.
type Manager struct{}

// New makes a session for a working directory. Its file, below dir, comes into
// being with the first message of the user. An empty dir keeps it in memory.
func New(dir, cwd string, o Options) (*Manager, error) { panic("not yet") }

// Open opens a session file. It never changes the file. Errors name the path
// and what to do: see [NotSessionError], [jsonl.LockedError].
func Open(path string, o Options) (*Manager, error) { panic("not yet") }

// Append adds an entry below the leaf and moves the leaf to it. When it returns
// the entry is durable; if it returns an *UnsavedError the entry is in the
// session all the same, in memory, and Unsaved counts it. Kinds that need a
// target (Label) fail where it does not exist.
func (m *Manager) Append(d Data) (Entry, error) { panic("not yet") }

// AppendAll is Append of several entries in a chain with one sync.
func (m *Manager) AppendAll(ds ...Data) ([]Entry, error) { panic("not yet") }

// Branch moves the leaf to an entry, which must exist. It writes nothing.
func (m *Manager) Branch(id ID) error { panic("not yet") }

// ResetLeaf moves the leaf before the first entry: the next one is a new root.
func (m *Manager) ResetLeaf() { panic("not yet") }

// BranchWithSummary moves the leaf to an entry (zero: before the first) and
// appends a summary there. Its From is set.
func (m *Manager) BranchWithSummary(to ID, s BranchSummary) (Entry, error) { panic("not yet") }

// RemoveLeafMessage moves the leaf from a message, if it is the leaf, to its
// parent: a failed answer stays in the file and leaves the context.
func (m *Manager) RemoveLeafMessage(id ID) bool { panic("not yet") }

// CreateBranchedSession writes the path to an entry into a new file in dir
// whose parent is this session, and returns it opened. A session in memory
// gives one in memory.
func (m *Manager) CreateBranchedSession(dir string, leaf ID) (*Manager, error) { panic("not yet") }

// SavePosition writes a position record if the leaf was moved since the last append.
func (m *Manager) SavePosition() error { panic("not yet") }

// Unsaved is the number of entries that are only in memory because the disk refused them.
func (m *Manager) Unsaved() int { panic("not yet") }

// Flush tries again to save them.
func (m *Manager) Flush() error { panic("not yet") }

// SaveAs writes the whole session, unsaved entries included, elsewhere and goes on there.
func (m *Manager) SaveAs(path string) error { panic("not yet") }

// Close saves the position and gives the file back.
func (m *Manager) Close() error { panic("not yet") }

// Snapshot is the session as it is now, in O(1).
func (m *Manager) Snapshot() Snapshot { panic("not yet") }

// UnsavedError says that the disk refused entries, which stay in memory.
type UnsavedError struct {
	Count int
	Err   error
}

// NotSessionError says that a file cannot be opened as a session; it was not changed.
type NotSessionError struct {
	Path   string
	Reason string
	Hint   string
}

// Header is a session's first line.
type Header struct {
	ID      string
	Version int // as in the file
	Time    time.Time
	Cwd     string
	Parent  string // parentSession
}

// Problem is something that was found and healed, or worked around, on opening.
type Problem struct {
	Line int    `json:"line"` // counted from 1
	Kind string `json:"kind"` // a stable word, e.g. "torn-tail"
	Text string `json:"text"`
}

// Snapshot is a session as it was at one moment: immutable, safe to read
// anywhere. Bodies of entries are read and decoded when asked for.
type Snapshot struct{}

// Header is the session's header.
func (s Snapshot) Header() Header { panic("not yet") }

// Path is the session's file, empty in memory. The file may not exist yet.
func (s Snapshot) Path() string { panic("not yet") }

// Name is the session's name, empty if it has none.
func (s Snapshot) Name() string { panic("not yet") }

// Problems were found on opening.
func (s Snapshot) Problems() []Problem { panic("not yet") }

// ReadOnly says why the session cannot be written, empty if it can.
func (s Snapshot) ReadOnly() string { panic("not yet") }

// Bytes is the size of the file.
func (s Snapshot) Bytes() int64 { panic("not yet") }

// Leaf is where the next entry goes; zero before the first.
func (s Snapshot) Leaf() ID { panic("not yet") }

// Len is the number of entries; position records do not count.
func (s Snapshot) Len() int { panic("not yet") }

// Entry finds an entry. The error is for bodies that can no longer be read.
func (s Snapshot) Entry(id ID) (Entry, bool, error) { panic("not yet") }

// Branch is the path from a root to an entry, root first; empty for the zero
// ID. It is the specification's getBranch. Bodies are decoded.
func (s Snapshot) Branch(id ID) ([]Entry, error) { panic("not yet") }

// PathIDs is Branch without bodies.
func (s Snapshot) PathIDs(id ID) []ID { panic("not yet") }

// Children are an entry's children, oldest first; the roots for the zero ID.
func (s Snapshot) Children(id ID) []ID { panic("not yet") }

// Label is an entry's label, empty if it has none.
func (s Snapshot) Label(id ID) string { panic("not yet") }

// Labels are all labelled entries.
func (s Snapshot) Labels() map[ID]string { panic("not yet") }

// Resolve finds the one entry whose id or label begins with text. The error
// lists the candidates, or the nearest names where there are none.
func (s Snapshot) Resolve(text string) (ID, error) { panic("not yet") }

// Tree is the shape of the session, for outlines. Node and ID translate.
func (s Snapshot) Tree() tree.View         { panic("not yet") }
func (s Snapshot) Node(id ID) tree.Node    { panic("not yet") }
func (s Snapshot) ID(n tree.Node) ID       { panic("not yet") }
func (s Snapshot) Class(n tree.Node) Class { panic("not yet") }

// Class is what the index knows of an entry without its body.
type Class struct {
	Kind string   // entry type
	Role llm.Role // of a message; also "bashExecution", "custom"
	// The following are for assistant messages.
	HasText bool
	Failed  bool // stop reason other than stop and toolUse
}

// Context is what a model sees at a leaf, and the state that holds there.
func (s Snapshot) Context(leaf ID) (Context, error) { panic("not yet") }

// UsageSince sums the usage of assistant messages, compactions and summaries on
// the active path after an entry; zero where it is not on the path. The zero ID means all of the path.
func (s Snapshot) UsageSince(id ID) llm.Usage { panic("not yet") }

// Context is what a model sees at a leaf, and the state that holds there.
type Context struct {
	Leaf     ID
	Model    ModelRef // zero if none was ever chosen
	Thinking llm.ThinkingLevel
	Mode     string
	Rules    []string // injected stream rules
	Items    []Item
}

// ModelRef names a model of a provider.
type ModelRef struct{ Provider, Model string }

// Item is one message of a context: Data is a [Message], [Command],
// [CustomMessage], [BranchSummary] or [Compaction].
type Item struct {
	Entry ID
	Time  time.Time
	Data  Data
}

// Messages are the context as any provider accepts it; the one place where what
// death left is healed: unanswered calls get a result saying that the outcome
// is unknown, stray results are dropped, results follow their calls directly
// and in order, failed and aborted answers that carry nothing usable are left
// out, no text is empty.
func (c Context) Messages() []llm.Message { panic("not yet") }
