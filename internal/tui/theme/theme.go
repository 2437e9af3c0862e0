package theme

import "image/color"

// Theme says how each meaning looks. It is a plain value; take it with [Load].
// The field names, in lower case with a dash between words, are the keys of a
// theme file.
type Theme struct {
	// Name is how it was asked for. Dark says which background it is made for.
	Name string
	Dark bool
	// Profile is how many colours the styles were made for.
	Profile Profile

	// Text of any kind.
	Text   Style // what is read
	Dim    Style // what is read when it is looked for
	Faint  Style // rules, gutters, what only gives shape
	Strong Style // names and titles
	Accent Style // what can be acted on, and our own mark

	// People and machines.
	User      Style // what the user wrote
	UserBar   Style // the bar at its left
	Thinking  Style
	Tool      Style // a tool's name
	Subject   Style // what it was called with
	Output    Style // what it gave
	Summary   Style // compactions, summaries of branches
	Sibling   Style // ‹2/3›
	Label     Style // [label]
	Selection Style // selected text, the selected row
	Match     Style // what a search found
	Cursor    Style // a drawn cursor, where there is no real one

	// How things are.
	Success Style
	Warning Style
	Failure Style
	Running Style

	// Frame.
	Border   Style // of overlays
	Title    Style // of overlays
	Key      Style // a key in a hint
	Hint     Style // what it does
	Footer   Style
	Bar      Style // the full part of a bar
	BarFull  Style // the full part of a bar that is nearly full
	BarTrack Style // the empty part
	Guide    Style // connectors of a tree
	Active   Style // marks of the active path

	// Markdown.
	Heading  Style
	Emphasis Style
	Bold     Style
	Struck   Style
	Code     Style // within a line
	Block    Style // code of an unknown language
	Fence    Style // the language above a block
	Link     Style
	URL      Style
	Quote    Style
	Bullet   Style
	Rule     Style // lines of tables, thematic breaks

	// Diffs.
	Added       Style
	Removed     Style
	AddedWord   Style // what changed within an added line
	RemovedWord Style
	Hunk        Style
	LineNumber  Style

	// Code.
	Keyword  Style
	Type     Style
	Function Style
	String   Style
	Number   Style
	Comment  Style
	Operator Style
	Constant Style
	Variable Style
	Markup   Style // tags, attributes, keys of data
}

// Quiet is the theme for text that is to stand back: thinking.
func (t Theme) Quiet() Theme {
	t.Text = t.Thinking
	t.Block, t.Code = t.Dim, t.Dim
	t.Heading = t.Thinking.With(Bold)
	t.Quote = t.Thinking
	return t
}

// Exactly is a colour that is a number to the terminal: three bytes, or one of
// the palette below 256.
func (t Theme) Exactly(id uint32) Color {
	if id < 256 {
		return Color{kind: indexed, r: uint8(id)}
	}
	return Color{kind: rgb, r: uint8(id >> 16), g: uint8(id >> 8), b: uint8(id)}
}

// RGB is a colour for pictures, as near as the terminal has it.
func (t Theme) RGB(r, g, b uint8) Color { return fit(color.RGBA{R: r, G: g, B: b, A: 0xff}, t.Profile) }
