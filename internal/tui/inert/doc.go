// Package inert is the one door between text from outside and the terminal:
// answers, thinking, tool output, file names, titles, labels, error texts. What
// has passed it cannot move a cursor, set a title, reach a clipboard, reorder a
// line or hide in it. Nothing is taken away in silence: what is not text becomes
// a visible sign, so that an attack looks like one.
//
// It works rune by rune on the whole text that is there so far, so a sequence
// that arrives in two pieces is as harmless as one that arrives at once. Clean
// text is returned as it is, without allocation.
//
// It keeps no styles and parses no escape sequences ([Output] drops the
// well-formed ones that programs colour their output with); it knows no widths.
package inert
