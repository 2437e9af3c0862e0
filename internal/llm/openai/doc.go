// Package openai speaks the two protocols of OpenAI, on the vendor's SDK for
// their types: Responses, and Chat Completions for the compatible world, whose
// servers differ in what they leave out and what they refuse ([Compat]).
//
// The SDK's retries are off, its accumulator and its stream reader are not
// used: see the package httpx.
package openai
