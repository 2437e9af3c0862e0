package httpx

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
)

// TestClassify: status and type decide, digits in a text never do.
func TestClassify(t *testing.T) {
	tests := []struct {
		status int
		kind   string
		text   string
		want   llm.Class
	}{
		{429, "rate_limit_error", "slow down", llm.RetryAfter},
		{429, "enforced_spend_limit_reached", "limit", llm.Stop},
		{429, "insufficient_quota", "You exceeded your current quota", llm.Stop},
		{429, "invalid_request_error", "whatever", llm.RetryAfter},
		{429, "", "too many tokens", llm.RetryAfter},
		{429, "tokens", "Request too large for gpt-5: maximum context length is 5", llm.RetryAfter},
		{400, "invalid_request_error", "line 429 500 529 overloaded", llm.Stop},
		{400, "invalid_request_error", "prompt is too long: 1 tokens > 0 maximum", llm.Overflow},
		{400, "context_length_exceeded", "", llm.Overflow},
		{400, "exceed_context_size_error", "", llm.Overflow},
		{400, "", "Too many tokens, please wait: ThrottlingException", llm.Stop},
		{401, "", "prompt is too long", llm.Stop},
		{404, "not_found_error", "model: x", llm.Stop},
		{413, "request_too_large", "", llm.Overflow},
		{413, "", "", llm.Overflow},
		{500, "api_error", "", llm.RetryNow},
		{500, "", "the request exceeds the available context size", llm.Overflow},
		{501, "", "", llm.Stop},
		{529, "overloaded_error", "", llm.RetryNow},
		{503, "UNAVAILABLE", "", llm.RetryNow},
		{400, "INVALID_ARGUMENT", "bad", llm.Stop},
		{400, "INVALID_ARGUMENT", "The input token count (2) exceeds the maximum number of tokens allowed (1).", llm.Overflow},
		{200, "overloaded_error", "", llm.RetryNow},
		{200, "", "who knows", llm.RetryNow},
		{407, "", "", llm.Portal},
		{302, "", "", llm.Stop},
	}
	for _, tt := range tests {
		if e := Fault("p", "h", tt.status, tt.kind, tt.text); e.Class != tt.want {
			t.Errorf("%d %s %q: %s, want %s", tt.status, tt.kind, tt.text, e.Class, tt.want)
		}
	}
}

func TestReadFault(t *testing.T) {
	tests := []struct {
		body, kind, text string
		wait             time.Duration
	}{
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, "overloaded_error", "Overloaded", 0},
		{`{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, "invalid_api_key", "Incorrect API key", 0},
		{`{"error":{"message":"m","type":"requests","code":"unheard_of"}}`, "requests", "m", 0},
		{`{"error":{"message":"m","type":"exceed_context_size_error","code":400}}`, "exceed_context_size_error", "m", 0},
		{`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","retryDelay":"34.5s"}]}}`, "RESOURCE_EXHAUSTED", "m", 34500 * time.Millisecond},
		{`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerDayPerProject"}]}]}}`, "insufficient_quota", "m", 0},
		{`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`, "INVALID_ARGUMENT", "m", 0},
		{`{"error":"model \"x\" not found"}`, "", `model "x" not found`, 0},
		{`{"object":"error","message":"m","type":"invalid_request_error","code":3210}`, "invalid_request_error", "m", 0},
		{`{"detail":"Unauthorized"}`, "", "Unauthorized", 0},
		{`{"detail":[{"msg":"x"}],"message":"m"}`, "", "m", 0},
		{`{"error":null,"message":"m"}`, "", "m", 0},
		{`{"error":{}}`, "", "", 0},
		{`{}`, "", "", 0},
		{`<html>`, "", "", 0},
		{``, "", "", 0},
		{`{"error":{"message":"cut`, "", "", 0},
	}
	for _, tt := range tests {
		kind, text, wait := readFault([]byte(tt.body))
		if kind != tt.kind || text != tt.text || wait != tt.wait {
			t.Errorf("%s: %q %q %s", tt.body, kind, text, wait)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "0", 0},
		{"Retry-After", "-1", 0},
		{"Retry-After", "1e300", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
		{"Retry-After", "Fri, 20 Nov 2026 10:01:00 GMT", time.Minute},
		{"Retry-After", "Fri, 20 Nov 2026 09:00:00 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	}
	for _, tt := range tests {
		h := http.Header{"Date": {"Fri, 20 Nov 2026 10:00:00 GMT"}}
		h.Set(tt.name, tt.value)
		if got := retryAfter(h); got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestRedact(t *testing.T) {
	for _, text := range []string{
		"bad key: hunter2-very-secret", "sk-ant-api03-abcdefghijklmnop", "Incorrect API key provided: sk-proj-abcd********************wxyz.",
		"AIzaSyA1234567890abcdefghij", "gsk_abcdefghijklmnopqrst", "xai-abcdefghijklmnopqrst", "token hf_abcdefghijklmnopqrst",
	} {
		got := redact(text, []string{"hunter2-very-secret", ""})
		if !strings.Contains(got, "[key]") || strings.Contains(got, "secret") || strings.Contains(got, "cdefghij") || strings.Contains(got, "wxyz") {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := redact("a skeleton, a risk-free task", nil); got != "a skeleton, a risk-free task" {
		t.Errorf("%q", got)
	}
}

func FuzzReadFault(f *testing.F) {
	f.Add([]byte(`{"error":{"type":"x","message":"m","details":[{"retryDelay":"-1s"}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, text, wait := readFault(body)
		if wait < 0 {
			t.Errorf("wait %s", wait)
		}
		if line := oneLine(text); strings.ContainsAny(line, "\n\r\t") || len(line) > 410 {
			t.Errorf("%q", line)
		}
	})
}
