package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const rmPrompt = `Removes a file, or with recursive a folder and all that is in it. It goes to the trash where there is one. A link is removed, not what it leads to.`

const rmSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1},
"recursive":{"type":"boolean","description":"also a folder that is not empty"}}}`

type rmArgs struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

func (e *Env) rm() Tool {
	return spec[rmArgs]{
		name: "rm", access: Edit, prompt: rmPrompt, schema: rmSchema,
		run: func(_ context.Context, a rmArgs, _ func(View)) Result { return e.runRm(a) },
	}.tool()
}

func (e *Env) runRm(a rmArgs) Result {
	p, err := e.entry(a.Path)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	e.changing.Lock()
	defer e.changing.Unlock()

	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return Fail(pathError(p.shown, err))
	}
	if info.IsDir() && !a.Recursive {
		// Only an empty one; nothing is lost, so no trash.
		if err := p.root.Remove(p.rel); err != nil {
			return Fail(fmt.Errorf("%s is a folder that is not empty: set recursive to remove it with all that is in it", p.shown))
		}
		return TextResult(fmt.Sprintf("Removed the empty folder %s.", p.shown), nil)
	}
	err = e.toTrash(p)
	if err == nil {
		return TextResult(fmt.Sprintf("Moved %s to the trash.", p.shown), nil)
	}
	if !p.inside {
		return Fail(fmt.Errorf("%s is not in the workspace and cannot go to the trash (%w): it is not removed for good", p.shown, err))
	}
	if err := p.root.RemoveAll(p.rel); err != nil {
		return Fail(pathError(p.shown, err))
	}
	return TextResult(fmt.Sprintf("Removed %s.", p.shown), nil)
}

// entry is the place of a name itself: unlike place, it does not follow a link
// that is the last part.
func (e *Env) entry(name string) (place, error) {
	if strings.ContainsRune(name, 0) {
		return place{}, fmt.Errorf("the path %q has a NUL byte", name)
	}
	abs, err := e.abs(name)
	if err != nil {
		return place{}, err
	}
	base := filepath.Base(abs)
	if abs == e.Dir || abs == filepath.Dir(abs) {
		return place{}, errors.New("this is the workspace itself, or the root: it is not removed")
	}
	p, err := e.place(filepath.Dir(abs))
	if err != nil {
		return place{}, err
	}
	p.rel, p.real = filepath.Join(p.rel, base), filepath.Join(p.real, base)
	p.shown = e.show(p.real)
	for _, r := range e.roots {
		if _, ok := below(p.real, r.dir); ok {
			p.close()
			return place{}, fmt.Errorf("%s holds the workspace: it is not removed", p.shown)
		}
	}
	return p, nil
}

// toTrash moves an entry to the user's trash, as freedesktop.org describes it:
// the information first, then a rename, which fails between file systems. The
// trash must exist: where nobody empties one, we do not begin to fill it.
func (e *Env) toTrash(p place) error {
	trash, err := trashDir()
	if err != nil {
		return err
	}
	base := filepath.Base(p.real)
	text := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n",
		(&url.URL{Path: p.real}).EscapedPath(), e.Now().Format("2006-01-02T15:04:05"))
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		info := filepath.Join(trash, "info", name+".trashinfo")
		f, err := os.OpenFile(info, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err == nil {
			err = rename(p, filepath.Join(trash, "files", name))
		}
		if err != nil {
			os.Remove(info)
		}
		return err
	}
}

// rename moves an entry out of its root, which os.Root does not do: by the open
// folder that it is in, so that no link can come between.
func rename(p place, target string) error {
	dir, err := p.root.Open(filepath.Dir(p.rel))
	if err != nil {
		return err
	}
	defer dir.Close()
	return renameAt(dir, filepath.Base(p.rel), target)
}

func trashDir() (string, error) {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		data = filepath.Join(home, ".local", "share")
	}
	trash := filepath.Join(data, "Trash")
	for _, part := range []string{"files", "info"} {
		if fi, err := os.Stat(filepath.Join(trash, part)); err != nil || !fi.IsDir() {
			return "", fmt.Errorf("there is no trash: %w", syscall.ENOENT)
		}
	}
	return trash, nil
}
