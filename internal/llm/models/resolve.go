package models

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Ref names a model and how much it is to think.
type Ref struct {
	Provider string
	Model    string
	Thinking llm.ThinkingLevel // empty if it was not said
}

// String is the form that [Table.Resolve] reads.
func (r Ref) String() string {
	s := r.Provider + "/" + r.Model
	if r.Thinking != "" {
		s += ":" + string(r.Thinking)
	}
	return s
}

// AmbiguousError says that a name means several models, or none.
type AmbiguousError struct {
	Text       string
	Candidates []string // provider/model; empty if nothing is near
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	if len(e.Candidates) == 0 {
		return fmt.Sprintf("no model is called %q: `agent models` lists them", e.Text)
	}
	const most = 8
	list := e.Candidates[:min(len(e.Candidates), most)]
	more := ""
	if n := len(e.Candidates) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%q could be %s%s", e.Text, strings.Join(list, ", "), more)
}

// Resolve finds the model that a person means: provider/model[:thinking], or a
// part of it. Usable says which providers can be asked; their models go first.
//
// Known says which providers there are: after one of them any name is taken,
// for a model that is newer than the table.
func (t *Table) Resolve(text string, known, usable func(provider string) bool) (Ref, error) {
	query, level := splitLevel(strings.TrimSpace(text))
	provider, rest, slash := strings.Cut(query, "/")
	if slash = slash && known(provider); !slash {
		provider, rest = "", query
	}
	if slash && rest != "" {
		if _, ok := t.Find(provider, rest); ok {
			return Ref{provider, rest, level}, nil
		}
	}
	found := t.match(provider, rest)
	if provider == "" {
		if first := slices.DeleteFunc(slices.Clone(found), func(m llm.Model) bool { return !usable(m.Provider) }); len(first) > 0 {
			found = first
		}
	}
	switch {
	case len(found) == 1:
		return Ref{found[0].Provider, found[0].ID, level}, nil
	case len(found) == 0 && slash && rest != "":
		return Ref{provider, rest, level}, nil
	}
	err := &AmbiguousError{Text: text}
	for _, m := range found {
		err.Candidates = append(err.Candidates, m.Provider+"/"+m.ID)
	}
	if len(found) == 0 {
		err.Candidates = t.near(rest)
	}
	return Ref{}, err
}

// splitLevel takes the thinking level from the end. Ids of models have colons
// too: only the name of a level counts.
func splitLevel(text string) (string, llm.ThinkingLevel) {
	i := strings.LastIndex(text, ":")
	if i < 0 || !slices.Contains(llm.ThinkingLevels, llm.ThinkingLevel(text[i+1:])) {
		return text, ""
	}
	return text[:i], llm.ThinkingLevel(text[i+1:])
}

// match finds the models of a provider, or of all, that a text names. The
// first of these that any model meets decides: the very id, the newest of a
// family, the end of the id, a part of it, all the words.
func (t *Table) match(provider, text string) []llm.Model {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, separator)
	joined := strings.Join(words, "-")
	var tiers [5][]llm.Model
	families := map[string]bool{} // by provider
	for _, m := range t.models {
		if provider != "" && m.Provider != provider {
			continue
		}
		id := strings.ToLower(m.ID)
		parts := strings.Join(strings.FieldsFunc(id, separator), "-")
		tier := -1
		switch {
		case id == text:
			tier = 0
		case text != "" && m.Family == text:
			if !families[m.Provider] {
				tier = 1
			}
			families[m.Provider] = true
		case strings.HasSuffix("-"+parts, "-"+joined):
			tier = 2
		case strings.Contains(parts, joined):
			tier = 3
		case hasAll(parts+" "+strings.ToLower(m.Name), words):
			tier = 4
		}
		if tier >= 0 {
			tiers[tier] = append(tiers[tier], m)
		}
	}
	for _, found := range tiers {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// separator is what stands between the words of a name.
func separator(r rune) bool { return strings.ContainsRune(" -_/.:", r) }

func hasAll(name string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// near are models whose names share a word with the text.
func (t *Table) near(text string) []string {
	var out []string
	for _, m := range t.models {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), separator) {
			if len(w) > 2 && strings.Contains(strings.ToLower(m.ID+" "+m.Name), w) {
				out = append(out, m.Provider+"/"+m.ID)
				break
			}
		}
	}
	return out
}
