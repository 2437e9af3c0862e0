// Package keymap is keys as data. A [Binding] says what a key does and how to
// describe it; a [Table] of them drives dispatch, help and the generated key
// reference, so that none of the three can be wrong about the others.
//
// It knows keystrokes by their names ("ctrl+k", "ctrl+x m") and nothing of what
// they act upon: that is the type parameter.
package keymap

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Binding is one thing that keys can do to a T.
type Binding[T any] struct {
	ID string // stable; how a user's settings name it
	// Keys are the default keystrokes, each as tea.Key.String gives it. A
	// sequence is written with spaces: "ctrl+x m".
	Keys []string
	Help string // what it does, in the imperative
	// Also names keys for the reference that are no keystrokes of their own.
	Also string
	When func(T) bool // nil means always; a key goes on to the next binding, or the next table, where it is false
	Run  func(T) tea.Cmd
}

// Table is a set of bindings, in order: of two for one key the first whose When
// holds is taken.
type Table[T any] struct {
	bindings []Binding[T]
	byKey    map[string][]int
	prefixes map[string]bool // proper prefixes of sequences
}

// New makes a table. Overrides replace the keys of bindings by id; an empty
// list takes all keys away. Ids of other tables are ignored.
func New[T any](bindings []Binding[T], overrides map[string][]string) Table[T] {
	t := Table[T]{bindings: slices.Clone(bindings), byKey: map[string][]int{}, prefixes: map[string]bool{}}
	for i := range t.bindings {
		b := &t.bindings[i]
		if keys, ok := overrides[b.ID]; ok {
			b.Keys = keys
		}
		for _, key := range b.Keys {
			t.byKey[key] = append(t.byKey[key], i)
			for j := range key {
				if key[j] == ' ' && j > 0 {
					t.prefixes[key[:j]] = true
				}
			}
		}
	}
	return t
}

// Find is the binding of a keystroke or sequence that holds for target now.
func (t Table[T]) Find(target T, key string) (Binding[T], bool) {
	for _, i := range t.byKey[key] {
		if b := t.bindings[i]; b.When == nil || b.When(target) {
			return b, true
		}
	}
	return Binding[T]{}, false
}

// Key is the first keystroke of a binding, for hints; empty if it has none.
func (t Table[T]) Key(id string) string {
	for _, b := range t.bindings {
		if b.ID == id && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}

// IsPrefix says whether keys begin a longer sequence.
func (t Table[T]) IsPrefix(key string) bool { return t.prefixes[key] }

// Row is a binding without its function, for help and documents.
type Row struct {
	ID   string
	Keys []string
	Also string
	Help string
}

// Rows are the table's bindings, in order.
func (t Table[T]) Rows() []Row {
	rows := make([]Row, len(t.bindings))
	for i, b := range t.bindings {
		rows[i] = Row{ID: b.ID, Keys: b.Keys, Also: b.Also, Help: b.Help}
	}
	return rows
}

// Title writes a keystroke for people: "ctrl+x m" is "Ctrl+X M". A letter alone
// stays as it is, because g and G are two keys.
func Title(key string) string {
	if len(key) == 1 {
		return key
	}
	strokes := strings.Split(key, " ")
	for i, stroke := range strokes {
		parts := strings.Split(stroke, "+")
		for j, part := range parts {
			if name, ok := names[part]; ok {
				parts[j] = name
			} else if part != "" { // it is empty beside a plus that is a key
				parts[j] = strings.ToUpper(part[:1]) + part[1:]
			}
		}
		strokes[i] = strings.Join(parts, "+")
	}
	return strings.Join(strokes, " ")
}

var names = map[string]string{"pgup": "PgUp", "pgdown": "PgDn"}

// Titles writes all keys of a row for people.
func (r Row) Titles() string {
	var titles []string
	for _, key := range r.Keys {
		titles = append(titles, Title(key))
	}
	if r.Also != "" {
		titles = append(titles, r.Also)
	}
	return strings.Join(titles, ", ")
}

// Check says which overrides name no row.
func Check(overrides map[string][]string, rows []Row) []error {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = true
	}
	var errs []error
	for id := range overrides {
		if !known[id] {
			errs = append(errs, fmt.Errorf("keys: there is no action %q; /keys lists them", id))
		}
	}
	return errs
}
