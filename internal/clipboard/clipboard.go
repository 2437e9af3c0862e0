// Package clipboard is the system's clipboard, reached through the programs that
// systems have for it.
//
// The data are two tables, [writers] and [readers]: which program, when it is of
// use, and how it is asked. The first of a table that is there is taken. Nothing
// is linked in and nothing is kept running by us; the programs for X11 and
// Wayland stay for as long as somebody may still paste, as they have to.
//
// It does not know the terminal's own clipboard (OSC 52), which is the screen's.
package clipboard

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Errors of [ReadImage].
var (
	// ErrNoProgram says that nothing here can read the clipboard.
	ErrNoProgram = errors.New("no program that reads the clipboard was found; install wl-clipboard (Wayland) or xclip (X11), or name the file with @")
	// ErrNoImage says that what is on the clipboard is no picture.
	ErrNoImage = errors.New("there is no picture on the clipboard")
)

const (
	// patience is how long a program may take: they answer in milliseconds, or
	// hang because the program that owns the clipboard does.
	patience = 5 * time.Second
	// maxImage is the largest picture that is taken, in bytes.
	maxImage = 32 << 20
)

// program is a way to the clipboard.
type program struct {
	name  string
	args  []string
	needs string // an environment variable without which it cannot work; empty: none
}

// path is where the program is; empty if it is of no use here.
func (p program) path() string {
	if p.needs != "" && os.Getenv(p.needs) == "" {
		return ""
	}
	path, err := exec.LookPath(p.name)
	if err != nil {
		return ""
	}
	return path
}

// writers take a text on standard input.
var writers = []program{
	{name: "pbcopy"},
	{name: "wl-copy", needs: "WAYLAND_DISPLAY"},
	{name: "xclip", args: []string{"-selection", "clipboard"}, needs: "DISPLAY"},
	{name: "xsel", args: []string{"--clipboard", "--input"}, needs: "DISPLAY"},
}

// TextWriter is a function that puts a text on the clipboard, by the first
// program for that; nil where there is none.
func TextWriter() func(ctx context.Context, text string) error {
	for _, w := range writers {
		if path := w.path(); path != "" {
			return func(ctx context.Context, text string) error { return w.write(ctx, path, text) }
		}
	}
	return nil
}

func (p program) write(ctx context.Context, path, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, p.args...)
	cmd.Stdin = strings.NewReader(text)
	// No output is read: what stays behind to serve the text holds it open.
	if err := run(ctx, cmd); err != nil {
		return fmt.Errorf("copy with %s: %w", p.name, err)
	}
	return nil
}

// reader is a way to read a picture.
type reader struct {
	program
	list []string                       // arguments that list the types of what is there, a line each; nil: ask for PNG at once
	read func(mime string) []string     // arguments that write a type to standard output
	data func(out []byte) (data []byte) // what the output says; nil: it is the picture
}

var readers = []reader{
	{
		program: program{name: "osascript"},
		read:    func(string) []string { return []string{"-e", "the clipboard as «class PNGf»"} },
		data:    appleData,
	},
	{
		program: program{name: "wl-paste", needs: "WAYLAND_DISPLAY"},
		list:    []string{"--list-types"},
		read:    func(mime string) []string { return []string{"--no-newline", "--type", mime} },
	},
	{
		program: program{name: "xclip", needs: "DISPLAY"},
		list:    []string{"-selection", "clipboard", "-target", "TARGETS", "-out"},
		read:    func(mime string) []string { return []string{"-selection", "clipboard", "-target", mime, "-out"} },
	},
}

// types are those that models take, the best first.
var types = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// ReadImage is the picture on the clipboard, in one of the types that models
// take. The error is ErrNoProgram, ErrNoImage, that of ctx, or what the program
// came to.
func ReadImage(ctx context.Context) (data []byte, mime string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, r := range readers {
		if path := r.path(); path != "" {
			return r.image(ctx, path)
		}
	}
	return nil, "", ErrNoProgram
}

func (r reader) image(ctx context.Context, path string) ([]byte, string, error) {
	mime := types[0]
	if r.list != nil {
		// Where nothing at all is on the clipboard they fail: then there is no
		// picture either.
		out, err := output(ctx, path, r.list)
		if err := ctx.Err(); err != nil {
			return nil, "", r.failed(err)
		}
		if mime = best(string(out)); err != nil || mime == "" {
			return nil, "", ErrNoImage
		}
	}
	out, err := output(ctx, path, r.read(mime))
	switch {
	case ctx.Err() != nil:
		return nil, "", r.failed(ctx.Err())
	case err != nil && r.list == nil:
		return nil, "", ErrNoImage // its way to say that there is none
	case err != nil:
		return nil, "", r.failed(err)
	}
	if r.data != nil {
		out = r.data(out)
	}
	if len(out) == 0 {
		return nil, "", ErrNoImage
	}
	return out, mime, nil
}

func (r reader) failed(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it did not answer for %v", patience)
	}
	return fmt.Errorf("read the clipboard with %s: %w", r.name, err)
}

// best is the best of the types in a list.
func best(list string) string {
	offered := strings.Fields(list)
	for _, t := range types {
		for _, o := range offered {
			if o == t {
				return t
			}
		}
	}
	return ""
}

// appleData reads AppleScript's way to write bytes: «data PNGf8950…».
func appleData(out []byte) []byte {
	_, rest, ok := bytes.Cut(out, []byte("PNGf"))
	digits, _, closed := bytes.Cut(rest, []byte("»"))
	if !ok || !closed {
		return nil
	}
	data := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(data, digits); err != nil {
		return nil
	}
	return data
}

// output is what a program writes, at most maxImage.
func output(ctx context.Context, path string, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(out, maxImage+1))
	if len(data) > maxImage {
		err = fmt.Errorf("it is larger than %d MB", maxImage>>20)
	}
	if err != nil {
		_ = cmd.Process.Kill() // it may wait for us to read on
		_ = cmd.Wait()
		return nil, err
	}
	return data, cmd.Wait()
}

// run runs a program, and says so where its time was over.
func run(ctx context.Context, cmd *exec.Cmd) error {
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not answer for %v", patience)
	}
	return err
}
