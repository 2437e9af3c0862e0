// Package llm is the vocabulary of models: messages, requests, the events of a
// streamed answer, usage and cost, the one-method [Client], and the [Error]
// that every client returns.
//
// The data: a [Request] goes in, a sequence of [Event] values comes out, and
// folding those events with a [Fold] gives the assistant's [Message]. There is
// one fold for all providers, so no provider assembles messages.
//
// It is not a provider (those are the packages below it), it knows no files, no
// sessions and no screen, and it imports nothing of ours.
package llm
