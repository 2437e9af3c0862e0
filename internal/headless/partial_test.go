package headless

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
)

// assemble does what a reader of the stream does, and holds it to its order.
func assemble(t *testing.T, lines []map[string]any) (answers []map[string]any) {
	t.Helper()
	var message map[string]any
	var content []map[string]any
	inputs := map[int]string{}
	open := map[int]bool{}
	for _, line := range lines {
		if line["type"] != "stream_event" {
			continue
		}
		ev := line["event"].(map[string]any)
		index := -1
		if i, ok := ev["index"].(float64); ok {
			index = int(i)
		}
		switch ev["type"] {
		case "message_start":
			message, content = ev["message"].(map[string]any), nil
			inputs, open = map[int]string{}, map[int]bool{}
		case "content_block_start":
			if index != len(content) {
				t.Fatalf("block %d after %d", index, len(content))
			}
			content = append(content, ev["content_block"].(map[string]any))
			open[index] = true
		case "content_block_delta":
			if !open[index] {
				t.Fatalf("a delta for block %d, which is not open", index)
			}
			d := ev["delta"].(map[string]any)
			switch d["type"] {
			case "text_delta":
				content[index]["text"] = content[index]["text"].(string) + d["text"].(string)
			case "thinking_delta":
				content[index]["thinking"] = content[index]["thinking"].(string) + d["thinking"].(string)
			case "signature_delta":
				content[index]["signature"] = content[index]["signature"].(string) + d["signature"].(string)
			case "input_json_delta":
				inputs[index] += d["partial_json"].(string)
			}
		case "content_block_stop":
			delete(open, index)
		case "message_delta":
			message["stop_reason"] = ev["delta"].(map[string]any)["stop_reason"]
			message["usage"] = ev["usage"]
		case "message_stop":
			if len(open) > 0 {
				t.Fatalf("blocks %v never ended", open)
			}
			for i, text := range inputs {
				var input any
				if err := json.Unmarshal([]byte(text), &input); err != nil {
					t.Fatal(err)
				}
				content[i]["input"] = input
			}
			message["content"] = content
			answers = append(answers, message)
		}
	}
	return answers
}

// What a reader puts together from the pieces is the answer that is told whole.
func TestPartialAnswersAddUp(t *testing.T) {
	first := llmtest.Events(
		llm.Start{ResponseID: "msg_1"},
		llm.ThinkingDelta{Text: "let me "}, llm.ThinkingDelta{Text: "see", Signature: "sig"}, llm.ThinkingDelta{Signature: "ned"},
		llm.ThinkingDelta{Block: 1, Redacted: true, Signature: "opaque"},
		llm.TextDelta{Block: 3, Text: "I "}, llm.CallDelta{Block: 4, ID: "c1", Name: "look"}, llm.TextDelta{Block: 3, Text: "look"},
		llm.CallDelta{Block: 4, Arguments: `{"n":`}, llm.CallDelta{Block: 6, ID: "c2", Name: "look", Arguments: `{"n":2}`},
		llm.CallDelta{Block: 4, Arguments: `1}`}, llm.CallDone{Block: 4}, llm.CallDone{Block: 6},
		llm.UsageUpdate{Usage: llm.Usage{Input: 100, Output: 10, Total: 110}}, llm.Done{Reason: llm.StopToolUse})
	again := llmtest.Events(
		llm.Start{ResponseID: "msg_2"}, llm.TextDelta{Text: "half"}, llm.Retry{Attempt: 2, Err: errors.New("reset")},
		llm.Start{ResponseID: "msg_3"}, llm.TextDelta{Text: "whole\u202e"},
		llm.UsageUpdate{Usage: llm.Usage{Input: 100, Output: 10, Total: 110}}, llm.Done{Reason: llm.StopEnd})
	w := newWorld(t, first, again)
	if err := w.run(context.Background(), Options{Format: StreamJSON, Partial: true}); err != nil {
		t.Fatal(err)
	}
	lines := w.lines()
	var whole []map[string]any
	for _, line := range lines {
		if line["type"] == "assistant" {
			whole = append(whole, line["message"].(map[string]any))
		}
	}
	pieces := assemble(t, lines)
	if len(pieces) != 2 || len(whole) != 2 {
		t.Fatalf("%d answers in pieces, %d whole", len(pieces), len(whole))
	}
	for i := range whole {
		names := []string{"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}
		if got, want := fields(pieces[i], names...), fields(whole[i], names...); got != want {
			t.Errorf("answer %d\n got %s\nwant %s", i, got, want)
		}
	}
	// An answer is told whole after its pieces.
	last := slices.IndexFunc(lines, func(l map[string]any) bool { return l["type"] == "assistant" })
	if before := lines[last-1]; !strings.Contains(fields(before, "event"), "message_stop") {
		t.Errorf("before the whole answer: %v", before)
	}
	w.checkPlaces(lines)
}

func TestPartialAnswersAreToldOnRequestOnly(t *testing.T) {
	w := newWorld(t, llmtest.Text("x"))
	if err := w.run(context.Background(), Options{Format: StreamJSON}); err != nil {
		t.Fatal(err)
	}
	for _, line := range w.lines() {
		if line["type"] == "stream_event" {
			t.Fatalf("%v", line)
		}
	}
}
