package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"

	"banyan/internal/llm"
)

// Problem is something in a file that could not be used; the rest was.
type Problem struct {
	File  string
	Line  int    // counted from 1
	Field string // where in the document, such as providers.mine.models[2].context
	Text  string
}

// Error implements error.
func (p Problem) Error() string {
	at := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Field != "" {
		at += ": " + p.Field
	}
	return at + ": " + p.Text
}

// Server is what models.json says of a provider: a new one, or what is
// different about one that is known.
type Server struct {
	Name     string
	Protocol string // "anthropic", "responses", "chat" or "gemini"; empty for a known provider
	BaseURL  string
	Key      string // a key, "$VARIABLE", or "!command"
	Headers  map[string]string
	Local    bool // it runs on a computer of the user and costs nothing
	Models   []llm.Model
}

// Parse reads a models.json, with comments. What is wrong in it comes back as
// problems, each with its line and field; the rest is used.
//
//	{"providers": {"mine": {
//	    "protocol": "chat", "baseURL": "http://10.0.0.7:8000/v1", "key": "$MINE_KEY",
//	    "models": [{"id": "m", "context": 32768, "output": 8192, "images": true,
//	        "reasoning": "effort", "levels": ["low", "high"],
//	        "price": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25}}]}}}
func Parse(file string, data []byte) ([]Server, []Problem) {
	d := &document{file: file, all: jsonc.ToJSON(data)}
	var servers []Server
	d.object(node{raw: d.all}, map[string]func(node){
		"date":    d.ignore,
		"$schema": d.ignore,
		"providers": func(n node) {
			for _, member := range d.members(n) {
				servers = append(servers, d.server(member))
			}
		},
	})
	return servers, d.problems
}

// document is a file that is being read. The bytes have the offsets of the
// original: comments became spaces.
type document struct {
	file     string
	all      []byte
	problems []Problem
}

// node is a value of the document.
type node struct {
	name   string // of the member, or empty
	field  string // path
	raw    []byte
	offset int // of raw in the document
}

func (d *document) problem(n node, offset int, format string, args ...any) {
	offset = min(max(n.offset+offset, 0), len(d.all))
	d.problems = append(d.problems, Problem{
		File: d.file, Line: 1 + bytes.Count(d.all[:offset], []byte("\n")), Field: n.field, Text: fmt.Sprintf(format, args...),
	})
}

func (d *document) ignore(node) {}

// members are the members of an object, in order.
func (d *document) members(n node) []node {
	return d.children(n, '{', "an object", func(dec *json.Decoder, i int) (name, field string, err error) {
		token, err := dec.Token()
		name, _ = token.(string)
		return name, strings.TrimPrefix(n.field+"."+name, "."), err
	})
}

// elements are the elements of an array.
func (d *document) elements(n node) []node {
	return d.children(n, '[', "a list", func(_ *json.Decoder, i int) (string, string, error) {
		return "", fmt.Sprintf("%s[%d]", n.field, i), nil
	})
}

func (d *document) children(n node, open json.Delim, kind string, name func(*json.Decoder, int) (string, string, error)) []node {
	dec := json.NewDecoder(bytes.NewReader(n.raw))
	token, err := dec.Token()
	if err != nil {
		d.broken(n, dec, err)
		return nil
	}
	if token != open {
		d.problem(n, 0, "must be %s", kind)
		return nil
	}
	var out []node
	for i := 0; dec.More(); i++ {
		var child node
		child.name, child.field, err = name(dec, i)
		var raw json.RawMessage
		if err == nil {
			err = dec.Decode(&raw)
		}
		if err != nil {
			d.broken(n, dec, err)
			return out
		}
		child.raw, child.offset = raw, n.offset+int(dec.InputOffset())-len(raw)
		out = append(out, child)
	}
	if _, err := dec.Token(); err != nil {
		d.broken(n, dec, err)
	}
	return out
}

// broken reports JSON that is none.
func (d *document) broken(n node, dec *json.Decoder, err error) {
	offset := int(dec.InputOffset())
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = int(syntax.Offset)
	}
	d.problem(n, offset, "is not JSON: %v", err)
}

