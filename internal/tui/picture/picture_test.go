package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi/sixel"

	"banyan/internal/tui/termcap"
)

// halves is a picture that is red at its left and blue at its right.
func halves(t *testing.T, w, h int) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{200, 0, 0, 255})
			if x >= w/2 {
				img.Set(x, y, color.RGBA{0, 0, 200, 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func looksLikeHalves(t *testing.T, img image.Image) {
	t.Helper()
	b := img.Bounds()
	left, _, _, _ := img.At(b.Min.X+1, b.Min.Y+1).RGBA()
	_, _, right, _ := img.At(b.Max.X-2, b.Min.Y+1).RGBA()
	if left < 0x8000 || right < 0x8000 {
		t.Errorf("the picture has become another one: red %x, blue %x", left, right)
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		set  Way
		caps termcap.Caps
		want Way
	}{
		{Auto, termcap.Caps{}, Blocks},
		{"", termcap.Caps{Kitty: true, Sixel: true}, Kitty},
		{Auto, termcap.Caps{ITerm: true, Sixel: true}, ITerm},
		{Auto, termcap.Caps{Sixel: true}, Sixel},
		{Off, termcap.Caps{Kitty: true}, Off},
		{Kitty, termcap.Caps{Mux: "tmux"}, Kitty},
	} {
		if got := Choose(tt.set, tt.caps); got != tt.want {
			t.Errorf("%q with %+v: %s, want %s", tt.set, tt.caps, got, tt.want)
		}
	}
}

func TestFit(t *testing.T) {
	cells := Screen{Way: Kitty, CellWidth: 10, CellHeight: 20}
	for _, tt := range []struct{ w, h, room, columns, rows int }{
		{100, 100, 80, 10, 5}, {1, 1, 80, 1, 1}, {4000, 1000, 60, 60, 8}, {1000, 4000, 60, 10, 20}, {4000, 1, 200, 80, 1}, {5, 100_000, 60, 1, 20}, {100, 100, 0, 1, 1},
	} {
		if p := Fit(tt.w, tt.h, tt.room, cells); p.Columns != tt.columns || p.Rows != tt.rows {
			t.Errorf("%d×%d in %d columns: %d×%d cells, want %d×%d", tt.w, tt.h, tt.room, p.Columns, p.Rows, tt.columns, tt.rows)
		}
	}
}

// What kitty is sent is the picture, in pieces that it takes, each through what
// stands between.
func TestTransmit(t *testing.T) {
	p, ok := Decode(halves(t, 700, 300), 60, Screen{Way: Kitty, CellWidth: 10, CellHeight: 20})
	if !ok {
		t.Fatal("not decoded")
	}
	p.Image = noisy(p.Image) // too much for one piece
	wrapped := 0
	text := p.Transmit(0x123456, func(s string) string { wrapped++; return s })
	pieces := regexp.MustCompile("\x1b_G([^;]*);([^\x1b]*)\x1b\\\\").FindAllStringSubmatch(text, -1)
	if len(pieces) < 2 || wrapped != len(pieces) {
		t.Fatalf("%d pieces, %d wrapped", len(pieces), wrapped)
	}
	if !strings.Contains(pieces[0][1], "a=T,U=1,f=100,i=1193046,c=60,r=13,m=1,q=2") || !strings.Contains(pieces[len(pieces)-1][1], "m=0") {
		t.Errorf("options %q … %q", pieces[0][1], pieces[len(pieces)-1][1])
	}
	data := ""
	for _, piece := range pieces {
		if len(piece[2]) > 4096 {
			t.Errorf("a piece of %d bytes", len(piece[2]))
		}
		data += piece[2]
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	looksLikeHalves(t, img)
}

// noisy is a picture that does not compress.
func noisy(img image.Image) image.Image {
	b := img.Bounds()
	out := image.NewRGBA(b)
	seed := uint32(1)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			seed = seed*1664525 + 1013904223
			r, g, bl, _ := img.At(x, y).RGBA()
			out.Set(x, y, color.RGBA{uint8(r>>8) | uint8(seed>>28), uint8(g>>8) | uint8(seed>>26)&15, uint8(bl >> 8), 255})
		}
	}
	return out
}

func TestOverlay(t *testing.T) {
	p, _ := Decode(halves(t, 80, 40), 60, Screen{Way: Sixel, CellWidth: 10, CellHeight: 20})
	text := p.Overlay(Sixel, 3, 7)
	if !strings.HasPrefix(text, "\x1b7\x1b[8;4H\x1bP") || !strings.HasSuffix(text, "\x1b\\\x1b8") {
		t.Fatalf("%.40q … %q", text, text[len(text)-8:])
	}
	body := text[strings.IndexByte(text, 'q')+1 : len(text)-4]
	var d sixel.Decoder
	img, err := d.Decode(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	looksLikeHalves(t, img)
	if text := p.Overlay(ITerm, 0, 0); !strings.Contains(text, "1337;File=") || !strings.Contains(text, "inline=1") {
		t.Errorf("%.80q", text)
	}
	if text := p.Overlay(Blocks, 0, 0); text != "" {
		t.Errorf("%.80q", text)
	}
}

// Pictures at two widths are two pictures; no part of a number is zero, which
// stands for no colour.
func TestID(t *testing.T) {
	a, b := ID("x", 10, true), ID("x", 11, true)
	if a == b || a&0xff == 0 || a>>8&0xff == 0 || a>>16 == 0 || a>>24 != 0 {
		t.Errorf("%x %x", a, b)
	}
	for i := range 1000 {
		if id := ID("x", i, false); id < 16 || id > 255 {
			t.Errorf("%d is no colour of the palette's", id)
		}
	}
}
