package models

import (
	_ "embed"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"sync"

	"banyan/internal/llm"
)

//go:embed models.json
var embedded []byte

// Table knows models. It is immutable; [Table.With] makes another one.
type Table struct {
	// Date is when the embedded figures were looked up, as 2026-11-20.
	Date   string
	models []llm.Model // by provider, the newest first
	byName map[name]int
}

type name struct{ provider, id string }

// Embedded is the table that comes with the program. It is read when first needed.
var Embedded = sync.OnceValue(func() *Table {
	servers, problems := Parse("models.json", embedded)
	if len(problems) > 0 {
		panic(problems[0]) // a test reads it
	}
	var head struct{ Date string }
	_ = json.Unmarshal(embedded, &head)
	t := &Table{Date: head.Date}
	for _, s := range servers {
		t = t.With(s.Models)
	}
	return t
})

// With is the table with more models. What the newcomers say of a model that
// is known replaces what the table says; what they do not say stays.
func (t *Table) With(models []llm.Model) *Table {
	out := &Table{Date: t.Date, models: slices.Clone(t.models), byName: map[name]int{}}
	for i, m := range out.models {
		out.byName[name{m.Provider, m.ID}] = i
	}
	for _, m := range models {
		key := name{m.Provider, m.ID}
		if i, known := out.byName[key]; known {
			out.models[i] = merge(out.models[i], m)
			continue
		}
		if base, ok := out.Find(m.Provider, m.ID); ok {
			m = merge(base, m)
		}
		out.byName[key] = len(out.models)
		out.models = append(out.models, m)
	}
	return out
}

// merge is a model with what another description of it says.
func merge(m, by llm.Model) llm.Model {
	m.ID = by.ID
	if by.Name != "" {
		m.Name = by.Name
	}
	if by.Family != "" {
		m.Family = by.Family
	}
	if by.Context > 0 {
		m.Context = by.Context
	}
	if by.Output > 0 {
		m.Output = by.Output
	}
	if by.Levels != nil {
		m.Levels = by.Levels
	}
	if by.Reasoning != "" {
		m.Reasoning = by.Reasoning
	}
	if by.Price != nil {
		m.Price = by.Price
	}
	m.Images = m.Images || by.Images
	m.Local = m.Local || by.Local
	return m
}

// dated are the ends that providers put to a model's name for one of its
// snapshots.
var dated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|@\d{8}|-latest)$`)
})

// Find finds a model, a dated snapshot by the name of its model. False means
// that nothing is known; the Model then has only its names.
func (t *Table) Find(provider, id string) (llm.Model, bool) {
	if i, ok := t.byName[name{provider, id}]; ok {
		return t.models[i], true
	}
	if i, ok := t.byName[name{provider, dated().ReplaceAllString(id, "")}]; ok {
		m := t.models[i]
		m.ID = id
		return m, true
	}
	return llm.Model{Provider: provider, ID: id}, false
}

// All are the models, by provider, the newest of each first.
func (t *Table) All() iter.Seq[llm.Model] { return slices.Values(t.models) }

// Of are the models of a provider.
func (t *Table) Of(provider string) []llm.Model {
	var out []llm.Model
	for _, m := range t.models {
		if m.Provider == provider {
			out = append(out, m)
		}
	}
	return out
}
