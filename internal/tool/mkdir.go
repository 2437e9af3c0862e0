package tool

import (
	"context"
	"fmt"
)

const mkdirPrompt = `Makes a folder, and the folders above it. It is no error if it exists. (write makes the folders that it needs by itself.)`

func (e *Env) mkdir() Tool {
	return spec[pathArgs]{
		name: "mkdir", access: Edit, prompt: mkdirPrompt, schema: pathSchema,
		run: func(_ context.Context, a pathArgs, _ func(View)) Result {
			p, err := e.place(a.Path)
			if err != nil {
				return Fail(err)
			}
			defer p.close()
			if err := p.root.MkdirAll(p.rel, 0o755); err != nil {
				return Fail(pathError(p.shown, err))
			}
			return TextResult(fmt.Sprintf("%s is there.", p.shown), nil)
		},
	}.tool()
}
