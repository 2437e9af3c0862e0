package transcript

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/theme"
)

// stripes is a picture of two stripes, red above blue.
func stripes(t *testing.T, w, h int) llm.Image {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{200, 0, 0, 255}
			if y >= h/2 {
				c = color.RGBA{0, 0, 200, 255}
			}
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return llm.Image{MIME: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}

func TestPicture(t *testing.T) {
	s := &script{}
	s.add(session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: "look"}, stripes(t, 4, 2)}}})
	s.answer(call("1", "read", `{"path":"a.png"}`))
	s.add(session.Message{Message: llm.Message{
		Role: llm.ToolResult, CallID: "1", Content: []llm.Block{stripes(t, 400, 400)},
		Details: tool.EncodeView(tool.Image{Path: "a.png", MIME: "image/png", Width: 400, Height: 400}),
	}})
	m := New(theme.Must("dark", theme.TrueColor))
	m.SetSize(60, 40)
	m.Reset(Entries(s.entries))
	if strings.Contains(m.View(), "▀") {
		t.Error("pictures are drawn before they are asked for")
	}
	m.ExpandTools(true)
	view := m.View()
	if want := "\x1b[38;2;200;0;0;48;2;0;0;200m▀▀▀▀\x1b[m"; !strings.Contains(view, want) {
		t.Errorf("%q is not in %q", want, view)
	}
	if n := strings.Count(text(view), strings.Repeat("▀", 40)+"\n"); n != 20 {
		t.Errorf("the large one takes %d rows of 40 cells, want %d", n, 20)
	}
	wantFrame(t, m)
	m.SetTheme(theme.Must("dark", theme.NoColor))
	if strings.Contains(m.View(), "▀") {
		t.Error("a picture is drawn without colours")
	}
}

// A picture that claims to be huge, or is none, is named and not decoded.
func TestHostilePicture(t *testing.T) {
	huge := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x02\x00\x00\x00")
	crc := crc32.ChecksumIEEE(huge[12:])
	huge = append(huge, byte(crc>>24), byte(crc>>16), byte(crc>>8), byte(crc))
	if about, _, err := image.DecodeConfig(bytes.NewReader(huge)); err != nil || about.Width != 65536 {
		t.Fatalf("the test's picture is not what it should be: %v %v", about, err)
	}
	for _, data := range []string{base64.StdEncoding.EncodeToString(huge), "!", "AAAA", ""} {
		m := New(theme.Must("dark", theme.TrueColor))
		if m.sheet().picture(llm.Image{Data: data}, 2) {
			t.Errorf("%.20q is drawn", data)
		}
	}
}
