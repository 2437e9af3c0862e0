package summary

import (
	"banyan/internal/llm"
	"banyan/internal/session"
)

const (
	bytesPerToken = 4    // measured against o200k: -15 % to +17 % on code and prose
	imageTokens   = 1200 // a picture, about
)

// Tokens estimates what an entry takes of a context window. State takes nothing.
func Tokens(d session.Data) int {
	switch d := d.(type) {
	case session.Message:
		return MessageTokens(d.Message)
	case session.Command:
		if d.Excluded {
			return 0
		}
		return text(d.Command) + text(d.Output)
	case session.CustomMessage:
		return blockTokens(d.Content)
	case session.BranchSummary:
		return text(d.Summary)
	case session.Compaction:
		return text(d.Summary)
	}
	return 0
}

// MessageTokens estimates a message.
func MessageTokens(m llm.Message) int { return blockTokens(m.Content) }

func blockTokens(blocks []llm.Block) int {
	n := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			n += text(b.Text)
		case llm.Thinking:
			n += text(b.Text) + text(b.Signature)
		case llm.ToolCall:
			n += text(b.Name) + (len(b.Arguments)+bytesPerToken-1)/bytesPerToken
		case llm.Image:
			n += imageTokens
		}
	}
	return n
}

func text(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }
