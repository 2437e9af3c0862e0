package theme

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// Profile is how many colours the terminal shows.
type Profile uint8

// The profiles, in rising order.
const (
	NoColor Profile = iota // attributes only: NO_COLOR, or a terminal without colours
	ANSI16
	ANSI256
	TrueColor
)

// parseColor reads a colour and brings it down to what the profile can show.
// After a bar may stand the one to take from a palette of 256, which has no dark
// or pale tones but grey.
func parseColor(text string, p Profile) (Color, error) {
	if full, palette, ok := strings.Cut(text, "|"); ok {
		if text = full; p == ANSI256 {
			text = palette
		}
	}
	if text == "default" {
		return Color{}, nil
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		return fit(ansi.IndexedColor(n), p), nil
	}
	if len(text) == 7 && text[0] == '#' {
		if n, err := strconv.ParseUint(text[1:], 16, 24); err == nil {
			return fit(color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, p), nil
		}
	}
	return Color{}, fmt.Errorf("%q is not a colour: want #rrggbb, 0 to 255, default, or a name from \"colors\"", text)
}

// fit is the nearest colour of a profile.
func fit(c color.Color, p Profile) Color {
	i, isIndex := c.(ansi.IndexedColor)
	switch {
	case p == NoColor:
		return Color{}
	case isIndex && (i < 16 || p >= ANSI256):
		return Color{kind: indexed, r: uint8(i)}
	case p == ANSI16:
		return Color{kind: indexed, r: uint8(ansi.Convert16(c))}
	case p == ANSI256:
		return Color{kind: indexed, r: nearest256(color.RGBAModel.Convert(c).(color.RGBA))}
	}
	v := color.RGBAModel.Convert(c).(color.RGBA)
	return Color{kind: rgb, r: v.R, g: v.G, b: v.B}
}

// nearest256 is the palette colour that is nearest to the eye. The sixteen basic
// ones are left out: nobody knows how they look. A quiet grey-blue becomes a
// grey, not the lilac that the cube has near it.
func nearest256(c color.RGBA) uint8 {
	best, least := 0, 1<<62
	for i, p := range palette() {
		// Differences weigh by how much red there is (CompuPhase, "redmean").
		red := (int(c.R) + int(p.R)) / 2
		r, g, b := int(c.R)-int(p.R), int(c.G)-int(p.G), int(c.B)-int(p.B)
		d := (512+red)*r*r/256 + 4*g*g + (767-red)*b*b/256
		if d < least {
			best, least = i, d
		}
	}
	return uint8(16 + best)
}

// palette are the colours 16 to 255.
var palette = sync.OnceValue(func() []color.RGBA {
	colors := make([]color.RGBA, 240)
	for i := range colors {
		colors[i] = color.RGBAModel.Convert(ansi.IndexedColor(16 + i)).(color.RGBA)
	}
	return colors
})
