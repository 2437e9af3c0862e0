package gemini

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genai"

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
	reason   genai.FinishReason
	detail   string // what the provider says of the reason
}

// chunk is a response with what the SDK's type would lose: the arguments of
// calls as they were written.
type chunk struct {
	genai.GenerateContentResponse
	raw struct {
		Error *struct {
			Status, Message string
		}
		Candidates []struct {
			Content struct {
				Parts []struct {
					FunctionCall struct{ Args json.RawMessage }
				}
			}
		}
	}
}

func parse(data []byte) (chunk, error) {
	var c chunk
	if err := json.Unmarshal(data, &c.raw); err != nil {
		return c, err
	}
	err := json.Unmarshal(data, &c.GenerateContentResponse)
	// A number of tokens that no counter holds is not worth an answer.
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number") {
		err = nil
	}
	return c, err
}

// Event implements [httpx.Decoder].
func (d *decoder) Event(raw httpx.Event, emit func(llm.Event)) (terminal bool, err error) {
	c, err := parse(raw.Data)
	switch {
	case err != nil && d.reason != "":
		return d.End(emit) // what follows the end says nothing
	case err != nil:
		return false, err
	}
	if c.raw.Error != nil {
		return false, httpx.Fault(d.provider, "", 200, c.raw.Error.Status, c.raw.Error.Message)
	}
	if !d.started {
		d.started = true
		emit(llm.Start{ResponseID: c.ResponseID})
	}
	if u := c.UsageMetadata; u != nil {
		emit(llm.UsageUpdate{Usage: usage(u)})
	}
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" {
		return false, httpx.Refusal(d.provider, string(f.BlockReason)+" "+f.BlockReasonMessage)
	}
	if len(c.Candidates) == 0 || c.Candidates[0].Index != 0 || d.reason != "" {
		return false, nil
	}
	candidate := c.Candidates[0]
	if candidate.Content != nil {
		for i, p := range candidate.Content.Parts {
			d.part(p, c.raw.Candidates[0].Content.Parts[i].FunctionCall.Args, emit)
		}
	}
	d.reason, d.detail = candidate.FinishReason, candidate.FinishMessage
	return false, nil
}

func (d *decoder) part(p *genai.Part, args json.RawMessage, emit func(llm.Event)) {
	signature := base64.StdEncoding.EncodeToString(p.ThoughtSignature)
	switch {
	case p.FunctionCall != nil:
		n := d.begin("")
		emit(llm.CallDelta{Block: n, ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: string(args), Signature: signature})
		emit(llm.CallDone{Block: n})
		d.called = true
	case p.Thought:
		if p.Text != "" {
			emit(llm.ThinkingDelta{Block: d.begin("thought"), Text: p.Text})
		}
	case p.Text != "" || signature != "" && d.kind == "text":
		emit(llm.TextDelta{Block: d.begin("text"), Text: p.Text, Signature: signature})
	}
}

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
	case genai.FinishReasonMaxTokens:
		done.Reason = llm.StopLength
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonLanguage,
		genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return false, httpx.Refusal(d.provider, string(d.reason)+" "+d.detail)
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall:
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

func usage(u *genai.GenerateContentResponseUsageMetadata) llm.Usage {
	out := llm.Usage{
		Output:    tokens(u.CandidatesTokenCount) + tokens(u.ThoughtsTokenCount),
		CacheRead: tokens(u.CachedContentTokenCount),
	}
	out.Input = max(0, tokens(u.PromptTokenCount)+tokens(u.ToolUsePromptTokenCount)-out.CacheRead)
	out.Total = out.Input + out.Output + out.CacheRead
	return out
}

// tokens makes a count of what a server says is one.
func tokens(n int32) int {
	if n < 0 || n > 1e9 {
		return 0
	}
	return int(n)
}
