package httpx

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/internal/llm"
)

// classes says what the providers' error types and codes mean. A type that is
// not here leaves the decision to the status.
var classes = map[string]llm.Class{
	// Anthropic
	"authentication_error": llm.Stop, "billing_error": llm.Stop, "permission_error": llm.Stop,
	"not_found_error": llm.Stop, "invalid_request_error": llm.Stop,
	"request_too_large": llm.Overflow,
	"rate_limit_error":  llm.RetryAfter,
	"timeout_error":     llm.RetryNow, "api_error": llm.RetryNow, "overloaded_error": llm.RetryNow,
	"enforced_spend_limit_reached": llm.Stop,
	// OpenAI and those who speak its protocols
	"insufficient_quota": llm.Stop, "billing_hard_limit_reached": llm.Stop, "billing_not_active": llm.Stop,
	"usage_limit_reached": llm.Stop, "usage_not_included": llm.Stop, "credit_limit_reached": llm.Stop,
	"invalid_api_key": llm.Stop, "model_not_found": llm.Stop, "content_filter": llm.Stop,
	"content_policy_violation": llm.Stop, "invalid_prompt": llm.Stop, "unsupported_value": llm.Stop,
	"unsupported_parameter": llm.Stop, "insufficient_permissions": llm.Stop,
	"context_length_exceeded": llm.Overflow, "string_above_max_length": llm.Overflow,
	"exceed_context_size_error": llm.Overflow, // llama.cpp
	"rate_limit_exceeded":       llm.RetryAfter, "rate_limit_reached": llm.RetryAfter,
	"requests": llm.RetryAfter, "tokens": llm.RetryAfter, // OpenAI's type of a rate limit
	"server_error": llm.RetryNow, "internal_error": llm.RetryNow, "service_unavailable": llm.RetryNow,
	"server_overloaded": llm.RetryNow, "server_is_overloaded": llm.RetryNow, "slow_down": llm.RetryNow,
	"engine_overloaded": llm.RetryNow, "engine_overloaded_error": llm.RetryNow, "vector_store_timeout": llm.RetryNow,
	// Google
	"INVALID_ARGUMENT": llm.Stop, "FAILED_PRECONDITION": llm.Stop, "PERMISSION_DENIED": llm.Stop,
	"UNAUTHENTICATED": llm.Stop, "NOT_FOUND": llm.Stop, "OUT_OF_RANGE": llm.Stop, "UNIMPLEMENTED": llm.Stop,
	"RESOURCE_EXHAUSTED": llm.RetryAfter,
	"INTERNAL":           llm.RetryNow, "UNAVAILABLE": llm.RetryNow, "DEADLINE_EXCEEDED": llm.RetryNow,
	"ABORTED": llm.RetryNow, "CANCELLED": llm.RetryNow, "UNKNOWN": llm.RetryNow,
}

// overflow are the words in which providers say that a request does not fit
// the context window, where their error type does not say it.
var overflow = lazily(`(?i)` + strings.Join([]string{
	`prompt is too long`, // Anthropic, Ollama ("prompt too long" below)
	`prompt too long`,    // Ollama
	`input length and .?max_tokens.? exceed context limit`,               // Anthropic
	`input is too long for requested model`,                              // Bedrock
	`exceeds? (the|this|your) (model'?s? )?context (window|length|size)`, // OpenAI, Bedrock
	`exceeds? (the )?(model'?s? )?maximum (context|prompt) length`,       // LiteLLM
	`input token count.*exceeds the maximum`,                             // Gemini
	`maximum prompt length is`,                                           // xAI
	`reduce the length of the (messages|prompt|input)`,                   // Groq, OpenAI
	`maximum context length is`,                                          // OpenRouter, vLLM, DeepSeek
	`maximum context length of`,                                          // Mistral, LiteLLM
	`maximum context length`,                                             // Mistral
	`longer than the model'?s context length`,                            // Together
	`prompt token count.*exceeds the limit`,                              // Copilot
	`exceeds the available context size`,                                 // llama.cpp
	`greater than the context length`,                                    // LM Studio
	`context window exceeds limit`,                                       // MiniMax
	`exceeded model token limit`,                                         // Kimi
	`too large for model with`,                                           // Mistral
	`exceeded max(imum)? context length`,                                 // Ollama
	`context[ _]length[ _]exceeded`,                                      // generic
	`context (window|size|length)( is| has been)? exceeded`,
	`token limit exceeded`,
	`too many (input |prompt )?tokens`,
	`request_too_large`,
}, "|"))

