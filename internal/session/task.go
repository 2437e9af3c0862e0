package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"

	"banyan/internal/llm"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// TaskType is the customType of the entry that links a session with one of its
// tasks. It is in the log before the task's own session exists.
const TaskType = "banyan.task"

// Task is work that a session has given to a session of its own: what the link
// entry says. It is all that is needed to begin the task, or to begin it again.
type Task struct {
	ID          string            `json:"taskId"`    // a UUID
	Session     string            `json:"sessionId"` // of the task: [ChildID]
	CallID      string            `json:"toolCallId"`
	Description string            `json:"description"` // a few words
	Prompt      string            `json:"prompt"`
	Agent       string            `json:"agent,omitempty"` // name of the profile; empty for none
	Cwd         string            `json:"cwd"`             // absolute, without symbolic links
	Model       string            `json:"model,omitempty"` // as it was asked for; empty: as the session's
	Thinking    llm.ThinkingLevel `json:"thinking,omitempty"`
	Result      json.RawMessage   `json:"result,omitempty"` // JSON Schema of what it is to give; nil for text
	Depth       int               `json:"depth"`            // 1 for a task of a session that is none
}

// Origin is what the header of a task's session says of the task.
type Origin struct {
	ID    string `json:"id"`
	Depth int    `json:"depth"`
	Agent string `json:"agent,omitempty"`
	// Chain tells the prompts of the tasks from the first to this one apart.
	Chain []string `json:"chain,omitempty"`
}

// Entry is the link.
func (t Task) Entry() Custom {
	data, _ := json.Marshal(t) // Result was JSON when it was read
	return Custom{Type: TaskType, Data: data}
}

// taskSpace makes the ids of tasks' sessions unlike all others.
var taskSpace = uuid.MustParse("5f0a2f0e-6c9b-4d0e-9a53-0c6f1c2a7d11")

// ChildID is the id of the session of a task, a UUIDv5: it follows from the id of
// the session that gave the task and the id of the task, and is never taken from
// a file.
func ChildID(parent, task string) string {
	return uuid.NewSHA1(taskSpace, []byte(parent+"\x00"+task)).String()
}

// TaskPath is where the session of a task of this one is, whether it exists or
// not; empty in memory.
func (s Snapshot) TaskPath(t Task) string {
	if s.Path() == "" {
		return ""
	}
	return s.state().store.Path(s.taskPlace(t))
}

func (s Snapshot) taskPlace(t Task) store.Place {
	return store.Place{Parent: s.Path(), ID: ChildID(s.Header().ID, t.ID)}
}

// Link is a task and where in the session it was given.
type Link struct {
	Task
	Entry ID
	Node  tree.Node
}

// Tasks are the tasks that this session gave, on all branches, in file order.
// Links that came with a fork are the other session's and are left out.
func (s Snapshot) Tasks() []Link {
	var links []Link
	seen := map[string]bool{}
	for n := range tree.Node(s.Len()) {
		if s.Class(n).Kind != (Custom{}).kind() {
			continue
		}
		e, err := s.EntryAt(n)
		if err != nil {
			continue // whoever shows the entry says so
		}
		t, ok := readTask(e.Data)
		if ok && t.Session == ChildID(s.Header().ID, t.ID) && !seen[t.ID] {
			seen[t.ID] = true
			links = append(links, Link{t, e.ID, n})
		}
	}
	return links
}

func readTask(d Data) (t Task, ok bool) {
	c, ok := d.(Custom)
	if !ok || c.Type != TaskType || json.Unmarshal(c.Data, &t) != nil {
		return t, false
	}
	return t, t.ID != ""
}

// OpenTask opens the session of a task, and makes it if it is not there yet. The
// link must be in this session's log. The session of a session in memory is in
// memory, too.
func (s Snapshot) OpenTask(t Task, chain []string, o Options) (*Manager, error) {
	id := ChildID(s.Header().ID, t.ID)
	o.SessID, o.Parent, o.ReadOnly = id, s.Header().ID, false
	o.Task = &Origin{ID: t.ID, Depth: t.Depth, Agent: t.Agent, Chain: chain}
	o = o.withDefaults()
	path, at := s.TaskPath(t), s.taskPlace(t)
	if path == "" {
		return begin(store.Place{}, t.Cwd, o)
	}
	o.Store = s.state().store
	m, err := Open(path, o)
	if _, torn := errors.AsType[*NotSessionError](err); torn {
		// Its maker died while it wrote the first lines, which nobody was promised.
		if err = os.Rename(path, path+".torn"); err == nil {
			return begin(at, t.Cwd, o)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return begin(at, t.Cwd, o)
	}
	if err != nil {
		return nil, err
	}
	if err := ofTask(store.Info{Path: path, ID: id}, m.header, s.Header().ID); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// ofTask makes sure that a file is the session of a task of the session with this id.
func ofTask(in store.Info, h Header, parent string) error {
	if h.Task == nil || h.ID != ChildID(parent, h.Task.ID) || in.ID != h.ID {
		return fmt.Errorf("%s is not the session of a task of %s", in.Path, parent)
	}
	return nil
}

// Family are a session and all tasks below it, by path: children before their
// parents, the session itself last. Each was found by an id that follows from
// its parent's, where its parent's children are; what else is there is left out.
// So it ends.
func Family(path string, o Options) ([]string, error) {
	o.ReadOnly = true
	m, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var all []string
	for _, child := range m.Snapshot().children() {
		below, err := Family(child, o)
		if err != nil {
			below = []string{child} // it was torn when it was begun
		}
		all = append(all, below...)
	}
	return append(all, path), nil
}

// FamilyUsage is what a session and all tasks below it took, as far as they can
// be read; nothing where there is none.
func FamilyUsage(path string, o Options) (sum llm.Usage) {
	o.ReadOnly = true
	all, err := Family(path, o)
	if err != nil {
		return sum
	}
	for _, path := range all {
		m, err := Open(path, o)
		if err != nil {
			continue
		}
		sum = sum.Add(m.Snapshot().Usage())
		m.Close()
	}
	return sum
}

// children are the sessions of the tasks that this one gave: those that its log
// knows of, and those that know of it, because either may have been damaged.
func (s Snapshot) children() []string {
	if s.Path() == "" {
		return nil
	}
	st := s.state().store
	there, _ := st.Children(s.Path()) // what cannot be listed has nothing that could be taken
	var paths []string
	for _, link := range s.Tasks() {
		path := s.TaskPath(link.Task)
		if slices.ContainsFunc(there, func(in store.Info) bool { return in.Path == path }) {
			paths = append(paths, path)
		}
	}
	for _, in := range there {
		if slices.Contains(paths, in.Path) {
			continue
		}
		if h, err := peek(st, in.Path); err == nil && ofTask(in, h, s.Header().ID) == nil {
			paths = append(paths, in.Path)
		}
	}
	return paths
}
