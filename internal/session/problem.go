package session

// Problem is something that was found and healed, or worked around, on opening,
// or that [Verify] has found.
type Problem struct {
	Line int    `json:"line"` // counted from 1
	Kind string `json:"kind"` // a stable word, e.g. "torn-tail"
	Text string `json:"text"`
}

// maxProblems bounds the list of an opening: a damaged gigabyte is one problem
// to a person.
const maxProblems = 1000

// Kinds of problems, stable words for scripts.
const (
	// Found on opening.

	problemTorn      = "torn-tail"       // the last line was never finished
	problemDamaged   = "unreadable-line" // not JSON, or not an object
	problemNoID      = "no-id"           // an object without a usable id
	problemNoType    = "no-type"
	problemOrphan    = "orphan"        // the parent is not above: it is a root
	problemRecovered = "recovered"     // the parent was damaged: it hangs below the last readable entry
	problemDuplicate = "duplicate-id"  // the later entry has an id of ours
	problemRepeated  = "repeated-line" // the same line twice: one entry
	problemLabel     = "label-target"  // a label of no entry above
	problemHeader    = "header"        // it is damaged; the file is read-only
	problemHeader2   = "second-header"
	problemMore      = "more" // more than maxProblems

	// Found by Verify.

	problemBody    = "undecodable"  // JSON, but not what its type says
	problemUTF8    = "utf-8"        // JSON, but not UTF-8
	problemTime    = "timestamp"    // none, or not RFC 3339
	problemKept    = "first-kept"   // a compaction keeps from what is not on its path
	problemPairing = "tool-pairing" // a call without result or the other way round
	problemNone    = "not-a-session"
)
