// Package highlight says which parts of a piece of code are what: keywords,
// strings, comments.
//
// The data: a language is an XML file of rules, embedded and read when code in
// it is first seen; chroma runs the rules. [Lines] gives runs of a [Kind] for
// each line, and a theme gives a kind its style.
//
// It guesses no language, draws nothing, and would rather leave code plain than
// be slow.
package highlight
