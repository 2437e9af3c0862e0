// Package tui is the chat screen: it turns keys into engine commands, and
// engine events into frames.
//
//	keys ──▶ overlay on top ──▶ key table ──▶ editor
//	            │ continuation      │ run
//	            ▼                   ▼
//	         flow_*.go ───────▶ Engine.Send(Command)
//
//	Engine.Events ──▶ forwarder ──▶ Events (a batch) ──▶ fold ──▶ View
//
// The data: [Model] holds what the engine last told it (a snapshot, the state,
// the queue, what runs), the parts of the screen, and a stack of overlays.
// Focus is the top of the stack; there is no other notion of it. What keys and
// commands do stands in two tables, keys.go and commands.go; what has steps is a
// flow in a file of its own.
//
//	a new key       a row in bindings (keys.go)
//	a new command   a row in commands (commands.go), and flow_x.go if it has steps
//	a new event     a case in take (fold.go)
//	a question      choose, prompt, page or push, with a continuation
//	slow work       a tea.Cmd whose answer is a message that says itself what
//	                comes of it (apply), or that an overlay knows as its own
//
// The screen is told, it never asks: nothing here reads a session file, calls a
// model or waits. A tea.Cmd carries values and its order means nothing; what has
// to be in order goes through Send, in Update.
package tui
