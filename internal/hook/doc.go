// Package hook runs commands of the user's, and of projects that are trusted,
// when something happens: before and after a tool call, when a prompt is sent,
// when a turn wants to end. Settings, input, exit codes and output are those of
// Claude Code's hooks, so that what users have written works here as it is; four
// events about the tree are ours.
//
//	settings ──Parse──▶ []Hook ──▶ Runner
//	Input ──Run──▶ those that match, side by side ──▶ Outcome, the strictest
//
// A hook is somebody else's program. It has a time limit, its output is bounded,
// its environment holds no keys, and what it starts ends with it. Whatever goes
// wrong with it is a [Fault], told once, and never stops a session. One that is
// not in the user's own settings runs only as it was when the user approved it.
//
// A [Link] joins them to an engine. The package knows nothing of screens.
package hook
