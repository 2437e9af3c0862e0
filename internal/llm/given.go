package llm

import (
	"slices"
	"strings"
)

// Given says whether a text that is not empty stands in the messages, in one
// block of theirs.
func Given(messages []Message, text string) bool {
	return text != "" && slices.ContainsFunc(messages, func(m Message) bool {
		return slices.ContainsFunc(m.Content, func(b Block) bool {
			t, ok := b.(Text)
			return ok && strings.Contains(t.Text, text)
		})
	})
}
