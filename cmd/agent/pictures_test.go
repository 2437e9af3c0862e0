package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/store"
)

// In a terminal that says that it draws pictures one is sent once, drawn by text
// in its place, and forgotten at the end.
func TestPicturesInATerminal(t *testing.T) {
	h := newHome(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	m, err := session.New(session.Project(h.work), h.work, session.Options{Store: store.Files{Dir: h.dir + "/.local/share/banyan/sessions"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.AppendAll(
		session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: "look at this"}, llm.Image{MIME: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}}}},
		session.Message{Message: llm.Message{Role: llm.Assistant, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "I see it"}}}},
	); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	tm := start(t, h, 80, 24, "--offline", "-c")
	tm.see("I see it")
	tm.send("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t") // what kitty answers
	tm.see("\U0010EEEE")
	tm.send("Ж")
	tm.see("Ж", "look at this")
	tm.send("\x15")
	tm.notSee("Ж")
	tm.send(ctrlD)
	tm.end()
	raw := string(tm.written())
	if n := strings.Count(raw, "a=T,U=1,f=100"); n != 1 || !strings.Contains(raw, "c=20,r=5") {
		t.Errorf("the picture was sent %d times", n)
	}
	if !strings.Contains(raw, "a=d,d=I") {
		t.Error("the terminal still has the picture")
	}
}