// throttled are words that make "too many tokens" a rate and not a size.
var throttled = lazily(`(?i)throttl|rate.?limit|too many requests|per (minute|second|day)|quota`)

// Fault makes an error of what a provider said, in an answer of a status or
// (status 200) in the middle of a stream. Kind and text are the provider's
// error type or code, and its words.
func Fault(provider, host string, status int, kind, text string) *llm.Error {
	e := &llm.Error{Provider: provider, Host: host, Type: kind, Text: oneLine(text)}
	if status != http.StatusOK {
		e.Status = status
	}
	e.Class = classify(e.Status, kind, text)
	e.Hint = hint(e)
	return e
}

func classify(status int, kind, text string) llm.Class {
	class, known := classes[kind]
	limited := status == http.StatusTooManyRequests || class == llm.RetryAfter && known
	if !limited && status != 401 && status != 402 && status != 403 && status != 404 &&
		overflow().MatchString(text) && !throttled().MatchString(text) {
		return llm.Overflow
	}
	// What is general in a type gives way to what is particular in a status.
	if known && !(status == http.StatusTooManyRequests && kind == "invalid_request_error") {
		return class
	}
	switch status {
	case http.StatusTooManyRequests:
		return llm.RetryAfter
	case http.StatusRequestEntityTooLarge:
		return llm.Overflow
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return llm.RetryNow
	case http.StatusProxyAuthRequired, http.StatusNetworkAuthenticationRequired:
		return llm.Portal
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return llm.Stop
	}
	if status >= 500 {
		return llm.RetryNow
	}
	return llm.Stop
}

// hint is what a user can do.
func hint(e *llm.Error) string {
	switch {
	case e.Class == llm.Overflow:
		return "Compact the conversation or choose a model with a larger context window"
	case e.Class == llm.Portal:
		return "Check the proxy, or sign in to the network, and try again"
	case e.Class == llm.RetryNow:
		return ""
	case e.Class == llm.RetryAfter && e.RetryAfter > time.Minute:
		return fmt.Sprintf("It asks to wait %s; wait, or choose another model", e.RetryAfter.Round(time.Second))
	case e.Class == llm.RetryAfter:
		return ""
	case e.Status == http.StatusUnauthorized || e.Type == "authentication_error" || e.Type == "invalid_api_key" || e.Type == "UNAUTHENTICATED":
		return "Check the key: set it again with `agent login`"
	case e.Status == http.StatusPaymentRequired || e.Type == "billing_error" || strings.Contains(e.Type, "quota") || strings.Contains(e.Type, "limit_reached"):
		return "Check the credit and limits of the account, or choose another model"
	case e.Status == http.StatusForbidden:
		return "The key may not use this model; choose another one"
	case e.Status == http.StatusNotFound || e.Type == "model_not_found" || e.Type == "not_found_error":
		return "Check the model's name and the base URL"
	}
	return ""
}

// fault makes an error of an answer that is not what was asked for. Head is the
// beginning of its body.
func (t *transport) fault(req *http.Request, res *http.Response, head []byte) *llm.Error {
	kind, text, wait := readFault(head)
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	looksHTML := media == "text/html" || bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(head)), []byte("<"))
	e := Fault(t.Provider, req.URL.Host, res.StatusCode, kind, text)
	e.Status = res.StatusCode
	switch {
	case looksHTML:
		e.Text = fmt.Sprintf("a web page came instead of an answer (%s)", cmp.Or(pageTitle(head), "no title"))
		if res.StatusCode < 300 || res.StatusCode == http.StatusForbidden || e.Class == llm.Portal {
			e.Class, e.Type = llm.Portal, "portal"
		}
	case res.StatusCode < 300 && text == "":
		e.Class, e.Type = llm.Portal, "portal"
		e.Text = fmt.Sprintf("the answer is not a stream but %s", cmp.Or(media, "empty"))
	case text == "" && t.Provider == "cerebras" && res.StatusCode == http.StatusBadRequest:
		e.Class = llm.Overflow // it sends nothing more
		fallthrough
	case text == "":
		e.Text = cmp.Or(oneLine(string(head)), strings.ToLower(http.StatusText(res.StatusCode)), "no reason given")
	}
	e.Text = redact(e.Text, t.Secrets)
	e.RetryAfter = cmp.Or(retryAfter(res.Header), wait)
	e.RequestID = requestID(res.Header)
	e.Hint = hint(e)
	return e
}

