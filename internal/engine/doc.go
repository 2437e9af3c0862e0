// Package engine is the goroutine that owns the session. A front end meets it
// through two sum types: a [Command] goes in with [Engine.Send], an [Event] comes
// out of [Engine.Events]. The screen is told, it never asks.
//
//	front end ──Command──▶ Engine.Run ──owns──▶ session.Manager ──▶ disk
//	front end ◀──Event──── Engine.Run ◀──step── agent.Loop (one per turn)
//
// A turn runs in a goroutine of its own and hands over each change with a
// synchronous step: the loop's emit sends a function to the owner and waits
// until the owner has run it. So "the call is on disk before the tool runs" is
// a property of one line, and cancel, queue and steering are plain fields.
package engine
