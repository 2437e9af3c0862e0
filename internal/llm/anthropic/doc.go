// Package anthropic speaks the Anthropic Messages protocol, on the vendor's SDK
// for its request and event types, its headers and its keys.
//
// The SDK's retries are off, its accumulator and its stream reader are not used:
// it calls a cut stream a success and has no time-outs. [banyan/internal/llm/httpx]
// does that part, [llm.Fold] makes the message.
package anthropic
