// Package permission decides whether a tool call may run: allow, ask, deny.
//
// The data: a [Rule] is a line of settings in Claude Code's syntax, such as
// "Bash(npm run *)", "Edit(src/**)" or "WebFetch(domain:go.dev)". A [Policy] is
// the rules, a mode and the workspace; [Policy.Decide] is a pure function of
// those, the call and the links on the disk. Any rule that denies wins, then any
// that asks, then any that allows, then the mode.
//
// A shell command is judged by its parse tree, part by part. It is allowed only
// if all of it is understood: plain words, joined by && || ; and |. What is not
// understood asks. Without rules, what only reads is allowed: see safe.go, which
// is a table of programs and of the options that make them do more.
//
// It runs nothing, asks nobody and stores nothing. It is no sandbox either: a
// program that is allowed can do what it likes.
package permission
