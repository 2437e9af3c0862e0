package transcript

import (
	"image"

	"banyan/internal/llm"
	"banyan/internal/tui/picture"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// pictured is a picture as it was drawn: its first row in an item, and its
// column.
type pictured struct {
	row, column int
	id          uint32
	image       llm.Image
	picture.Picture
}

// Shown is a picture on the screen, for whoever talks to the terminal.
type Shown struct {
	ID      uint32
	X, Y    int // the cell of its upper left corner, from the transcript's
	Columns int // as it was made to fit
	Rows    int
	Image   llm.Image
	Whole   bool // all its rows are on the screen
}

// SetPictures says how pictures are drawn.
func (m *Model) SetPictures(s picture.Screen) {
	if m.screen == s {
		return
	}
	m.keepPlace(func() {
		m.screen = s
		m.redraw()
	})
}

// Pictures are those that the terminal itself draws and of which some is on the
// screen.
func (m *Model) Pictures() []Shown {
	if !m.screen.Way.Pixels() {
		return nil
	}
	var shown []Shown
	y := 0
	for _, p := range m.window() {
		for _, at := range m.draw(p.item).pictures {
			if at.row < p.to && at.row+at.Rows > p.from {
				shown = append(shown, Shown{
					ID: at.id, X: at.column, Y: y + at.row - p.from, Columns: at.Columns, Rows: at.Rows, Image: at.image,
					Whole: at.row >= p.from && at.row+at.Rows <= p.to,
				})
			}
		}
		y += p.to - p.from
	}
	return shown
}

// picture draws a picture in rows. It says whether it did.
func (s *sheet) picture(img llm.Image, indent int) bool {
	screen := s.m.screen
	if screen.Way == picture.Off || !screen.Way.Pixels() && s.th.Profile < theme.ANSI256 {
		return false
	}
	p, ok := picture.Decode(img.Data, s.room(indent), screen)
	if !ok {
		return false
	}
	if screen.Way.Pixels() {
		id := picture.ID(img.Data, p.Columns, s.th.Profile == theme.TrueColor)
		at := pictured{row: len(s.d.rows), column: indent, id: id, image: img, Picture: p}
		at.Picture.Image = nil // it is decoded again when it is sent
		s.d.pictures = append(s.d.pictures, at)
		if screen.Way == picture.Kitty {
			s.placeholders(p, id, indent)
			return true
		}
	}
	s.blocks(p, indent)
	return true
}

// placeholders are the characters in whose place kitty shows the picture.
func (s *sheet) placeholders(p picture.Picture, id uint32, indent int) {
	style := theme.Style{Fg: s.th.Exactly(id)}
	for row := range p.Rows {
		s.put([]rich.Row{{Text: style.Paint(p.Placeholders(row)), Width: p.Columns}}, indent, noSign)
	}
}

// blocks draws a picture in half blocks, two pixels a cell, which any terminal
// with colours can show; below what is written over it, as large as that.
func (s *sheet) blocks(p picture.Picture, indent int) {
	if s.m.screen.Way.Pixels() {
		p.Wide, p.High = p.Columns, 2*p.Rows
	}
	small := p.Scaled()
	for y := 0; y < p.High; y += 2 {
		line := make([]rich.Span, p.Wide)
		for x := range p.Wide {
			line[x] = rich.Chrome("▀", theme.Style{Fg: s.pixel(small, x, y), Bg: s.pixel(small, x, y+1)})
		}
		s.put([]rich.Row{rich.Draw(line)}, indent, noSign)
	}
}

// pixel is the colour of a pixel; none where it is transparent or outside.
func (s *sheet) pixel(img *image.RGBA, x, y int) theme.Color {
	c := img.RGBAAt(x, y)
	if c.A < 0x80 {
		return theme.Color{}
	}
	return s.th.RGB(c.R, c.G, c.B)
}

// images are the pictures of a message.
func images(blocks []llm.Block) []llm.Image {
	var all []llm.Image
	for _, b := range blocks {
		if img, ok := b.(llm.Image); ok {
			all = append(all, img)
		}
	}
	return all
}
