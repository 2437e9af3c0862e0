package transcript

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif" // the formats that providers take
	_ "image/jpeg"
	_ "image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"banyan/internal/llm"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

const (
	// pictureRows and pictureColumns are how large a picture is drawn at most, in cells.
	pictureRows    = 20
	pictureColumns = 80
	// maxPixels is the size beyond which a picture is not decoded: a small file
	// may claim any.
	maxPixels = 40_000_000
)

// picture draws a picture in half blocks, two pixels a cell, which any terminal
// with colours can show. It says whether it did.
func (s *sheet) picture(img llm.Image, indent int) bool {
	if s.th.Profile < theme.ANSI256 {
		return false
	}
	data, err := base64.StdEncoding.DecodeString(img.Data)
	if err != nil {
		return false
	}
	about, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || about.Width <= 0 || about.Height <= 0 || about.Width > maxPixels/about.Height {
		return false
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	w, h := pictureSize(about.Width, about.Height, min(s.room(indent), pictureColumns))
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), decoded, decoded.Bounds(), draw.Src, nil)
	for y := 0; y < h; y += 2 {
		line := make([]rich.Span, w)
		for x := range w {
			line[x] = rich.Chrome("▀", theme.Style{Fg: s.pixel(small, x, y), Bg: s.pixel(small, x, y+1)})
		}
		s.put([]rich.Row{rich.Draw(line)}, indent, noSign)
	}
	return true
}

// pixel is the colour of a pixel; none where it is transparent or outside.
func (s *sheet) pixel(img *image.RGBA, x, y int) theme.Color {
	c := img.RGBAAt(x, y)
	if c.A < 0x80 {
		return theme.Color{}
	}
	return s.th.RGB(c.R, c.G, c.B)
}

// pictureSize is the size in pixels that a picture is drawn at: within the
// columns and rows that there are, never larger than it is.
func pictureSize(width, height, columns int) (w, h int) {
	w, h = width, height
	if w > columns {
		w, h = columns, max(h*columns/w, 1)
	}
	if h > 2*pictureRows {
		w, h = max(w*2*pictureRows/h, 1), 2*pictureRows
	}
	return w, h
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