// readFault reads the error bodies that are in use. Wait is Google's hint.
func readFault(head []byte) (kind, text string, wait time.Duration) {
	head = bytes.TrimSpace(head)
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("["))) // Google, streaming
	var body struct {
		Error   json.RawMessage
		Message string
		Type    string
		Code    any
		Detail  json.RawMessage
	}
	if json.NewDecoder(bytes.NewReader(head)).Decode(&body) != nil {
		return "", "", 0
	}
	var in struct {
		Type, Message, Status string
		Code                  any
		Details               []struct {
			RetryDelay string
			Violations []struct{ QuotaID string }
		}
	}
	if json.Unmarshal(body.Error, &in) != nil {
		if json.Unmarshal(body.Error, &text) != nil {
			_ = json.Unmarshal(body.Detail, &text)
		}
		code, _ := body.Code.(string)
		return cmp.Or(code, body.Type), cmp.Or(text, body.Message), 0
	}
	for _, d := range in.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			wait = max(delay, 0)
		}
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				in.Status = "insufficient_quota" // no wait of ours is long enough
			}
		}
	}
	code, _ := in.Code.(string)
	kind = cmp.Or(in.Status, code, in.Type)
	if _, known := classes[kind]; !known {
		kind = cmp.Or(in.Type, kind)
	}
	return kind, cmp.Or(in.Message, body.Message, in.Type, code), wait
}

// networkFault names what failed below HTTP.
func networkFault(provider, host string, err error) error {
	var known *llm.Error
	if errors.As(err, &known) {
		return known
	}
	e := &llm.Error{Class: llm.RetryNow, Provider: provider, Host: host, Err: err}
	var (
		dns     *net.DNSError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		e.Type, e.Text = "dns", "the name "+dns.Name+" could not be looked up"
		e.Hint = "Check the network and the base URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server's certificate is expired or not valid yet"
		e.Hint = "Check this computer's clock"
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server's certificate cannot be trusted: "+root(err)
		e.Hint = "A proxy may be in the way; SSL_CERT_FILE can name its certificate"
	case errors.As(err, &record):
		e.Class, e.Type, e.Text = llm.Stop, "tls", "the server does not speak TLS"
		e.Hint = "Does the base URL need http:// instead of https://?"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Type, e.Text, e.Hint = "refused", "the connection was refused", "Is the server running there?"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		e.Type, e.Text, e.Hint = "proxy", "the proxy could not be reached: "+root(err), "Check HTTPS_PROXY"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Type, e.Text = "reset", "the connection was cut"
	default:
		e.Type, e.Text = "network", "the connection failed: "+root(err)
	}
	return e
}

// root is the words of the innermost error: those around it repeat the URL.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return oneLine(err.Error())
		}
		err = inner
	}
}

// retryAfter is how long the server asked to wait; zero if it did not, or not
// in words that mean anything.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		if s > 0 && s < 1e7 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if at, err := http.ParseTime(value); err == nil {
		// The server's own clock, if it told us, makes ours irrelevant.
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(at.Sub(now), 0)
	}
	return 0
}

// lazily compiles an expression when it is first needed, which most runs never do.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func requestID(h http.Header) string {
	for _, name := range []string{"Request-Id", "X-Request-Id", "X-Goog-Request-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return oneLine(id)
		}
	}
	return ""
}

var title = lazily(`(?is)<title[^>]*>(.*?)</title>`)

func pageTitle(page []byte) string {
	if m := title().FindSubmatch(page); m != nil {
		return oneLine(string(m[1]))
	}
	return ""
}

// keys are tokens that look like keys of well-known services; some providers
// repeat the key that they refuse.
var keys = lazily(`\b(sk|pk|rk|gsk|xai|AIza|ghp|csk|nvapi|hf)[-_]?[A-Za-z0-9*_\-.]{12,}`)

func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[key]")
		}
	}
	return keys().ReplaceAllString(text, "[key]")
}

// oneLine makes a short line of what a server said.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	const limit = 400
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// Refusal is the error of an answer that the provider would not give, or not
// to its end.
func Refusal(provider, why string) *llm.Error {
	e := &llm.Error{
		Class: llm.Stop, Provider: provider, Type: "refusal", Text: "the model refused to answer",
		Hint: "Ask differently, or go back with /tree and choose another model",
	}
	if why != "" {
		e.Text += ": " + oneLine(why)
	}
	return e
}
