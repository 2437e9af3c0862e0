package shot

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// basic is a basic colour as the emulator gives it.
func basic(i int) color.Color { return ansi.BasicColor(i) }

// Cells are drawn at this size in SVG, in its units.
const (
	svgWidth  = 8.4
	svgHeight = 18.0
	svgPad    = 12.0
)

// SVG writes the picture as text in a monospaced font of the viewer's.
func (p Picture) SVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`+"\n",
		float64(p.Width)*svgWidth+2*svgPad, float64(p.Height)*svgHeight+2*svgPad)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", hex(p.colors.Bg))
	for y := range p.Height {
		p.svgRow(&b, y)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// svgRow writes a row: runs of one look, each at its own place, so that a font
// with other widths does not push what follows.
func (p Picture) svgRow(b *strings.Builder, y int) {
	top := svgPad + float64(y)*svgHeight
	for x := 0; x < p.Width; {
		c := p.cells[y*p.Width+x]
		end := x + max(c.width, 1)
		text := c.text
		for c.width == 1 && end < p.Width {
			d := p.cells[y*p.Width+end]
			if d.width != 1 || !sameLook(c, d) {
				break
			}
			text += d.text
			end++
		}
		left, width := svgPad+float64(x)*svgWidth, float64(end-x)*svgWidth
		if c.bg != p.colors.Bg {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, width, svgHeight, hex(c.bg))
		}
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
				left, top+svgHeight*0.75, width, hex(c.fg), svgLook(c), html.EscapeString(text))
		}
		x = end
	}
}

func sameLook(a, b cell) bool {
	a.text, b.text = "", ""
	return a == b
}

func svgLook(c cell) string {
	s := ""
	if c.bold {
		s += ` font-weight="bold"`
	}
	if c.italic {
		s += ` font-style="italic"`
	}
	switch {
	case c.underline:
		s += ` text-decoration="underline"`
	case c.strike:
		s += ` text-decoration="line-through"`
	}
	return s
}

func hex(c color.Color) string {
	v := color.RGBAModel.Convert(c).(color.RGBA)
	return fmt.Sprintf("#%02x%02x%02x", v.R, v.G, v.B)
}
