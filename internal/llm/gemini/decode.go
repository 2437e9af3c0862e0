package gemini

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// decoder makes events of one answer.
//
// The protocol has no blocks and no terminal event: every chunk is a whole
// response with the next parts, calls come in one piece, and the last chunk
// says why the answer ends. A new block begins where the kind of part changes.
type decoder struct {
	provider string
	kind     string // of the current block: "text", "thought", or "" for none
	number   int    // of it
	next     int
	started  bool
	called   bool
	reason   string
	detail   string // what the provider says of the reason
}

// Event implements [httpx.Decoder].
func (d *decoder) Event(raw httpx.Event, emit func(llm.Event)) (terminal bool, err error) {
	var r response
	err = json.Unmarshal(raw.Data, &r)
	switch {
	case err != nil && d.reason != "":
		return d.End(emit) // what follows the end says nothing
	case err != nil:
		return false, err
	}
	if r.Error != nil {
		return false, httpx.Fault(d.provider, "", 200, r.Error.Status, r.Error.Message)
	}
	if !d.started {
		d.started = true
		emit(llm.Start{ResponseID: r.ResponseID})
	}
	if r.UsageMetadata != nil {
		emit(llm.UsageUpdate{Usage: r.UsageMetadata.usage()})
	}
	if f := r.PromptFeedback; f.BlockReason != "" {
		return false, httpx.Refusal(d.provider, f.BlockReason+" "+f.BlockReasonMessage)
	}
	if len(r.Candidates) == 0 || r.Candidates[0].Index != 0 || d.reason != "" {
		return false, nil
	}
	candidate := r.Candidates[0]
	for _, p := range candidate.Content.Parts {
		if err := d.part(p, emit); err != nil {
			return false, err
		}
	}
	d.reason, d.detail = candidate.FinishReason, candidate.FinishMessage
	return false, nil
}

func (d *decoder) part(p part, emit func(llm.Event)) error {
	signature := base64.StdEncoding.EncodeToString(p.ThoughtSignature)
	switch {
	case p.FunctionCall != nil:
		call := p.FunctionCall
		if len(call.Args) > 0 && call.Args[0] != '{' && string(call.Args) != "null" {
			return errArguments
		}
		n := d.begin("")
		args := strings.TrimPrefix(string(call.Args), "null")
		emit(llm.CallDelta{Block: n, ID: call.ID, Name: call.Name, Arguments: args, Signature: signature})
		emit(llm.CallDone{Block: n})
		d.called = true
	case p.Thought:
		if p.Text != "" {
			emit(llm.ThinkingDelta{Block: d.begin("thought"), Text: p.Text})
		}
	case p.Text != "" || signature != "" && d.kind == "text":
		emit(llm.TextDelta{Block: d.begin("text"), Text: p.Text, Signature: signature})
	}
	return nil
}

var errArguments = errors.New("a call's arguments are not an object")

// begin is the number of the block that a part of a kind belongs to.
func (d *decoder) begin(kind string) int {
	if kind == "" || kind != d.kind {
		d.kind, d.number = kind, d.next
		d.next++
	}
	return d.number
}

// End implements [httpx.Decoder]: the reason to stop is what makes it whole.
func (d *decoder) End(emit func(llm.Event)) (whole bool, err error) {
	done := llm.Done{Reason: llm.StopEnd}
	switch d.reason {
	case "":
		return false, nil
	case finishLength:
		done.Reason = llm.StopLength
	case finishSafety, finishRecitation, finishLanguage, finishBlocklist, finishProhibited, finishSPII,
		finishImageSafety, finishImageBanned, finishImageRecited:
		return false, httpx.Refusal(d.provider, d.reason+" "+d.detail)
	case finishMalformed, finishUnexpected:
		// The model wrote a call that cannot be read; it usually can at the next try.
		return false, httpx.Fault(d.provider, "", 200, "MALFORMED_CALL", "the model wrote a tool call that cannot be read: "+d.detail)
	default:
		if d.called {
			done.Reason = llm.StopToolUse
		}
	}
	emit(done)
	return true, nil
}

func (u usageMetadata) usage() llm.Usage {
	out := llm.Usage{
		Output:    httpx.Tokens(u.Candidates) + httpx.Tokens(u.Thoughts),
		CacheRead: httpx.Tokens(u.Cached),
	}
	out.Input = max(0, httpx.Tokens(u.Prompt)+httpx.Tokens(u.ToolUsePrompt)-out.CacheRead)
	out.Total = out.Input + out.Output + out.CacheRead
	return out
}
