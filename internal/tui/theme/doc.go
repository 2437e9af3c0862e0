// Package theme gives styles by meaning: a [Theme] says what a heading, a
// failure, an added line look like, and no one else names a colour.
//
// The data: a theme is a JSON file, shipped (dark, light, contrast, ansi16,
// daltonised) or the user's. [Load] reads it for what the terminal can show and
// gives a plain value of finished styles; there is no state, nothing is
// registered, and the terminal is never asked anything.
//
// It lays nothing out and knows no widths.
package theme
