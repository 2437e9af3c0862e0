// Package httpx is the HTTP that all providers share: a transport that turns
// every fault of a network, a proxy or a server into one [llm.Error], a reader
// of server-sent events, and the loop that makes an answer of them.
//
// The data flows one way:
//
//	provider's decoder ◀─ [Event] ◀─ [Reader] ◀─ watched body ◀─ transport
//
// What is the same for all is done here, once: idle time-outs (any byte counts),
// the demand for a terminal event, checking that the answer is a stream at all,
// redirects that never leave the origin, and keys that never reach an error's
// text.
//
// It knows no provider's protocol and does not retry: see [llm.WithRetry].
package httpx
