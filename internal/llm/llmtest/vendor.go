package llmtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The vendors' types know every name and place of their protocols, which no test
// of ours could: what we send must pass through them unchanged, and what we read
// must be named there.

// Through holds something that we send to what is left of it after a vendor's
// type P has decoded and encoded it. Members that are named are not compared.
func Through[P any](t *testing.T, sent any, without ...string) {
	t.Helper()
	ours := members(t, sent)
	for _, name := range without {
		delete(ours, name)
	}
	var params P
	raw, err := json.Marshal(ours)
	if err == nil {
		err = json.Unmarshal(raw, &params)
	}
	if err != nil {
		t.Fatal(err)
	}
	if theirs := members(t, params); !reflect.DeepEqual(ours, theirs) {
		a, _ := json.MarshalIndent(ours, "", " ")
		b, _ := json.MarshalIndent(theirs, "", " ")
		t.Errorf("ours   %s\ntheirs %s", a, b)
	}
}

func members(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Named checks that a struct of ours, which is read from JSON, has no names but
// those of a vendor's struct in the same places, and others: those that are
// added by who speaks the same protocol, as "usage.name".
func Named(t *testing.T, ours, theirs any, others ...string) {
	t.Helper()
	var unknown []string
	named(reflect.TypeOf(ours), reflect.TypeOf(theirs), "", &unknown)
	unknown = slices.DeleteFunc(unknown, func(name string) bool { return slices.Contains(others, name) })
	if len(unknown) > 0 {
		t.Errorf("%T reads %q, which %T has not", ours, unknown, theirs)
	}
}

func named(ours, theirs reflect.Type, place string, unknown *[]string) {
	ours, theirs = element(ours), element(theirs)
	if ours.Kind() != reflect.Struct || theirs.Kind() != reflect.Struct {
		return
	}
	names := map[string]reflect.Type{}
	for f := range theirs.Fields() {
		names[jsonName(f)] = f.Type
	}
	for f := range ours.Fields() {
		name := jsonName(f)
		if t, ok := names[name]; ok {
			named(f.Type, t, place+name+".", unknown)
		} else {
			*unknown = append(*unknown, place+name)
		}
	}
}

// element is what a pointer or a list is of.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
