package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Post sends a body, as JSON, and asks for a stream of events. Headers of the
// user's own come last in the list, and go before those that came earlier.
func Post(ctx context.Context, c *http.Client, address string, body any, headers ...map[string]string) (*http.Response, error) {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // code is full of what that makes six bytes of
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("the base URL leads to no address: %w", err)
	}
	r.Header.Set("Content-Type", JSON)
	r.Header.Set("Accept", EventStream)
	r.Header.Set("User-Agent", "banyan")
	for _, list := range headers {
		for name, value := range list {
			r.Header.Set(name, value)
		}
	}
	return c.Do(r)
}

// Decode reads an event of a server that may give members another type than its
// documentation says: those stay zero, and all else is read.
func Decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && other.Field != "" {
		return nil
	}
	return err
}

// Text is a text in an event. What a server says in place of one is taken as it
// is written: some give a call's arguments as an object, or an id as a number.
type Text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Text) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '"':
		return json.Unmarshal(raw, (*string)(t))
	case 'n':
		return nil // as null is for all types
	}
	*t = Text(raw)
	return nil
}

// Tokens makes a count of what a server says is one.
func Tokens(n float64) int {
	if !(n >= 0 && n <= 1e9) {
		return 0
	}
	return int(n)
}
