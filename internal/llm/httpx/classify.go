package httpx

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
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

// lazily compiles an expression when it is first needed, which most runs never do.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
