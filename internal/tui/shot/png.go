package shot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fontSize is the size of characters in PNG, in pixels.
const fontSize = 16

// systemFonts are tried first, because they have more signs than the embedded ones.
var systemFonts = [3]string{
	"/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
	"/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf",
	"/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Oblique.ttf",
}

// PNG writes the picture as pixels. Characters that no font at hand has are
// drawn as boxes.
func (p Picture) PNG(w io.Writer) error {
	f, err := loadFonts()
	if err != nil {
		return err
	}
	pad := f.height / 2
	img := image.NewRGBA(image.Rect(0, 0, p.Width*f.width+2*pad, p.Height*f.height+2*pad))
	draw.Draw(img, img.Bounds(), image.NewUniform(p.colors.Bg), image.Point{}, draw.Src)
	for i, c := range p.cells { // backgrounds first: signs may reach over
		x, y := pad+i%p.Width*f.width, pad+i/p.Width*f.height
		fill(img, image.Rect(x, y, x+max(c.width, 1)*f.width, y+f.height), c.bg)
	}
	for i, c := range p.cells {
		f.draw(img, c, pad+i%p.Width*f.width, pad+i/p.Width*f.height)
	}
	return png.Encode(w, img)
}

// fonts are the faces of cells: regular, bold, italic, each with others behind.
type fonts struct {
	faces         [3][]face
	width, height int // of a cell, in pixels
	ascent        int
}

type face struct {
	font.Face
	font *sfnt.Font
}

func loadFonts() (*fonts, error) {
	embedded := [3][]byte{gomono.TTF, gomonobold.TTF, gomonoitalic.TTF}
	f := &fonts{}
	for i := range f.faces {
		data := [][]byte{embedded[i]}
		if system, err := os.ReadFile(systemFonts[i]); err == nil {
			data = [][]byte{system, embedded[i]}
		}
		for _, d := range data {
			parsed, err := opentype.Parse(d)
			if err != nil {
				return nil, fmt.Errorf("reading a font for the picture: %w", err)
			}
			made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
			if err != nil {
				return nil, fmt.Errorf("reading a font for the picture: %w", err)
			}
			f.faces[i] = append(f.faces[i], face{made, parsed})
		}
	}
	advance, _ := f.faces[0][0].GlyphAdvance('m')
	m := f.faces[0][0].Metrics()
	f.width, f.height = advance.Round(), (m.Ascent + m.Descent).Ceil()
	f.ascent = m.Ascent.Ceil()
	return f, nil
}

// draw draws the character of a cell.
func (f *fonts) draw(img *image.RGBA, c cell, x, y int) {
	style := 0
	switch {
	case c.bold:
		style = 1
	case c.italic:
		style = 2
	}
	w := max(c.width, 1) * f.width
	for _, r := range c.text {
		if r == ' ' {
			break
		}
		if box, ok := blockElement(r, x, y, f.width, f.height); ok {
			fill(img, box, c.fg)
			break
		}
		made, ok := f.find(style, r)
		if !ok {
			frame(img, image.Rect(x+2, y+3, x+w-2, y+f.height-3), c.fg)
			break
		}
		d := font.Drawer{Dst: img, Src: image.NewUniform(c.fg), Face: made, Dot: fixed.P(x, y+f.ascent)}
		d.DrawString(string(r))
		if c.width > 1 {
			break // marks of a cluster would land beside it
		}
	}
	if c.underline {
		fill(img, image.Rect(x, y+f.ascent+2, x+w, y+f.ascent+3), c.fg)
	}
	if c.strike {
		fill(img, image.Rect(x, y+f.height/2, x+w, y+f.height/2+1), c.fg)
	}
}

// find is the first face that has a character.
func (f *fonts) find(style int, r rune) (font.Face, bool) {
	for _, candidate := range append(f.faces[style][:len(f.faces[style]):len(f.faces[style])], f.faces[0]...) {
		var buf sfnt.Buffer
		if i, err := candidate.font.GlyphIndex(&buf, r); err == nil && i != 0 {
			return candidate, true
		}
	}
	return nil, false
}

// blockElement is the part of a cell that a left block fills; fonts leave gaps.
func blockElement(r rune, x, y, w, h int) (image.Rectangle, bool) {
	if r < '█' || r > '▏' {
		return image.Rectangle{}, false
	}
	eighths := int('▏'-r) + 1
	return image.Rect(x, y, x+(w*eighths+7)/8, y+h), true
}

func fill(img *image.RGBA, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

func frame(img *image.RGBA, r image.Rectangle, c color.Color) {
	fill(img, image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+1), c)
	fill(img, image.Rect(r.Min.X, r.Max.Y-1, r.Max.X, r.Max.Y), c)
	fill(img, image.Rect(r.Min.X, r.Min.Y, r.Min.X+1, r.Max.Y), c)
	fill(img, image.Rect(r.Max.X-1, r.Min.Y, r.Max.X, r.Max.Y), c)
}
