package tui

import (
	"context"
	"fmt"

	"banyan/internal/llm"

	tea "charm.land/bubbletea/v2"
)

// imageMsg is the picture that was on the clipboard.
type imageMsg llm.Image

func (msg imageMsg) apply(m *Model) tea.Cmd { return m.editor.PasteImage(llm.Image(msg)) }

// pasteImage puts the picture on the clipboard into the prompt.
func (m *Model) pasteImage() tea.Cmd {
	read := m.opts.Image
	if read == nil {
		m.refuse("Pictures cannot be pasted here; name the file with @ instead")
		return nil
	}
	return func() tea.Msg {
		image, err := read(context.Background())
		if err != nil {
			return failedMsg{fmt.Errorf("pasting a picture: %w", err)}
		}
		return imageMsg(image)
	}
}
