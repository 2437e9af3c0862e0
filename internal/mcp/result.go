package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Pictures that models take, and how many bytes of one.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

const maxPicture = 5 << 20

// result makes our result of a server's: its texts as one, cut as those of our
// tools are, and its pictures. What neither models nor people can look at here is
// kept in a file.
func (r *runner) result(theirs *sdk.CallToolResult) tool.Result {
	var c content
	for _, part := range theirs.Content {
		r.part(&c, part)
	}
	if theirs.StructuredContent != nil {
		c.structured(theirs.StructuredContent)
	}
	text := strings.Join(c.texts, "\n\n")
	out := tool.Result{}
	if text != "" || len(c.pictures) == 0 {
		out = tool.KeptResult("", text, func(text string) (string, error) { return r.keep("txt", []byte(text)) })
	}
	for _, p := range c.pictures {
		out.Content = append(out.Content, p)
	}
	if theirs.IsError {
		out.Err = fmt.Errorf("the MCP server %s says that the call failed", r.server.Name)
	}
	return out
}

// content is what a result is made of, in order of its kinds.
type content struct {
	texts    []string
	pictures []llm.Image
}

func (c *content) say(format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...))
}

func (r *runner) part(c *content, part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		c.texts = append(c.texts, p.Text)
	case *sdk.ImageContent:
		r.blob(c, "a picture", p.MIMEType, p.Data)
	case *sdk.AudioContent:
		r.blob(c, "a sound", p.MIMEType, p.Data)
	case *sdk.ResourceLink:
		c.say("[resource %s%s: the user can add it with @%s:%s]", p.URI, note(p.Title, p.Name, p.MIMEType, p.Description), r.clean, p.URI)
	case *sdk.EmbeddedResource:
		r.resource(c, p.Resource)
	default:
		c.say("[something of a kind that is not known here: %T]", part)
	}
}

// note is what is said of a thing, in parentheses; empty parts are left out.
func note(parts ...string) string {
	parts = slices.Compact(slices.DeleteFunc(parts, func(p string) bool { return p == "" }))
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// resource adds the content of a resource.
func (r *runner) resource(c *content, of *sdk.ResourceContents) {
	switch {
	case of == nil:
	case of.Blob != nil:
		r.blob(c, of.URI, of.MIMEType, of.Blob)
	default:
		c.say("[resource %s%s]\n%s", of.URI, note(of.MIMEType), of.Text)
	}
}

// blob adds bytes: a picture that models can look at, or a file.
func (r *runner) blob(c *content, what, kind string, data []byte) {
	if slices.Contains(pictures, kind) && len(data) <= maxPicture {
		c.pictures = append(c.pictures, llm.Image{Data: base64.StdEncoding.EncodeToString(data), MIME: kind})
		return
	}
	where, err := r.keep(extension(kind), data)
	if err != nil {
		c.say("[%s%s, %d bytes, which could not be kept: %v]", what, note(kind), len(data), err)
		return
	}
	c.say("[%s%s, %d bytes, in %s]", what, note(kind), len(data), where)
}

// extension is the end of a file's name for a type, of letters and digits.
func extension(kind string) string {
	if media, _, err := mime.ParseMediaType(kind); err == nil {
		if end := cleanName(path.Base(media)); end != "" {
			return end
		}
	}
	return "bin"
}

// keep writes a file for models and people to look into.
func (r *runner) keep(end string, data []byte) (string, error) {
	f, err := r.opts.keep("mcp-" + r.clean + "-*." + end)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data[:min(len(data), maxSpill)])
	return f.Name(), errors.Join(err, f.Close())
}

// structured adds a value, unless a text says the same already, as it should.
func (c *content) structured(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		return
	}
	for _, t := range c.texts {
		var said any
		if json.Unmarshal([]byte(t), &said) == nil {
			if again, err := json.Marshal(said); err == nil && string(again) == string(text) {
				return
			}
		}
	}
	c.texts = append(c.texts, string(text))
}
