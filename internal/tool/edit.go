package tool

import (
	"context"
	"errors"
	"fmt"
)

const editPrompt = `Changes parts of a text file. Each old_string must occur exactly once, character by character (without the line numbers that read adds); include lines around it until it is unique. new_string takes its place literally. Give several changes to one file in "edits": all are looked for in the file as it is now, and all are made or none.`

const editSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1},
"old_string":{"type":"string","minLength":1,"description":"the exact text to replace; occurs once"},
"new_string":{"type":"string","description":"what takes its place; may be empty"},
"edits":{"type":"array","minItems":1,"description":"several changes, instead of old_string and new_string","items":{"type":"object","additionalProperties":false,"required":["old_string","new_string"],"properties":{
"old_string":{"type":"string","minLength":1},
"new_string":{"type":"string"}}}}},
"oneOf":[{"required":["old_string","new_string"],"not":{"required":["edits"]}},{"required":["edits"],"not":{"anyOf":[{"required":["old_string"]},{"required":["new_string"]}]}}]}`

type editArgs struct {
	Path  string        `json:"path"`
	Old   *string       `json:"old_string"`
	New   *string       `json:"new_string"`
	Edits []replacement `json:"edits"`
}

func (a editArgs) all() ([]replacement, error) {
	switch {
	case len(a.Edits) > 0 && a.Old == nil && a.New == nil:
		return a.Edits, nil
	case len(a.Edits) == 0 && a.Old != nil && a.New != nil:
		return []replacement{{*a.Old, *a.New}}, nil
	}
	return nil, errors.New("give either old_string and new_string, or edits")
}

func (e *Env) edit() Tool {
	return spec[editArgs]{
		name: "edit", access: Edit, prompt: editPrompt, schema: editSchema,
		preview: func(a editArgs) View { return e.previewEdit(a) },
		run:     func(_ context.Context, a editArgs, _ func(View)) Result { return e.runEdit(a) },
	}.tool()
}

func (e *Env) runEdit(a editArgs) Result {
	p, err := e.place(a.Path)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	e.changing.Lock()
	defer e.changing.Unlock()

	old, data, err := e.planEdit(p, a)
	if err != nil {
		return Fail(err)
	}
	if err := e.replace(p, old, data); err != nil {
		return Fail(e.explain(p, err))
	}
	e.know(p.real, data)
	d := diffOf(p.shown, text(old.data), text(data), false)
	return TextResult(fmt.Sprintf("Edited %s: %s added, %d removed.\n%s", p.shown, plural(d.Added, "line"), d.Removed, cutText(d.Diff)), d)
}

func (e *Env) previewEdit(a editArgs) View {
	p, err := e.place(a.Path)
	if err != nil {
		return nil
	}
	defer p.close()
	old, data, err := e.planEdit(p, a)
	if err != nil {
		return nil
	}
	return diffOf(p.shown, text(old.data), text(data), false)
}

// planEdit works out a file's new content. Nothing is written.
func (e *Env) planEdit(p place, a editArgs) (old original, data []byte, err error) {
	edits, err := a.all()
	if err != nil {
		return old, nil, err
	}
	old, err = load(p)
	if err != nil {
		return old, nil, err
	}
	if seen, same := e.knows(p.real, old.data); seen && !same {
		return old, nil, e.explain(p, errChanged)
	}
	doc, err := parse(old.data)
	if err != nil {
		return old, nil, fmt.Errorf("%s is binary: edit changes text only", p.shown)
	}
	doc.text, err = applyEdits(doc.text, edits)
	if err != nil {
		return old, nil, fmt.Errorf("%s: %w", p.shown, err)
	}
	return old, doc.join(), nil
}
