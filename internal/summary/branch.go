package summary

import (
	"banyan/internal/session"
)

// BranchOptions say how a branch that is left is summarised.
type BranchOptions struct {
	Window int // the summariser's, in tokens; 0 if it is not known
	Output int // the longest answer of the summariser, in tokens; 0 if it is not known
	// Instructions of the user's: added to ours, or, with Replace, in their place.
	Instructions string
	Replace      bool
}

// Defaults of both kinds of summaries, in tokens.
const (
	DefaultReserve    = 16_384
	DefaultKeepRecent = 20_000
	branchTokens      = 2_048
)

const branchPreamble = "The user explored a branch of this conversation and went back from it. What happened there:\n\n"

// Branch plans the summary of the entries that are left behind, oldest first.
// It is false where there is nothing in them that a model could see.
func Branch(left []session.Entry, o BranchOptions) (Job, bool) {
	files := newFileSet()
	var texts []string
	for _, e := range left {
		files.add(e.Data)
		if t := serialize(e.Data); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return Job{}, false
	}
	answer := answerTokens(branchTokens, o.Window, o.Output)
	j := Job{
		Pieces:       pieces(texts, room(o.Window, answer, 0)),
		Files:        files.lists(),
		maxTokens:    answer,
		instructions: "Summarise this branch of the conversation, which the user is leaving, so that what was learnt there is not lost. Be brief.\n\n" + sections,
	}
	switch {
	case o.Replace && o.Instructions != "":
		j.instructions = o.Instructions
	case o.Instructions != "":
		j.instructions += "\nThe user adds: " + o.Instructions + "\n"
	}
	return j, true
}

// FinishBranch makes the text that is stored for a branch.
func (j Job) FinishBranch(text string) string { return branchPreamble + j.Finish(text) }
