// Package gemini speaks Google's Gemini API, on the types of the vendor's SDK.
//
// Only the types: the SDK's client writes to the process's log, which a screen
// cannot have, keeps big numbers of a call's arguments as floats, and offers no
// raw request. That our requests are those that it would send is a test.
package gemini
