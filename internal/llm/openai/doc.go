// Package openai speaks the two protocols of OpenAI: Responses, and Chat
// Completions for the compatible world, whose servers differ in what they leave
// out and what they refuse ([Compat]).
//
// The vendor's SDK is a test of it and no part of it: compiling it takes longer
// than all else in this program. Tests send our requests through the SDK's types,
// and hold every name that we read to them: see decision 7.
package openai
