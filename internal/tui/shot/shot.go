package shot

import (
	"image/color"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// Colors are what a picture has where the frame names no colour.
type Colors struct {
	Fg, Bg color.Color
	// Palette are the sixteen basic colours; nil ones are the usual.
	Palette [16]color.Color
}

// The usual colours of a dark and of a light terminal.
var (
	Dark = Colors{Fg: rgb(0xd7dae0), Bg: rgb(0x16191f), Palette: [16]color.Color{
		rgb(0x1b1e24), rgb(0xe5786d), rgb(0x7fc48d), rgb(0xe0b765), rgb(0x7fb2e5), rgb(0xb79ae0), rgb(0x6fc3c0), rgb(0xc5c9d0),
		rgb(0x6b7280), rgb(0xf09a90), rgb(0x9bd8a8), rgb(0xf0cc85), rgb(0x9cc6f0), rgb(0xcbb4ec), rgb(0x8fd8d4), rgb(0xffffff),
	}}
	Light = Colors{Fg: rgb(0x24292f), Bg: rgb(0xfbfbf9), Palette: [16]color.Color{
		rgb(0x24292f), rgb(0xb93a32), rgb(0x2e7d46), rgb(0x8f6500), rgb(0x2563a8), rgb(0x7648b0), rgb(0x1c7a78), rgb(0xb5bac2),
		rgb(0x8a919b), rgb(0xcf5b52), rgb(0x47a065), rgb(0xa88017), rgb(0x447fc0), rgb(0x8e66c4), rgb(0x349390), rgb(0xffffff),
	}}
)

func rgb(v uint32) color.Color {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// Picture is a grid of cells.
type Picture struct {
	Width, Height int // cells
	cells         []cell
	colors        Colors
}

// cell is one cell as it is drawn. Those that a wide character covers are empty.
type cell struct {
	text                            string
	fg, bg                          color.Color
	bold, italic, underline, strike bool
	width                           int
}

// Of draws a frame, lines with styles, on a screen of w by h cells.
func Of(frame string, w, h int, c Colors) Picture {
	e := vt.NewEmulator(w, h)
	if answers, ok := e.InputPipe().(io.Closer); ok {
		answers.Close() // nobody listens: without this a frame that asks something would wait
	}
	io.WriteString(e, strings.ReplaceAll(frame, "\n", "\r\n"))
	p := Picture{Width: w, Height: h, colors: c, cells: make([]cell, w*h)}
	for y := range h {
		for x := range w {
			p.cells[y*w+x] = p.read(e.CellAt(x, y))
		}
	}
	return p
}

func (p Picture) read(c *uv.Cell) cell {
	if c == nil {
		return cell{text: " ", fg: p.colors.Fg, bg: p.colors.Bg, width: 1}
	}
	s := c.Style
	out := cell{
		text: c.Content, width: c.Width,
		fg: p.color(s.Fg, p.colors.Fg), bg: p.color(s.Bg, p.colors.Bg),
		bold: s.Attrs&uv.AttrBold != 0, italic: s.Attrs&uv.AttrItalic != 0,
		strike: s.Attrs&uv.AttrStrikethrough != 0, underline: s.Underline != 0,
	}
	if s.Attrs&uv.AttrReverse != 0 {
		out.fg, out.bg = out.bg, out.fg
	}
	if s.Attrs&uv.AttrFaint != 0 {
		out.fg = mix(out.fg, out.bg)
	}
	return out
}

// color is a cell's colour; the basic ones are the picture's.
func (p Picture) color(c, usual color.Color) color.Color {
	if c == nil {
		return usual
	}
	for i := range 16 {
		if c == basic(i) && p.colors.Palette[i] != nil {
			return p.colors.Palette[i]
		}
	}
	return c
}

func mix(a, b color.Color) color.Color {
	x, y := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA)
	half := func(p, q uint8) uint8 { return uint8((int(p) + int(q)) / 2) }
	return color.RGBA{half(x.R, y.R), half(x.G, y.G), half(x.B, y.B), 0xff}
}
