package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"banyan/internal/session"
)

// Format is what is written.
type Format string

// The formats. Their values are the names that users give.
const (
	JSONL    Format = "jsonl"
	Markdown Format = "md"
	HTML     Format = "html"
)

// extensions are what files of the formats end in.
var extensions = map[string]Format{
	"jsonl": JSONL, "md": Markdown, "markdown": Markdown, "html": HTML, "htm": HTML,
}

// ParseFormat reads the name of a format, with or without a dot before it. The
// error names those there are.
func ParseFormat(name string) (Format, error) {
	f, ok := extensions[strings.ToLower(strings.TrimPrefix(name, "."))]
	if !ok {
		return "", fmt.Errorf("there is no export format %q; there are jsonl (a session again), md (Markdown) and html (a page)", name)
	}
	return f, nil
}

// FormatOf is the format that a file's name says.
func FormatOf(path string) (Format, error) {
	f, err := ParseFormat(filepath.Ext(path))
	if err != nil {
		return "", fmt.Errorf("%q says no format: take .jsonl for a session, .md for Markdown, .html for a page", filepath.Base(path))
	}
	return f, nil
}

// Part is what of a session is written. The zero Part is all of it.
type Part struct {
	id   session.ID
	kind partKind
}

type partKind uint8

const (
	all partKind = iota
	path
	below
)

// PathTo is the path from a root to an entry; nothing for the zero ID.
func PathTo(id session.ID) Part { return Part{id, path} }

// Below is an entry and everything below it.
func Below(id session.ID) Part { return Part{id, below} }

// errNoFile: what is in memory only has no lines to copy.
var errNoFile = errors.New("this session has no file yet; /save <file> makes one")

// Write writes a part of a session.
func Write(w io.Writer, s session.Snapshot, p Part, f Format) error {
	if p.id != "" && len(s.PathIDs(p.id)) == 0 {
		return fmt.Errorf("the session has no entry %q", p.id)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	write := writePage
	switch f {
	case JSONL:
		write = writeLines
	case Markdown:
		write = writeMarkdown
	}
	return errors.Join(write(out, s, p), out.Flush())
}

func writeLines(out *bufio.Writer, s session.Snapshot, p Part) error {
	switch {
	case p.kind == path:
		return s.ExportPath(out, p.id, session.Options{})
	case p.kind == below:
		return s.ExportSubtree(out, p.id, session.Options{})
	case s.Path() == "":
		return errNoFile
	}
	return s.Export(out)
}

// File writes a part of a session into a file that must not exist yet
// (fs.ErrExist). One that could not be written whole is taken away again.
func File(path string, s session.Snapshot, p Part, f Format) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := errors.Join(Write(file, s, p, f), file.Close()); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}
