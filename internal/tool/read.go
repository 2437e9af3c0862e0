package tool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // formats whose size we can tell
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"os"
	"strings"

	"banyan/internal/llm"
)

const readPrompt = `Reads a file. Text comes with line numbers, "12<tab>text": the number and the tab are not part of the file. At most 2,000 lines or 50 KB at once; use offset and limit for the rest. Images (PNG, JPEG, GIF, WebP) are shown to you. A folder gives its entries. Binary files are described only.`

const readSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1,"description":"file or folder, absolute or relative to the working folder"},
"offset":{"type":"integer","minimum":1,"description":"first line, from 1"},
"limit":{"type":"integer","minimum":1,"description":"number of lines"}}}`

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

// maxWhole is the size up to which a file is read as a whole, hashed, decoded
// and may be edited. Larger ones are streamed.
const maxWhole = 16 << 20

// maxImage is what providers take of a picture, before base64.
const maxImage = 3_750_000

func (e *Env) read() Tool {
	return spec[readArgs]{
		name: "read", access: Read, prompt: readPrompt, schema: readSchema,
		run: func(ctx context.Context, a readArgs, _ func(View)) Result { return e.runRead(ctx, a) },
	}.tool()
}

func (e *Env) runRead(ctx context.Context, a readArgs) Result {
	p, err := e.place(a.Path)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	if info, err := p.root.Stat(p.rel); err == nil && info.IsDir() {
		return e.list(p)
	}
	f, info, err := p.open()
	if err != nil {
		return Fail(err)
	}
	defer f.Close()
	if info.Size() > maxWhole {
		return readLarge(ctx, p, f, info.Size(), a)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err != nil {
		return Fail(pathError(p.shown, err))
	}
	if len(data) > maxWhole {
		return Fail(fmt.Errorf("%s says that it has %s and gives more than %s: not a file to read", p.shown, bytesText(info.Size()), bytesText(maxWhole)))
	}
	e.know(p.real, data)
	if mime := imageType(data); mime != "" {
		return readImage(p, data, mime)
	}
	doc, err := parse(data)
	if errors.Is(err, errBinary) {
		return describeBinary(p, data)
	}
	text := bytes.ReplaceAll(doc.text, []byte("\r\n"), []byte("\n"))
	return readText(p, text, a)
}

// readText numbers and cuts a file that is in memory.
func readText(p place, text []byte, a readArgs) Result {
	total := countLines(text)
	if total == 0 {
		return TextResult(fmt.Sprintf("%s is empty.", p.shown), Plain{Path: p.shown})
	}
	first := max(a.Offset, 1)
	if first > total {
		return Fail(fmt.Errorf("%s has %s: there is no line %d", p.shown, plural(total, "line"), first))
	}
	w := window{first: first, limit: a.Limit}
	rest := text
	for n := 1; len(rest) > 0 && !w.full; n++ {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		if n >= first {
			w.add(string(line))
		}
		rest = after
	}
	if last := first + w.lines - 1; last < total {
		w.note("lines %d to %d of %d; go on with offset %d", first, last, total, last+1)
	}
	return w.result(p, total, int64(len(text)))
}

// readLarge streams to the lines that are asked for. How many lines there are in
// all is not found out.
func readLarge(ctx context.Context, p place, f *os.File, size int64, a readArgs) Result {
	in := bufio.NewReaderSize(f, 256<<10)
	head, _ := in.Peek(8 << 10)
	if isBinary(head) {
		return TextResult(fmt.Sprintf("%s is binary, %s (%s).", p.shown, bytesText(size), http.DetectContentType(head)), nil)
	}
	first := max(a.Offset, 1)
	for n := 1; n < first; n++ {
		if _, err := discardLine(ctx, in); err == io.EOF {
			return Fail(fmt.Errorf("%s has %s: there is no line %d", p.shown, plural(n-1, "line"), first))
		} else if err != nil {
			return Fail(pathError(p.shown, err))
		}
	}
	w := window{first: first, limit: a.Limit}
	var err error
	for !w.full && err == nil {
		var line string
		if line, err = takeLine(ctx, in); err == nil || line != "" {
			w.add(line)
		}
	}
	if err != nil && err != io.EOF {
		return Fail(pathError(p.shown, err))
	}
	if w.lines == 0 && err == io.EOF {
		return Fail(fmt.Errorf("%s has %s: there is no line %d", p.shown, plural(first-1, "line"), first))
	}
	if err == nil {
		last := first + w.lines - 1
		w.note("lines %d to %d of a file of %s; go on with offset %d, or search with grep", first, last, bytesText(size), last+1)
	}
	return w.result(p, 0, size)
}

// discardLine skips a line of any length.
func discardLine(ctx context.Context, in *bufio.Reader) (int64, error) {
	var n int64
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if err == nil || err == io.EOF && n > 0 {
			return n, nil
		}
		if err != bufio.ErrBufferFull {
			return n, err
		}
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
	}
}

// takeLine reads a line without its end, of which no more is kept than is shown.
func takeLine(ctx context.Context, in *bufio.Reader) (string, error) {
	part, err := in.ReadSlice('\n')
	line := strings.TrimSuffix(strings.TrimSuffix(string(part), "\n"), "\r")
	if err != bufio.ErrBufferFull {
		return line, err
	}
	more, err := discardLine(ctx, in)
	return fmt.Sprintf("%s… [%d more bytes in this line]", strings.ToValidUTF8(line[:maxColumns], ""), int64(len(line)-maxColumns)+more), err
}

// window collects the lines that a model is shown, numbered, up to the limits.
type window struct {
	first int // number of its first line
	limit int // lines; 0 for no limit of the caller
	lines int
	full  bool
	model strings.Builder // numbered
	shown strings.Builder // as they are
	cut   bool
}

func (w *window) add(line string) {
	line = cutLine(strings.ToValidUTF8(line, "\uFFFD"))
	numbered := fmt.Sprintf("%d\t%s\n", w.first+w.lines, line)
	if w.lines > 0 && w.model.Len()+len(numbered) > maxBytes {
		w.full = true
		return
	}
	w.model.WriteString(numbered)
	w.shown.WriteString(line)
	w.shown.WriteByte('\n')
	w.lines++
	w.full = w.lines == maxLines || w.lines == w.limit
}

// note tells the model what it has not been shown.
func (w *window) note(format string, args ...any) {
	fmt.Fprintf(&w.model, "["+format+"]\n", args...)
	w.cut = true
}

func (w *window) result(p place, lines int, bytes int64) Result {
	v := Plain{Text: w.shown.String(), Path: p.shown, Line: w.first}
	if w.cut {
		v.Cut = &Cut{Lines: lines, Bytes: bytes, Full: p.real}
	}
	return TextResult(w.model.String(), v)
}

// imageType is the MIME type of a picture that models can be shown, else "".
func imageType(data []byte) string {
	switch mime := http.DetectContentType(data); mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return mime
	}
	return ""
}

func readImage(p place, data []byte, mime string) Result {
	if len(data) > maxImage {
		return Fail(fmt.Errorf("%s is a picture of %s, more than the %s that models take: make it smaller first", p.shown, bytesText(int64(len(data))), bytesText(maxImage)))
	}
	view := Image{Path: p.shown, MIME: mime}
	if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		view.Width, view.Height = size.Width, size.Height
	}
	return Result{
		Content: []llm.Block{
			llm.Text{Text: fmt.Sprintf("%s (%s, %s)", p.shown, mime, bytesText(int64(len(data))))},
			llm.Image{Data: base64.StdEncoding.EncodeToString(data), MIME: mime},
		},
		View: view,
	}
}

func describeBinary(p place, data []byte) Result {
	text := fmt.Sprintf("%s is binary, %s (%s), SHA-256 %x.", p.shown, bytesText(int64(len(data))), http.DetectContentType(data), sha256.Sum256(data))
	return TextResult(text, Plain{Text: text})
}
