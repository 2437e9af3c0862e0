// Package tool is what a model can do: one file a tool, with its prompt beside
// it. A [Tool] is a value: what the model is told of it, and a function. A
// [Result] has three readers: Content goes to the model, [View] to the screen and
// into the session file, Err to both.
//
// A tool asks nobody for permission and knows no engine and no screen.
package tool
