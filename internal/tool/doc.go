// Package tool is what a model can do: one file a tool, with its prompt and
// schema beside its function. A [Tool] is a value: what the model is told of it,
// and a function. A [Result] has three readers: Content goes to the model,
// [View] to the screen and into the session file, Err to both.
//
// What tools share is in one [Env]: the workspace, what the model has seen of
// each file, a private temporary folder, the background jobs. [All] makes the
// tools of an Env.
//
// A path that a model names inside the workspace is opened below it and nowhere
// else, whatever links appear in the meantime: see place.go.
//
// A tool asks nobody for permission and knows no engine and no screen.
package tool
