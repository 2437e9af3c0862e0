// Package extension runs other people's programs beside a session. An extension
// is an executable that speaks JSON lines over its standard input and output: it
// hears of occasions and has a say in them, brings tools, commands and keys,
// keeps state in the session, and asks and shows things. docs/extensions.md
// describes the protocol; the types of protocol.go are its shapes.
//
//	engine ──Occasion──▶ Host ──line──▶ extension
//	engine ◀──Command─── Host ◀──line── extension
//
// A [Host] is [engine.Hooks] on one side and a sender of the engine's commands on
// the other, as any front end is. All that it knows belongs to one goroutine; each
// extension has one that reads and one that writes, which know only their pipes.
//
// What an extension does wrong harms nothing: it crashes, hangs, floods, answers
// twice or with garbage, and the user is told once; the session goes on.
package extension
