package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
)

const writePrompt = `Writes a whole file: a new one, with the folders above it, or one that you have read before. To change part of a file, use edit. A byte order mark, CRLF line ends, UTF-16 and the mode of an existing file are kept.`

const writeSchema = `{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{
"path":{"type":"string","minLength":1},
"content":{"type":"string","description":"the whole new content"}}}`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (e *Env) write() Tool {
	return spec[writeArgs]{
		name: "write", access: Edit, prompt: writePrompt, schema: writeSchema,
		preview: func(a writeArgs) View { return e.previewWrite(a) },
		run:     func(_ context.Context, a writeArgs, _ func(View)) Result { return e.runWrite(a) },
	}.tool()
}

func (e *Env) runWrite(a writeArgs) Result {
	p, err := e.place(a.Path)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	e.changing.Lock()
	defer e.changing.Unlock()

	old, err := load(p)
	if errors.Is(err, fs.ErrNotExist) {
		return e.writeNew(p, a.Content)
	}
	if err != nil {
		return Fail(err)
	}
	data := inStyleOf(old.data, a.Content)
	if bytes.Equal(data, old.data) {
		// Also where the model has not read it: a call that was cut off by the end
		// of the program can be made again.
		e.know(p.real, data)
		return TextResult(fmt.Sprintf("%s had this content already.", p.shown), nil)
	}
	if len(old.data) > 0 {
		if err := e.mayReplace(p, old.data); err != nil {
			return Fail(err)
		}
	}
	if err := e.replace(p, old, data); err != nil {
		return Fail(e.explain(p, err))
	}
	e.know(p.real, data)
	d := diffOf(p.shown, text(old.data), text(data), false)
	return TextResult(fmt.Sprintf("Wrote %s: %s, %s added, %d removed.", p.shown, bytesText(int64(len(data))), plural(d.Added, "line"), d.Removed), d)
}

func (e *Env) writeNew(p place, content string) Result {
	if err := create(p, []byte(content)); err != nil {
		return Fail(e.explain(p, err))
	}
	e.know(p.real, []byte(content))
	return TextResult(fmt.Sprintf("Created %s, %s.", p.shown, plural(countLines([]byte(content)), "line")), diffOf(p.shown, "", content, true))
}

// mayReplace refuses to overwrite what the model does not know.
func (e *Env) mayReplace(p place, now []byte) error {
	switch seen, same := e.knows(p.real, now); {
	case !seen:
		return fmt.Errorf("%s exists and you have not read it: read it first, then write it again or edit it", p.shown)
	case !same:
		return e.explain(p, errChanged)
	}
	return nil
}

// explain makes an error of store.go one that the model can act on.
func (e *Env) explain(p place, err error) error {
	switch {
	case errors.Is(err, errChanged):
		return fmt.Errorf("%s has changed since you read it: read it again, nothing was written", p.shown)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s was created by another program meanwhile: read it first, nothing was written", p.shown)
	}
	return err
}

func (e *Env) previewWrite(a writeArgs) View {
	p, err := e.place(a.Path)
	if err != nil {
		return nil
	}
	defer p.close()
	old, err := load(p)
	if errors.Is(err, fs.ErrNotExist) {
		return diffOf(p.shown, "", a.Content, true)
	}
	if err != nil {
		return nil
	}
	return diffOf(p.shown, text(old.data), text(inStyleOf(old.data, a.Content)), false)
}

// inStyleOf stores content as old is stored: its byte order mark, its encoding,
// and CRLF where every line of old ends so.
func inStyleOf(old []byte, content string) []byte {
	doc, err := parse(old)
	if err != nil {
		return []byte(content)
	}
	body := []byte(content)
	lf, crlf := []byte("\n"), []byte("\r\n")
	if n := bytes.Count(doc.text, crlf); n > 0 && n == bytes.Count(doc.text, lf) && !bytes.Contains(body, crlf) {
		body = bytes.ReplaceAll(body, lf, crlf)
	}
	doc.text = bytes.TrimPrefix(body, bomUTF8)
	if doc.bom == nil {
		doc.text = body
	}
	return doc.join()
}

// text is a file's content for a diff.
func text(data []byte) string {
	doc, err := parse(data)
	if err != nil {
		return fmt.Sprintf("[binary, %s]\n", bytesText(int64(len(data))))
	}
	return string(doc.text)
}
