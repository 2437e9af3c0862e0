package tool

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

const lsPrompt = `Lists a folder: sub-folders end in "/", links say where they lead, files come with their size. Not recursive: use glob for that. Hidden and ignored entries are shown.`

const lsSchema = `{"type":"object","additionalProperties":false,"properties":{
"path":{"type":"string","minLength":1,"description":"folder, default the working folder"}}}`

type lsArgs struct {
	Path string `json:"path"`
}

const maxEntries = 1000

func (e *Env) ls() Tool {
	return spec[lsArgs]{
		name: "ls", access: Read, prompt: lsPrompt, schema: lsSchema,
		run: func(_ context.Context, a lsArgs, _ func(View)) Result {
			if a.Path == "" {
				a.Path = "."
			}
			p, err := e.place(a.Path)
			if err != nil {
				return Fail(err)
			}
			defer p.close()
			return e.list(p)
		},
	}.tool()
}

// list shows a folder's entries, by name.
func (e *Env) list(p place) Result {
	entries, err := fs.ReadDir(p.root.FS(), p.rel)
	if err != nil {
		return Fail(pathError(p.shown, err))
	}
	if len(entries) == 0 {
		return TextResult(fmt.Sprintf("%s is empty.", p.shown), Listing{})
	}
	var out strings.Builder
	view := Listing{Total: len(entries)}
	for _, entry := range entries[:min(len(entries), maxEntries)] {
		item, line := describeEntry(p, entry)
		view.Items = append(view.Items, item)
		out.WriteString(line + "\n")
	}
	if len(entries) > maxEntries {
		fmt.Fprintf(&out, "[%d more of %d: use glob]\n", len(entries)-maxEntries, len(entries))
	}
	return TextResult(out.String(), view)
}

func describeEntry(p place, entry fs.DirEntry) (Item, string) {
	item := Item{Path: entry.Name(), Dir: entry.IsDir()}
	switch {
	case entry.IsDir():
		return item, item.Path + "/"
	case entry.Type()&fs.ModeSymlink != 0:
		target, _ := p.root.Readlink(filepath.Join(p.rel, entry.Name()))
		item.Text = "→ " + target
		return item, item.Path + " → " + target
	case !entry.Type().IsRegular():
		item.Text = entry.Type().String()
		return item, item.Path + " (" + kindOf(entry.Type()) + ")"
	}
	if info, err := entry.Info(); err == nil {
		item.Size = info.Size()
	}
	return item, fmt.Sprintf("%s  %s", item.Path, bytesText(item.Size))
}