// object gives each member of an object to its reader. Names are checked
// without regard to case only to suggest the right one.
func (d *document) object(n node, read map[string]func(node)) {
	for _, member := range d.members(n) {
		if f, ok := read[member.name]; ok {
			f(member)
			continue
		}
		text := "is not a field here; there are " + strings.Join(slices.Sorted(maps.Keys(read)), ", ")
		for name := range read {
			if strings.EqualFold(name, member.name) {
				text = "is spelled " + name
			}
		}
		d.problem(member, 0, "%s", text)
	}
}

// value reads a value that is said to be of a kind.
func value[T any](d *document, to *T, kind string, valid func(T) bool) func(node) {
	return func(n node) {
		var v T
		if json.Unmarshal(n.raw, &v) != nil || valid != nil && !valid(v) {
			d.problem(n, 0, "must be %s", kind)
			return
		}
		*to = v
	}
}

func (d *document) text(to *string) func(node) {
	return value(d, to, "a text", func(s string) bool { return s != "" })
}

func (d *document) flag(to *bool) func(node) { return value(d, to, "true or false", nil) }

func (d *document) tokens(to *int) func(node) {
	return value(d, to, "a number of tokens", func(n int) bool { return n > 0 })
}

func (d *document) usd(to *float64) func(node) {
	return value(d, to, "a price in USD per million tokens", func(n float64) bool { return n >= 0 })
}

func (d *document) word(to *string, words ...string) func(node) {
	return value(d, to, "one of "+strings.Join(words, ", "), func(s string) bool { return slices.Contains(words, s) })
}

func (d *document) server(n node) Server {
	s := Server{Name: n.name}
	read := map[string]func(node){
		"protocol": d.word(&s.Protocol, "anthropic", "responses", "chat", "gemini"),
		"baseURL":  d.text(&s.BaseURL),
		"key":      d.text(&s.Key),
		"headers":  value(d, &s.Headers, "an object of texts", nil),
		"local":    d.flag(&s.Local),
		"models": func(n node) {
			for _, element := range d.elements(n) {
				if m := d.model(s.Name, element); m.ID != "" {
					s.Models = append(s.Models, m)
				}
			}
		},
	}
	if bytes.HasPrefix(n.raw, []byte("[")) { // the short form
		read["models"](n)
		return s
	}
	d.object(n, read)
	return s
}

func (d *document) model(provider string, n node) llm.Model {
	m := llm.Model{Provider: provider}
	var reasoning string
	d.object(n, map[string]func(node){
		"id":        d.text(&m.ID),
		"name":      d.text(&m.Name),
		"family":    d.text(&m.Family),
		"context":   d.tokens(&m.Context),
		"output":    d.tokens(&m.Output),
		"images":    d.flag(&m.Images),
		"local":     d.flag(&m.Local),
		"reasoning": d.word(&reasoning, string(llm.ReasoningBudget), string(llm.ReasoningAdaptive), string(llm.ReasoningBetween), string(llm.ReasoningEffort), string(llm.ReasoningSwitch)),
		"levels":    func(n node) { m.Levels = d.levels(n) },
		"price":     func(n node) { m.Price = d.price(n) },
	})
	m.Reasoning = llm.Reasoning(reasoning)
	if m.ID == "" {
		d.problem(n, 0, "has no id")
	}
	return m
}

func (d *document) levels(n node) []llm.ThinkingLevel {
	var words []string
	for _, l := range llm.ThinkingLevels {
		words = append(words, string(l))
	}
	var levels []llm.ThinkingLevel
	for _, element := range d.elements(n) {
		var level string
		if d.word(&level, words...)(element); level != "" {
			levels = append(levels, llm.ThinkingLevel(level))
		}
	}
	return levels
}

func (d *document) price(n node) *llm.Price {
	var p llm.Price
	before := len(d.problems)
	d.object(n, map[string]func(node){
		"input":      d.usd(&p.Input),
		"output":     d.usd(&p.Output),
		"cacheRead":  d.usd(&p.CacheRead),
		"cacheWrite": d.usd(&p.CacheWrite),
		"above": func(n node) {
			p.Above = &llm.PriceAbove{}
			d.object(n, map[string]func(node){
				"tokens":     d.tokens(&p.Above.Tokens),
				"input":      d.usd(&p.Above.Input),
				"output":     d.usd(&p.Above.Output),
				"cacheRead":  d.usd(&p.Above.CacheRead),
				"cacheWrite": d.usd(&p.Above.CacheWrite),
			})
		},
	})
	if len(d.problems) > before {
		return nil // half a price is a wrong price
	}
	return &p
}
