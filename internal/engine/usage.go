package engine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// ErrBudget ends a turn, or a summary, before a request: Config.MaxUSD was spent.
var ErrBudget = errors.New("the limit of money is reached")

// withinBudget says whether another request may be made.
func (e *Engine) withinBudget() error {
	if up := e.cfg.above; up != nil {
		return up.engine.do(up.engine.withinBudget)
	}
	if limit, spent := e.cfg.MaxUSD, e.spent.Cost.Total; limit > 0 && spent >= limit {
		return fmt.Errorf("%w: $%.4f of $%.4f were spent", ErrBudget, spent, limit)
	}
	return nil
}

// ReportUsage asks for a [UsageReport].
type ReportUsage struct {
	Since session.ID // an entry on the path, for what came after it; zero for none
}

func (ReportUsage) isCommand() {}

// UsageReport says what the session took: tokens, USD and time.
type UsageReport struct {
	Path  UsageSum // of the path at the leaf
	File  UsageSum // of all entries, on every branch
	Since UsageSum // of the path after ReportUsage.Since; zero where that is
	// Tasks is what all tasks of the session took, at every depth, beside the above.
	// Their time is in that of the calls that gave them, too.
	Tasks   UsageSum
	TaskNum int
	// Turns of the path, oldest first.
	Turns []UsageTurn
	// Branches are the ends of paths that have answers, newest first.
	Branches []UsageBranch
	// Models of the file, the one with the most tokens first.
	Models []UsageModel
}

func (UsageReport) isEvent() {}

// UsageSum is what some entries took together.
type UsageSum struct {
	llm.Usage
	Answers   int           // of models
	Summaries int           // of compactions and branches
	Took      time.Duration // answering and running tools; waiting for a person does not count
}

// UsageTurn is a prompt and what came of it. Text is the prompt's first line, untrusted.
type UsageTurn struct {
	Entry session.ID // the prompt
	Text  string
	UsageSum
}

// UsageBranch is what a path took, from its root to its end.
type UsageBranch struct {
	Leaf    session.ID
	Active  bool // the leaf is on it
	Tokens  int
	USD     float64
	Answers int
}

// UsageModel is what one model took. Files do not say who wrote summaries: the
// zero Model is those.
type UsageModel struct {
	Model session.ModelRef
	UsageSum
}

// CacheHits is the part of what was sent that came from a cache, 0 to 1.
func CacheHits(u llm.Usage) float64 {
	sent := u.Input + u.CacheRead + u.CacheWrite
	if sent <= 0 {
		return 0
	}
	return float64(u.CacheRead) / float64(sent)
}

// Spent is what one entry took. An entry that took nothing but time is a tool's result.
type Spent struct {
	Node    tree.Node
	Time    time.Time // of the entry
	Model   session.ModelRef
	Summary bool // of a compaction or a branch, whose model is not known
	Answer  bool // of a model
	Usage   llm.Usage
	Took    time.Duration
}

// Add adds what an entry took.
func (s *UsageSum) Add(e Spent) {
	s.Usage = s.Usage.Add(e.Usage)
	s.Took += e.Took
	if e.Answer {
		s.Answers++
	}
	if e.Summary {
		s.Summaries++
	}
}

