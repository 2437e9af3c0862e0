package session

import (
	"encoding/json"
	"fmt"
	"time"

	"banyan/internal/llm"
)

// MarshalMessage writes a message in the shape of the file, for other programs.
func MarshalMessage(m llm.Message) (json.RawMessage, error) {
	w, err := encodeMessage(Message{m}, m.Time)
	if err != nil {
		return nil, err
	}
	return marshal(w)
}

// UnmarshalMessage reads a message in the shape of the file. Only roles that a
// provider is sent are messages.
func UnmarshalMessage(raw json.RawMessage) (llm.Message, error) {
	var head struct{ Role string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return llm.Message{}, fmt.Errorf("a message that is not one: %w", err)
	}
	switch llm.Role(head.Role) {
	case llm.User, llm.Assistant, llm.ToolResult:
	default:
		return llm.Message{}, fmt.Errorf("%w %q", errUnknownRole, head.Role)
	}
	d, err := roles[head.Role](raw, time.Time{})
	if err != nil {
		return llm.Message{}, err
	}
	return d.(Message).Message, nil
}

// MarshalContent writes the blocks of a message in the shape of the file.
func MarshalContent(blocks []llm.Block) (json.RawMessage, error) {
	w, err := toWireContent(blocks)
	if err != nil {
		return nil, err
	}
	return marshal(w)
}

// UnmarshalContent reads content in the shape of the file: a string, or blocks.
// Blocks of unknown types are left out.
func UnmarshalContent(raw json.RawMessage) ([]llm.Block, error) {
	var w wireContent
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("content that is neither a string nor blocks: %w", err)
	}
	return w.blocks(), nil
}
