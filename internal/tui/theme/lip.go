package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Lip is the style for components that draw with Lip Gloss.
func (s Style) Lip() lipgloss.Style {
	return lipgloss.NewStyle().
		Foreground(s.Fg.lip()).Background(s.Bg.lip()).
		Bold(s.Attr&Bold != 0).Faint(s.Attr&Faint != 0).Italic(s.Attr&Italic != 0).
		Underline(s.Attr&Underline != 0).Reverse(s.Attr&Reverse != 0).Strikethrough(s.Attr&Strike != 0)
}

// lip is the colour for Lip Gloss, already one that the terminal shows.
func (c Color) lip() color.Color {
	switch {
	case c.kind == noColor:
		return lipgloss.NoColor{}
	case c.kind == rgb:
		return color.RGBA{R: c.r, G: c.g, B: c.b, A: 0xff}
	case c.r < 16:
		return ansi.BasicColor(c.r)
	}
	return ansi.IndexedColor(c.r)
}
