// Package picture puts pictures on a terminal, in the best way that it has.
//
//	base64 ──Decode──▶ image ──Fit──▶ cells ──▶ blocks, drawn as text
//	                                       ├──▶ kitty: sent once, then text that stands for it
//	                                       └──▶ sixel, iTerm2: written over the cells
//
// The data: a [Way] says how, a [Screen] how large a cell is. What kitty draws
// is placed by text, characters that name the picture and the part of it that
// is to be seen there, so that scrolling and redrawing need not know of it. The
// other two know no such thing: [Overlay] writes over cells that hold blocks,
// and whoever writes has to write again where these have moved.
//
// It keeps nothing and writes nothing itself.
package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif" // the formats that providers take
	_ "image/jpeg"
	_ "image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"banyan/internal/tui/termcap"
)

// Way is how pictures are drawn. The values are those of the setting.
type Way string

// The ways. Auto is for settings only: [Choose] makes another one of it.
const (
	Auto   Way = "auto"
	Kitty  Way = "kitty"
	Sixel  Way = "sixel"
	ITerm  Way = "iterm"
	Blocks Way = "blocks" // two pixels a cell, in colours
	Off    Way = "off"    // they are named only
)

// Choose is the way that a setting means on a terminal.
func Choose(set Way, c termcap.Caps) Way {
	switch {
	case set != Auto && set != "":
		return set
	case c.Kitty:
		return Kitty
	case c.ITerm:
		return ITerm
	case c.Sixel:
		return Sixel
	}
	return Blocks
}

// Pixels says whether the terminal itself draws pictures.
func (w Way) Pixels() bool { return w == Kitty || w == Sixel || w == ITerm }

// Screen is how pictures are drawn on a terminal.
type Screen struct {
	Way Way
	// CellWidth and CellHeight are in pixels; 0 for what is usual.
	CellWidth, CellHeight int
}

// cell is the size of a cell in pixels; of blocks, one by two.
func (s Screen) cell() (w, h int) {
	switch {
	case !s.Way.Pixels():
		return 1, 2
	case s.CellWidth <= 0 || s.CellHeight <= 0:
		return 10, 20
	}
	return s.CellWidth, s.CellHeight
}

const (
	// mostColumns and mostRows are how large a picture is drawn at most, in cells.
	mostColumns, mostRows = 80, 20
	// maxPixels is the size beyond which a picture is not decoded: a small file
	// may claim any.
	maxPixels = 40_000_000
)

// Picture is a picture of a size in cells.
type Picture struct {
	image.Image
	Columns, Rows int
	// Wide and High are its size in pixels on the screen.
	Wide, High int
}

// Decode reads a picture, and makes it fit into so many columns. It says whether
// it is one.
func Decode(data string, columns int, s Screen) (Picture, bool) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Picture{}, false
	}
	about, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || about.Width <= 0 || about.Height <= 0 || about.Width > maxPixels/about.Height {
		return Picture{}, false
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return Picture{}, false
	}
	p := Fit(about.Width, about.Height, columns, s)
	p.Image = img
	return p, true
}

// Fit is the size of a picture of so many pixels: within the columns and rows
// that there are, never larger than it is.
func Fit(width, height, columns int, s Screen) Picture {
	cw, ch := s.cell()
	w, h := width, height
	if most := max(min(columns, mostColumns), 1) * cw; w > most {
		w, h = most, max(h*most/w, 1)
	}
	if most := mostRows * ch; h > most {
		w, h = max(w*most/h, 1), most
	}
	return Picture{Columns: (w + cw - 1) / cw, Rows: (h + ch - 1) / ch, Wide: w, High: h}
}

// Scaled is the picture with as many pixels as the screen shows of it.
func (p Picture) Scaled() *image.RGBA {
	small := image.NewRGBA(image.Rect(0, 0, p.Wide, p.High))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), p.Image, p.Bounds(), draw.Src, nil)
	return small
}
