package llmtest

import (
	"encoding/json"
	"fmt"
)

// check keeps the first thing that is wrong with a request.
type check struct{ err error }

func (v *check) that(ok bool, format string, args ...any) {
	if !ok && v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

// object decodes a body that may have only these fields.
func (v *check) object(body []byte, fields ...string) m {
	var o m
	if err := json.Unmarshal(body, &o); err != nil {
		v.that(false, "body: %v", err)
		return m{}
	}
	allowed := map[string]bool{}
	for _, f := range fields {
		allowed[f] = true
	}
	for name := range o {
		v.that(allowed[name], "%s: unknown field", name)
	}
	return o
}

// text, object and list read JSON values; what has another type is empty.
func text(v any) string { s, _ := v.(string); return s }
func object(v any) m    { o, _ := v.(m); return o }

func list(v any) []m {
	items, _ := v.([]any)
	var out []m
	for _, item := range items {
		o, _ := item.(m)
		out = append(out, o)
	}
	return out
}
