package httpx

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"banyan/internal/llm"
)

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
		if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) { // JSON is not for people
			e.Text = oneLine(string(head))
		}
		e.Text = cmp.Or(e.Text, strings.ToLower(http.StatusText(res.StatusCode)), "no reason given")
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
