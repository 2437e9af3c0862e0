// Package theme gives styles by meaning: a [Theme] says what a heading, a
// failure, an added line look like, and no one else names a colour.
//
// The data: a theme is a JSON file, shipped (dark, light, contrast, ansi16,
// daltonised) or the user's. [Load] reads it for what the terminal can show and
// gives a plain value of finished styles; there is no state, nothing is
// registered, and the terminal is never asked anything.
//
//	{
//	  "extends": "dark",                      a shipped theme, for what is not said here
//	  "colors": {"sea": "#4aa8a0|73"},        names; after a bar the colour of the 256
//	  "styles": {
//	    "heading": "sea bold",                foreground, attributes
//	    "selection": "default on #203040"     background
//	  }
//	}
//
// The keys of styles are the fields of [Theme], in lower case, a dash between
// words; a colour is #rrggbb, a number from 0 to 255, default, or a name;
// attributes are bold, faint, italic, underline, reverse, strike.
//
// It lays nothing out and knows no widths.
package theme
