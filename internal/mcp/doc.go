// Package mcp runs other people's tools: servers of the Model Context Protocol,
// as programs of this machine or behind HTTP, on the official SDK.
//
//	files ──Parse──▶ []Server ──Host.Set──▶ one goroutine a server ──▶ SDK session
//	                                             │ publishes
//	front end ◀──Changed, Tell── Host ◀── State, a value that never changes
//
// A [Server] is what a file says of one. The [Host] has a goroutine for each,
// which owns the server's life: it starts it in the background, lists what it
// offers, listens for changes, and starts it again when it ends by itself. What
// others want of it (to disable it, to start it again) is an order to that
// goroutine; what they may know of it is its [State].
//
// Everything that comes from a server is somebody else's word. A server of a
// project starts when the user has approved it; what servers say of their tools
// is pinned when it is first seen and held back when it changes; what they send
// is bounded before it is parsed; names are cleaned to what providers take; and
// a hint that a tool only reads spares nobody a question. Text is not fit for a
// terminal as it is.
//
// Whatever a server does wrong, its user is told once, and everything else goes
// on. The package asks nobody, draws nothing, and knows no model.
package mcp
