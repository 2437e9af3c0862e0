// Package editor is where prompts are written: a multi-line text field with
// undo, a kill ring, history, completion and folded pastes.
//
// The data is a [buffer] of lines and a caret. Every change of the text goes
// through one primitive, replace, which is what makes undo a list of pairs. A
// key costs the lines that are seen and the line that is edited, however long
// the text is: nothing is laid out that is not on the screen.
//
// A large paste and an image are one rune each in the buffer, of a private
// plane, and a [chip] in a table: they are drawn as "[Pasted #1 +32 lines]",
// move and vanish as one, and are put back in full by [Model.Value].
//
// It reads no files, asks nobody, and sends nothing: completion comes from
// functions that it is given, and its owner reads the text.
package editor
