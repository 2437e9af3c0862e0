// Package rule watches what a model writes, while it writes it, for patterns that
// rules name. It is told the events of an answer and says which rule they meet;
// what comes of that is the engine's to do: it ends the answer, adds the rule's
// text, and asks again.
//
//	events of an answer ──Feed──▶ Watch, a window a block ──▶ the rule that is met
//
// A block of the answer is looked at in windows: what is new since the last look,
// and a little of what was before it. So a delta costs the same wherever it comes,
// and a match may be as long as the overlap. Windows begin and end between words,
// at line ends where there are some, so that a pattern means the same in a window
// as in the whole.
package rule
