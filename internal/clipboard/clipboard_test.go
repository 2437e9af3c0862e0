package clipboard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// desktop makes a PATH with only these programs, shell scripts, on a screen of
// X11 and Wayland.
func desktop(t *testing.T, programs map[string]string) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	dir = t.TempDir()
	for name, script := range programs {
		text := "#!/bin/sh\nPATH=/usr/bin:/bin\nhere='" + dir + "'\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("DISPLAY", ":0")
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	return dir
}

const keep = `echo "$0 $*" > "$here/called"; cat > "$here/copied"`

func TestTextWriter(t *testing.T) {
	for _, c := range []struct {
		name     string
		programs []string
		unset    string
		called   string // by which and how; empty: there is no writer
	}{
		{"macOS", []string{"pbcopy", "xclip"}, "", "pbcopy "},
		{"wayland", []string{"wl-copy", "xclip"}, "", "wl-copy "},
		{"x11 only", []string{"wl-copy", "xclip", "xsel"}, "WAYLAND_DISPLAY", "xclip -selection clipboard"},
		{"xsel", []string{"xsel"}, "", "xsel --clipboard --input"},
		{"no screen", []string{"xsel"}, "DISPLAY", ""},
		{"nothing", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			programs := map[string]string{}
			for _, p := range c.programs {
				programs[p] = keep
			}
			dir := desktop(t, programs)
			if c.unset != "" {
				t.Setenv(c.unset, "")
			}
			write := TextWriter()
			if c.called == "" {
				if write != nil {
					t.Error("there is a writer")
				}
				return
			}
			const text = "a\x00b\n世界\n"
			if err := write(context.Background(), text); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "copied")); string(got) != text {
				t.Errorf("copied %q", got)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, "called")); !strings.Contains(string(got), "/"+c.called) {
				t.Errorf("called %q, want %q", got, c.called)
			}
		})
	}
}

// A program that stays to serve the text is not waited for: this one stays until
// the test lets it go.
func TestTextWriterDoesNotWaitForTheServer(t *testing.T) {
	dir := desktop(t, map[string]string{"wl-copy": `cat > /dev/null
mkfifo "$here/end"
read x < "$here/end" &`})
	if err := TextWriter()(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
}

func TestTextWriterSaysWhatFailed(t *testing.T) {
	desktop(t, map[string]string{"xsel": "exit 3"})
	err := TextWriter()(context.Background(), "x")
	if err == nil || !strings.Contains(err.Error(), "copy with xsel: exit status 3") {
		t.Errorf("%v", err)
	}
}

func TestReadImage(t *testing.T) {
	wayland := func(types, give string) map[string]string {
		return map[string]string{"wl-paste": `case "$*" in
--list-types) ` + types + `;;
"--no-newline --type image/png") ` + give + `;;
"--no-newline --type image/jpeg") printf jpeg;;
*) exit 9;;
esac`}
	}
	for _, c := range []struct {
		name     string
		programs map[string]string
		data     string
		mime     string
		err      error  // exactly this
		says     string // of the error
	}{
		{name: "wayland", programs: wayland("echo text/html; echo image/png", `printf '\211PNG'`), data: "\x89PNG", mime: "image/png"},
		{name: "another type", programs: wayland("echo image/tiff; echo image/jpeg", "exit 1"), data: "jpeg", mime: "image/jpeg"},
		{name: "a text", programs: wayland("echo text/plain", "exit 1"), err: ErrNoImage},
		{name: "nothing copied", programs: wayland("echo Nothing is copied >&2; exit 1", "exit 1"), err: ErrNoImage},
		{name: "it is gone", programs: wayland("echo image/png", "exit 1"), says: "read the clipboard with wl-paste: exit status 1"},
		{name: "empty", programs: wayland("echo image/png", ":"), err: ErrNoImage},
		{name: "too large", programs: wayland("echo image/png", "head -c 40000000 /dev/zero"), says: "larger than 32 MB"},
		{name: "x11", programs: map[string]string{"xclip": `case "$*" in
*TARGETS*) echo TARGETS; echo image/png;;
"-selection clipboard -target image/png -out") printf xpng;;
esac`}, data: "xpng", mime: "image/png"},
		{name: "macOS", programs: map[string]string{"osascript": `echo '«data PNGf89504E47»'`}, data: "\x89PNG", mime: "image/png"},
		{name: "macOS, a text", programs: map[string]string{"osascript": `echo "can't make some data into the expected type" >&2; exit 1`}, err: ErrNoImage},
		{name: "macOS, nonsense", programs: map[string]string{"osascript": `echo '«data PNGfXY»'`}, err: ErrNoImage},
		{name: "no program", err: ErrNoProgram},
	} {
		t.Run(c.name, func(t *testing.T) {
			desktop(t, c.programs)
			data, mime, err := ReadImage(context.Background())
			switch {
			case c.says != "":
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
			case !errors.Is(err, c.err) || c.err == nil && err != nil:
				t.Errorf("%v, want %v", err, c.err)
			case string(data) != c.data || mime != c.mime:
				t.Errorf("%q %s", data, mime)
			}
		})
	}
}

func TestReadImageCanBeCancelled(t *testing.T) {
	desktop(t, map[string]string{"wl-paste": "exec sleep 60"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ReadImage(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
