package summary

import (
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// CompactOptions say how a context is compacted. Sizes are tokens, as this
// package estimates them.
type CompactOptions struct {
	Window       int    // the summariser's; 0 if it is not known
	Output       int    // the longest answer of the summariser; 0 if it is not known
	Reserve      int    // room for an answer in the context's own window, of which the summary may take four fifths; 0 for the default
	KeepRecent   int    // the newest part, which stays as it is; 0 for the default
	Instructions string // what the user wants the summary to look at
}

// Compaction is a plan: what stands before FirstKept becomes a summary, what
// follows from it on stays.
type Compaction struct {
	Job
	FirstKept session.ID
	Before    int // estimated tokens of the context's items as they are
	Freed     int // of them, those that the summary will stand for
	// Summarised are the items that the job covers, for extensions and tests.
	Summarised []session.Item
	SplitTurn  bool // FirstKept is in the middle of a turn
}

// Compact plans the compaction of what a model sees at a leaf. It is false where
// there is nothing to gain: everything is recent, or nothing came since the last one.
//
// Every item of the context is either the summary that is carried on, or
// summarised now, or kept: exactly one of the three.
func Compact(c session.Context, o CompactOptions) (Compaction, bool) {
	if o.Reserve == 0 {
		o.Reserve = DefaultReserve
	}
	if o.KeepRecent == 0 {
		o.KeepRecent = DefaultKeepRecent
	}
	live, previous := split(c)
	cut := cutPoint(live, o.KeepRecent)
	if cut <= 0 {
		return Compaction{}, false
	}
	p := Compaction{FirstKept: live[cut].Entry, Summarised: live[:cut], SplitTurn: !startsTurn(live[cut].Data)}
	var texts []string
	files := newFileSet()
	for _, it := range p.Summarised {
		files.add(it.Data)
		p.Freed += Tokens(it.Data)
		if t := serialize(it.Data); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return Compaction{}, false
	}
	p.Before = p.Freed
	for _, it := range live[cut:] {
		p.Before += Tokens(it.Data)
	}
	p.maxTokens = answerTokens(o.Reserve*4/5, o.Window, o.Output)
	if previous != nil {
		files.list(previous.Details)
		p.Freed += Tokens(*previous)
		p.Before += Tokens(*previous)
		if p.Previous = withoutFileLists(*previous); o.Window > 0 && text(p.Previous) > o.Window/3 {
			// It was written for a larger window: it is folded in like the rest.
			texts, p.Previous = slices.Insert(texts, 0, serialize(*previous)), ""
		}
	}
	limit := room(o.Window, p.maxTokens, text(p.Previous))
	p.Pieces = pieces(texts, limit)
	p.Files = files.lists()
	p.instructions = compactInstructions(p.SplitTurn, o.Instructions)
	return p, true
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

// split is a context's items that a model sees as they are, and the compaction
// that stands for those before them.
func split(c session.Context) (live []session.Item, previous *session.Compaction) {
	for _, it := range c.Items {
		switch d := it.Data.(type) {
		case session.Compaction: // the first, if there is one
			previous = &d
			continue
		case session.Command:
			if d.Excluded {
				continue
			}
		}
		live = append(live, it)
	}
	return live, previous
}

// cutPoint is the index of the first item to keep: the oldest that the budget
// has room for and that stands between no call and its result. 0 keeps
// everything. Where the newest results alone are over the budget their calls are
// kept with them: see [Fit].
func cutPoint(live []session.Item, keep int) int {
	cut, tokens := -1, 0
	results := false // those below belong to an answer that is not reached yet
	for i, it := range slices.Backward(live) {
		tokens += Tokens(it.Data)
		if tokens > keep && cut >= 0 {
			return cut
		}
		switch role(it.Data) {
		case llm.ToolResult:
			results = true
		case llm.Assistant:
			results = false
		}
		if results {
			continue
		}
		cut = i
		if tokens > keep {
			return cut
		}
	}
	return 0
}

// role is who speaks; whatever is no answer and no result is the user's.
func role(d session.Data) llm.Role {
	if m, ok := d.(session.Message); ok {
		return m.Role
	}
	return llm.User
}

// startsTurn says whether an item begins something new rather than going on.
func startsTurn(d session.Data) bool { return role(d) == llm.User }

// Fit shortens the largest results of a request until it is within a budget of
// tokens, or nothing is left to shorten. It changes no message in place. It
// depends on its arguments alone, so that caches keep.
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
