package summary

import (
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// Pictures take room in a context window, so they count.
func TestPicturesCount(t *testing.T) {
	m := llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: "look"}}}
	without := Tokens(session.Message{Message: m})
	m.Content = append(m.Content, llm.Image{MIME: "image/png", Data: "AAAA"})
	if with := Tokens(session.Message{Message: m}); with < without+1000 {
		t.Errorf("%d tokens with a picture, %d without", with, without)
	}
}
