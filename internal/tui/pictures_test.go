package tui_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"

	uv "github.com/charmbracelet/ultraviolet"
)

// pictured is a prompt with a picture of 100 by 100 pixels.
func pictured() session.Message {
	var b bytes.Buffer
	must(png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 100, 100))))
	return session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{
		llm.Text{Text: "look at this"}, llm.Image{MIME: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())},
	}}}
}

const placeholder = "\U0010EEEE"

// Kitty is sent a picture once, when it is first seen; text stands for it
// wherever it goes.
func TestKittyPictures(t *testing.T) {
	d := tuitest.New(t).Open().Append(pictured(), answer("seen"))
	d.Resize(80, 24)
	if raw := d.Raw(); strings.Contains(raw, "\x1b_G") || strings.Contains(d.Screen(), placeholder) {
		t.Fatalf("a terminal that did not say that it can was sent %q", raw)
	}
	d.Send(uv.KittyGraphicsEvent{Payload: []byte("OK")}).Send(uv.CellSizeEvent{Width: 10, Height: 20})
	d.Sees(placeholder, "look at this", "seen")
	raw := d.Raw()
	last := raw[strings.LastIndex(raw, "a=T"):]
	if !strings.Contains(last, "c=10,r=5") {
		t.Errorf("sent %.80q", last)
	}
	if n := strings.Count(d.Screen(), placeholder); n != 50 {
		t.Errorf("%d cells stand for the picture, want 50", n)
	}
	d.Append(user(strings.Repeat("more\n", 12)), user(strings.Repeat("more\n", 12))).Misses(placeholder).Press("ctrl+home").Sees(placeholder)
	if raw := d.Raw(); raw != "" {
		t.Errorf("scrolled back to, it was sent again: %.80q", raw)
	}
	d.Press("ctrl+l")
	if raw := d.Raw(); strings.Count(raw, "a=T") != 1 {
		t.Errorf("on a screen that is drawn anew it was sent %d times", strings.Count(raw, "a=T"))
	}
}

// Sixels are written over their cells once these stand still and are wholly
// seen, and not again while nothing moves.
func TestSixelPictures(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) { o.Images = "sixel" }).Open().Append(pictured(), answer("seen"))
	d.Resize(80, 24)
	d.Advance(time.Second)
	if raw := d.Raw(); strings.Count(raw, "\x1bP0;1q") != 1 {
		t.Fatalf("written %d times", strings.Count(raw, "\x1bP0;1q"))
	}
	d.Advance(time.Minute).Type("typing moves nothing")
	if raw := d.Raw(); raw != "" {
		t.Errorf("at rest it was written again: %.60q", raw)
	}
	d.Append(user(strings.Repeat("more\n", 12))).Advance(time.Second)
	if raw := d.Raw(); raw != "" {
		t.Errorf("half out of view it was written: %.60q", raw)
	}
	d.Press("ctrl+home").Advance(time.Second)
	if raw := d.Raw(); strings.Count(raw, "\x1bP0;1q") != 1 {
		t.Errorf("back in view it was written %d times", strings.Count(raw, "\x1bP0;1q"))
	}
	d.Press("ctrl+u").Type("/").Advance(time.Second).Press("backspace").Advance(time.Second)
	if raw := d.Raw(); strings.Count(raw, "\x1bP0;1q") != 1 {
		t.Errorf("after completions stood over it, it was written %d times", strings.Count(raw, "\x1bP0;1q"))
	}
	if n := d.Timers(); n != 0 {
		t.Errorf("%d timers run at rest", n)
	}
}

func TestPicturesOff(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) { o.Images = "off" }).Open().Append(pictured())
	d.Send(uv.KittyGraphicsEvent{Payload: []byte("OK")}).Press("ctrl+o").Sees("cannot be drawn").Misses(placeholder, "▀")
}
