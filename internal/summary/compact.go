package summary

import (
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// CompactOptions say how a path is compacted.
type CompactOptions struct {
	Window       int    // the summariser's, in tokens; 0 if it is not known
	Reserve      int    // tokens kept for prompt and answer; 0 for the default
	KeepRecent   int    // tokens of the newest entries that stay as they are; 0 for the default
	Instructions string // what the user wants the summary to look at
}

// Compaction is a plan: the entries before FirstKept that are not summarised
// yet become a summary, the entries from it on stay.
type Compaction struct {
	Job
	FirstKept session.ID
	Before    int // estimated tokens of the context as it is
	// Summarised are the entries that the job covers, for extensions and tests.
	Summarised []session.Entry
	SplitTurn  bool // FirstKept is in the middle of a turn
}

// Compact plans the compaction of a path, root first. It is false where there
// is nothing to gain: everything is recent, or nothing came since the last one.
//
// Every entry of the path that a model sees is either covered by the previous
// summary, summarised now, or kept: exactly one of the three.
func Compact(path []session.Entry, o CompactOptions) (Compaction, bool) {
	if o.Reserve == 0 {
		o.Reserve = DefaultReserve
	}
	if o.KeepRecent == 0 {
		o.KeepRecent = DefaultKeepRecent
	}
	live, previous := liveEntries(path)
	cut := cutPoint(live, o.KeepRecent)
	if cut <= 0 {
		return Compaction{}, false
	}
	c := Compaction{FirstKept: live[cut].ID, Summarised: live[:cut], SplitTurn: !startsTurn(live[cut].Data)}
	files := newFileSet()
	if previous != nil {
		c.Previous = previous.Summary
		files.list(previous.Details)
		c.Before += Tokens(*previous)
	}
	var texts []string
	for _, e := range c.Summarised {
		files.add(e.Data)
		if t := serialize(e.Data); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return Compaction{}, false
	}
	for _, e := range live {
		c.Before += Tokens(e.Data)
	}
	c.Pieces = pieces(texts, room(o.Window, o.Reserve+text(c.Previous)))
	c.Files = files.lists()
	c.maxTokens = o.Reserve * 4 / 5
	c.instructions = compactInstructions(c.SplitTurn, o.Instructions)
	return c, true
}

func compactInstructions(split bool, focus string) string {
	s := "Summarise the conversation so that the work can go on from the summary alone.\n\n" + sections + critical
	if split {
		s += "\nThe conversation is cut in the middle of a turn, and the rest of that turn follows your summary: end with a section \"## This turn\" that says what the user asked for in it and what has been done for it so far.\n"
	}
	if focus != "" {
		s += "\nThe user asks to look at this above all: " + focus + "\n"
	}
	return s
}

// liveEntries are the entries of a path that a model sees as they are, and the
// compaction that stands for those before them.
func liveEntries(path []session.Entry) ([]session.Entry, *session.Compaction) {
	var previous *session.Compaction
	from := 0
	for i, e := range slices.Backward(path) {
		if c, ok := e.Data.(session.Compaction); ok {
			previous = &c
			from = slices.IndexFunc(path[:i], func(e session.Entry) bool { return e.ID == c.FirstKept })
			if from < 0 {
				from = i // nothing before it is kept
			}
			break
		}
	}
	var live []session.Entry
	for _, e := range path[from:] {
		if seen(e.Data) {
			live = append(live, e)
		}
	}
	return live, previous
}

// seen says whether a model sees an entry as it is.
func seen(d session.Data) bool {
	switch d := d.(type) {
	case session.Message, session.CustomMessage:
		return true
	case session.Command:
		return !d.Excluded
	case session.BranchSummary:
		return d.Summary != ""
	}
	return false
}

// cutPoint is the index of the first entry to keep: the oldest one that the
// budget has room for and that is not a result, whose call would be left
// behind. 0 keeps everything. Where the newest results alone are over the
// budget their calls are kept with them: see [Fit].
func cutPoint(live []session.Entry, keep int) int {
	cut, tokens := -1, 0
	for i, e := range slices.Backward(live) {
		tokens += Tokens(e.Data)
		if tokens > keep && cut >= 0 {
			return cut
		}
		if isResult(e.Data) {
			continue
		}
		cut = i
		if tokens > keep {
			return cut
		}
	}
	return 0
}

func isResult(d session.Data) bool {
	m, ok := d.(session.Message)
	return ok && m.Role == llm.ToolResult
}

// startsTurn says whether an entry begins something new rather than going on.
func startsTurn(d session.Data) bool {
	m, ok := d.(session.Message)
	return !ok || m.Role == llm.User
}

// Fit shortens the largest results of a request until it is within a budget of
// tokens, or nothing is left to shorten. It changes no message in place. It
// depends on the messages alone, so that caches keep.
func Fit(messages []llm.Message, budget int) []llm.Message {
	total := 0
	for _, m := range messages {
		total += MessageTokens(m)
	}
	if total <= budget {
		return messages
	}
	out := slices.Clone(messages)
	for limit := 64_000; total > budget && limit >= resultBytes; limit /= 2 {
		for i, m := range out {
			if m.Role != llm.ToolResult || MessageTokens(m)*bytesPerToken <= limit {
				continue
			}
			total -= MessageTokens(m)
			out[i].Content = shortened(m.Content, limit)
			total += MessageTokens(out[i])
		}
	}
	return out
}

func shortened(blocks []llm.Block, limit int) []llm.Block {
	out := slices.Clone(blocks)
	for i, b := range out {
		if t, ok := b.(llm.Text); ok {
			t.Text = clip(t.Text, limit)
			out[i] = t
		}
	}
	return out
}
