package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"image/png"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"
)

// Transmit is what gives kitty a picture, to be seen where text stands for it.
// It is asked not to answer. Each sequence goes through wrap, which is for what
// stands between us and the terminal.
func (p Picture) Transmit(id uint32, wrap func(string) string) string {
	var data bytes.Buffer
	if png.Encode(&data, p.Scaled()) != nil {
		return ""
	}
	text := base64.StdEncoding.EncodeToString(data.Bytes())
	var out strings.Builder
	for first := true; first || text != ""; first = false {
		n := min(len(text), kitty.MaxChunkSize)
		piece := text[:n]
		text = text[n:]
		more := "m=0"
		if text != "" {
			more = "m=1"
		}
		options := []string{more, "q=2"}
		if first {
			options = append([]string{"a=T", "U=1", "f=100", fmt.Sprintf("i=%d", id), fmt.Sprintf("c=%d", p.Columns), fmt.Sprintf("r=%d", p.Rows)}, options...)
		}
		out.WriteString(wrap(ansi.KittyGraphics([]byte(piece), options...)))
	}
	return out.String()
}

// Forget has kitty drop a picture.
func Forget(id uint32, wrap func(string) string) string {
	return wrap(ansi.KittyGraphics(nil, "a=d", "d=I", fmt.Sprintf("i=%d", id), "q=2"))
}

// Placeholders are the characters that stand for a row of a picture. Their
// colour says which one: see [ID].
func (p Picture) Placeholders(row int) string {
	var b strings.Builder
	for column := range p.Columns {
		b.WriteRune(kitty.Placeholder)
		b.WriteRune(kitty.Diacritic(row))
		b.WriteRune(kitty.Diacritic(column))
	}
	return b.String()
}

// Overlay is what draws a picture over the cells from column x and row y on,
// counted from 0, and leaves the caret where it was.
func (p Picture) Overlay(w Way, x, y int) string {
	var data bytes.Buffer
	var body string
	switch w {
	case Sixel:
		var e sixel.Encoder
		if e.Encode(&data, p.Scaled()) != nil {
			return ""
		}
		body = ansi.SixelGraphics(0, 1, 0, data.Bytes())
	case ITerm:
		if png.Encode(&data, p.Scaled()) != nil {
			return ""
		}
		body = ansi.ITerm2(iterm2.File{
			Size: int64(data.Len()), Width: iterm2.Cells(p.Columns), Height: iterm2.Cells(p.Rows),
			Inline: true, DoNotMoveCursor: true, Content: []byte(base64.StdEncoding.EncodeToString(data.Bytes())),
		})
	default:
		return ""
	}
	return ansi.SaveCursor + ansi.CursorPosition(x+1, y+1) + body + ansi.RestoreCursor
}

// ID is the number of a picture at a width: a colour of three bytes, or one of
// the upper palette where the terminal is told no others. Different pictures may
// share one of the palette's 240; the later one is seen then.
func ID(data string, columns int, trueColor bool) uint32 {
	h := fnv.New32a()
	h.Write([]byte(data))
	h.Write([]byte{byte(columns)})
	if trueColor {
		return h.Sum32()&0xffffff | 0x010101 // none of its bytes is zero
	}
	return 16 + h.Sum32()%240
}
