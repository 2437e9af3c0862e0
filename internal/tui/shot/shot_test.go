package shot

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"strings"
	"testing"
)

const sample = "\x1b[1mbold\x1b[m \x1b[38;2;10;200;30mgreen\x1b[m <&>\n\x1b[31m▌\x1b[m 日本 \x1b[7mrev\x1b[m"

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := Of(sample, 24, 3, Dark).SVG(&b); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	var text strings.Builder
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			text.Write(c)
		}
	}
	for _, want := range []string{"bold", "green", "<&>", "日", "rev"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the picture: %q", want, text.String())
		}
	}
	for _, want := range []string{`font-weight="bold"`, "#0ac81e", "#e5786d"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
}

// A frame that asks the terminal something gets a picture and no answer.
func TestQueriesDoNotBlock(t *testing.T) {
	if p := Of("\x1b[6n\x1b[cx", 4, 1, Dark); p.cells[0].text != "x" {
		t.Errorf("the first cell is %q", p.cells[0].text)
	}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := Of(sample, 24, 3, Light).PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	colors := map[[3]uint32]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	for _, want := range [][3]uint32{{0xfb, 0xfb, 0xf9}, {0xb9, 0x3a, 0x32}} {
		if !colors[want] {
			t.Errorf("colour %x is nowhere", want)
		}
	}
}
