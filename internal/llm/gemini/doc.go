// Package gemini speaks Google's Gemini API.
//
// The vendor's SDK is a test of it and no part of it: its client writes to the
// process's log, which a screen cannot have, keeps big numbers of a call's
// arguments as floats, offers no raw request, and costs 8 MB. Tests compare
// what we send with what the SDK sends, and read what the SDK's types say.
package gemini