// Spending are the entries of a session that took something, in file order. It
// holds one of them at a time; the error is for one that cannot be read.
func Spending(snap session.Snapshot) iter.Seq2[Spent, error] {
	return func(yield func(Spent, error) bool) {
		view := snap.Tree()
		for n := range tree.Node(snap.Len()) {
			s := Spent{Node: n, Time: time.UnixMilli(view.Time(n)).UTC()}
			class := snap.Class(n)
			switch {
			case class.Kind == "message" && (class.Role == llm.Assistant || class.Role == llm.ToolResult):
				s.Answer = class.Role == llm.Assistant
				if p := view.Parent(n); p != tree.None {
					s.Took = max(0, time.Duration(view.Time(n)-view.Time(p))*time.Millisecond)
				}
			case class.Kind == "compaction", class.Kind == "branch_summary":
				s.Summary = true
			default:
				continue
			}
			var err error
			if s.Answer || s.Summary {
				err = s.read(snap)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// read takes usage and model from the entry's body.
func (s *Spent) read(snap session.Snapshot) error {
	e, err := snap.EntryAt(s.Node)
	var u *llm.Usage
	switch d := e.Data.(type) {
	case session.Message:
		s.Model, u = session.ModelRef{Provider: d.Provider, Model: d.Model}, &d.Usage
	case session.Compaction:
		u = d.Usage
	case session.BranchSummary:
		u = d.Usage
	}
	if u != nil {
		s.Usage = *u
		s.Usage.Total = u.Context() // some files give the parts alone
	}
	return err
}

// reportUsage reads the session beside the owner.
func (e *Engine) reportUsage(c ReportUsage) {
	snap, o := e.session.Snapshot(), e.cfg.Session
	go func() {
		r, err := Usage(snap, c.Since)
		r.Tasks, r.TaskNum = usageOfTasks(snap, o)
		_ = e.do(func() error {
			if err != nil {
				e.notice(Failure, "The usage could not be read: %v", err)
				return nil
			}
			e.emit(r)
			return nil
		})
	}()
}

// usageOfTasks is what the tasks below a session took, as far as they can be read,
// and how many they are.
func usageOfTasks(snap session.Snapshot, o session.Options) (sum UsageSum, n int) {
	if snap.Path() == "" || len(snap.Tasks()) == 0 {
		return sum, 0
	}
	all, err := session.Family(snap.Path(), o)
	if err != nil {
		return sum, 0
	}
	o.ReadOnly = true
	for _, path := range all[:len(all)-1] {
		m, err := session.Open(path, o)
		if err != nil {
			continue
		}
		n++
		for s := range Spending(m.Snapshot()) {
			sum.Add(s)
		}
		m.Close()
	}
	return sum, n
}

// Usage reports what a session took, and what of its path came after an entry.
func Usage(snap session.Snapshot, since session.ID) (UsageReport, error) {
	c := counting{snap: snap, sums: make([]sum, snap.Len()), models: map[session.ModelRef]*UsageSum{}}
	if err := c.turns(); err != nil {
		return UsageReport{}, err
	}
	for s, err := range Spending(snap) {
		if err != nil {
			return UsageReport{}, err
		}
		c.add(s, since)
	}
	c.finish()
	return c.UsageReport, nil
}

// counting is a report being made, in one pass over the entries.
type counting struct {
	UsageReport
	snap   session.Snapshot
	turn   []int32 // by node: 1 + its turn's index; 0 for what is not on the path. Before the first prompt: -1
	sums   []sum   // by node: of its path, first of the node alone
	models map[session.ModelRef]*UsageSum
}

// sum is little, because there is one for each entry.
type sum struct {
	tokens  int64
	usd     float64
	answers int32
}

// turns cuts the path into turns.
func (c *counting) turns() error {
	c.turn = make([]int32, c.snap.Len())
	for _, n := range c.snap.Tree().Path(c.snap.Node(c.snap.Leaf())) {
		if class := c.snap.Class(n); class.Kind == "message" && class.Role == llm.User {
			e, err := c.snap.EntryAt(n)
			if err != nil {
				return err
			}
			c.Turns = append(c.Turns, UsageTurn{Entry: e.ID, Text: firstLine(e.Data)})
		}
		c.turn[n] = int32(len(c.Turns))
		if len(c.Turns) == 0 {
			c.turn[n] = -1
		}
	}
	return nil
}

func (c *counting) add(s Spent, since session.ID) {
	c.File.Add(s)
	c.sums[s.Node] = sum{tokens: int64(s.Usage.Total), usd: s.Usage.Cost.Total, answers: one(s.Answer)}
	if s.Answer || s.Summary {
		m := c.models[s.Model]
		if m == nil {
			m = &UsageSum{}
			c.models[s.Model] = m
		}
		m.Add(s)
	}
	turn := c.turn[s.Node]
	if turn == 0 {
		return
	}
	c.Path.Add(s)
	if turn > 0 {
		c.Turns[turn-1].Add(s)
	}
	// Along a path nodes rise.
	if at := c.snap.Node(since); at != tree.None && c.turn[at] != 0 && s.Node > at {
		c.Since.Add(s)
	}
}

func one(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// finish sums the branches, parents first, and sorts.
func (c *counting) finish() {
	view := c.snap.Tree()
	inner := make([]bool, len(c.sums))
	for n := range tree.Node(len(c.sums)) {
		if p := view.Parent(n); p != tree.None {
			c.sums[n] = sum{c.sums[n].tokens + c.sums[p].tokens, c.sums[n].usd + c.sums[p].usd, c.sums[n].answers + c.sums[p].answers}
			inner[p] = true
		}
	}
	for n := tree.Node(len(c.sums)) - 1; n >= 0; n-- {
		if s := c.sums[n]; !inner[n] && s.answers > 0 {
			c.Branches = append(c.Branches, UsageBranch{
				Leaf: c.snap.ID(n), Active: c.turn[n] != 0, Tokens: int(s.tokens), USD: s.usd, Answers: int(s.answers),
			})
		}
	}
	for ref, m := range c.models {
		c.Models = append(c.Models, UsageModel{ref, *m})
	}
	slices.SortFunc(c.Models, func(a, b UsageModel) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Model.Provider, b.Model.Provider), cmp.Compare(a.Model.Model, b.Model.Model))
	})
}
