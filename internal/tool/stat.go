package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

const statPrompt = `Tells what a path is: file, folder or link and where it leads, size in bytes, mode, time of the last change.`

const existsPrompt = `Tells whether a path exists, and whether it is a file or a folder.`

const pathSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1}}}`

type pathArgs struct {
	Path string `json:"path"`
}

func (e *Env) stat() Tool {
	return spec[pathArgs]{
		name: "stat", access: Read, prompt: statPrompt, schema: pathSchema,
		run: func(_ context.Context, a pathArgs, _ func(View)) Result {
			info, link, err := e.look(a.Path)
			if err != nil {
				return Fail(err)
			}
			lines := []string{
				"path: " + a.Path + link,
				"kind: " + kindOf(info.Mode()),
				fmt.Sprintf("size: %d bytes", info.Size()),
				"mode: " + info.Mode().String(),
				"changed: " + info.ModTime().UTC().Format(time.RFC3339),
			}
			return TextResult(strings.Join(lines, "\n")+"\n", nil)
		},
	}.tool()
}

func (e *Env) exists() Tool {
	return spec[pathArgs]{
		name: "exists", access: Read, prompt: existsPrompt, schema: pathSchema,
		run: func(_ context.Context, a pathArgs, _ func(View)) Result {
			info, link, err := e.look(a.Path)
			if errors.Is(err, fs.ErrNotExist) {
				return TextResult(fmt.Sprintf("no: %s does not exist", a.Path), nil)
			}
			if err != nil {
				return Fail(err)
			}
			return TextResult(fmt.Sprintf("yes: %s is a %s", a.Path+link, kindOf(info.Mode())), nil)
		},
	}.tool()
}

// look is what a path leads to and, where it is a link, " → target".
func (e *Env) look(name string) (info fs.FileInfo, link string, err error) {
	p, err := e.place(name)
	if err != nil {
		return nil, "", err
	}
	defer p.close()
	info, err = p.root.Lstat(p.rel)
	if err != nil {
		return nil, "", pathError(name, err)
	}
	if abs, err := e.abs(name); err == nil && filepath.Clean(abs) != p.real {
		link = " → " + p.shown
	}
	return info, link, nil
}
