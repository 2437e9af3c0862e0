package llmtest

import (
	"net/http"
	"strings"
	"testing"
)

// TestValidators: a validator that accepts everything proves nothing. Each of
// these requests is one that its provider refuses.
func TestValidators(t *testing.T) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"}}
	anthropic := func(messages string) string {
		return `{"model":"m","max_tokens":10,"stream":true,"messages":[` + messages + `]}`
	}
	chat := func(messages string) string { return `{"model":"m","stream":true,"messages":[` + messages + `]}` }
	responses := func(input string) string {
		return `{"model":"m","stream":true,"store":false,"input":[` + input + `]}`
	}
	gemini := func(contents string) string { return `{"contents":[` + contents + `]}` }
	const (
		aUser   = `{"role":"user","content":[{"type":"text","text":"q"}]}`
		aCall   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]}`
		aResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]}]}`
		cUser   = `{"role":"user","content":"q"}`
		cCall   = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}`
		cResult = `{"role":"tool","tool_call_id":"c1","content":"r"}`
		rUser   = `{"role":"user","content":[{"type":"input_text","text":"q"}]}`
		rCall   = `{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}`
		rResult = `{"type":"function_call_output","call_id":"c1","output":"r"}`
		gUser   = `{"role":"user","parts":[{"text":"q"}]}`
		gCall   = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read"},"thoughtSignature":"c2ln"}]}`
		gResult = `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"r"}}}]}`
	)
	tests := []struct {
		dialect Dialect
		path    string
		good    string
		bad     []string
	}{
		{Anthropic{}, "/v1/messages", anthropic(aUser + "," + aCall + "," + aResult), []string{
			anthropic(""),
			anthropic(aUser + "," + aUser),
			anthropic(aUser + "," + aCall),
			anthropic(aUser + "," + aCall + "," + aUser),
			anthropic(aUser + "," + strings.Replace(aCall, "c1", "c|1", 1) + "," + strings.Replace(aResult, "c1", "c|1", 1)),
			anthropic(aUser + "," + aCall + "," + strings.Replace(aResult, "c1", "c2", 1)),
			anthropic(aResult),
			anthropic(aUser + "," + aCall + "," + aResult + "," + aCall + "," + aResult),
			anthropic(`{"role":"user","content":[{"type":"text","text":" "}]}`),
			anthropic(`{"role":"user","content":[]}`),
			anthropic(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AA=="}}]}`),
			anthropic(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}]}`),
			anthropic(aUser + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},` + aUser),
			anthropic(aUser + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"a"}]},` + aUser),
			strings.Replace(anthropic(aUser), `"max_tokens":10`, `"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000}`, 1),
			strings.Replace(anthropic(aUser), `"stream":true`, `"stream":true,"temprature":1`, 1),
			strings.Replace(anthropic(aUser), `"stream":true,`, ``, 1),
		}},
		{Chat{}, "/chat/completions", chat(cUser + "," + cCall + "," + cResult), []string{
			chat(""),
			chat(cUser + "," + cCall),
			chat(cUser + "," + cCall + "," + cUser),
			chat(cUser + "," + cResult),
			chat(cUser + "," + cCall + "," + cResult + "," + cResult),
			chat(cUser + "," + strings.Replace(cCall, "{}", "{", 1) + "," + cResult),
			chat(cUser + `,{"role":"assistant","content":""},` + cUser),
			chat(`{"role":"user","content":" "}`),
			chat(cUser + "," + cCall + "," + cResult + "," + cCall + "," + cResult),
		}},
		{Responses{}, "/responses", responses(rUser + "," + rCall + "," + rResult), []string{
			responses(""),
			responses(rUser + "," + rCall),
			responses(rUser + "," + rResult),
			responses(rUser + "," + rCall + "," + rUser + "," + rResult),
			responses(rUser + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},` + rUser),
			responses(rUser + `,{"type":"reasoning","id":"rs_1","summary":[]},` + rCall + "," + rResult),
			strings.Replace(responses(rUser), `"store":false`, `"store":true`, 1),
		}},
		{Gemini{}, "/v1beta/models/m:streamGenerateContent", gemini(gUser + "," + gCall + "," + gResult), []string{
			gemini(""),
			gemini(gUser + "," + gUser),
			gemini(gUser + "," + gCall),
			gemini(gUser + "," + gCall + "," + gUser),
			gemini(gUser + "," + strings.Replace(gCall, `,"thoughtSignature":"c2ln"`, "", 1) + "," + gResult),
			gemini(gUser + `,{"role":"model","parts":[{"text":"t","thought":true}]},` + gUser),
			gemini(`{"role":"user","parts":[{"text":""}]}`),
		}},
	}
	for _, tt := range tests {
		if err := tt.dialect.Validate(Received{tt.path, header, []byte(tt.good)}); err != nil {
			t.Errorf("%s refuses a good request: %v", tt.dialect.Name(), err)
		}
		if tt.dialect.Validate(Received{"/v2/other", header, []byte(tt.good)}) == nil {
			t.Errorf("%s accepts any path", tt.dialect.Name())
		}
		for _, bad := range tt.bad {
			if tt.dialect.Validate(Received{tt.path, header, []byte(bad)}) == nil {
				t.Errorf("%s accepts %s", tt.dialect.Name(), bad)
			}
		}
	}
}
