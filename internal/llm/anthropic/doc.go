// Package anthropic speaks the Anthropic Messages protocol.
//
// The vendor's SDK is a test of it and no part of it: compiling it takes a
// quarter of the time that the program does. Tests send our requests through the
// SDK's types, and hold every name that we read to them.
package anthropic
