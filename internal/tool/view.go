package tool

import (
	"encoding/json"
	"fmt"
)

// View is how a result is shown to people, by kind of picture, not by tool:
// [Plain], [Command], [Diff], [Listing], [Image] or [TaskView]. It is stored with the result
// (see [EncodeView]), so that a session read back looks the same.
type View interface{ view() string }

// Plain is text.
type Plain struct {
	Text string `json:"text"`
	Path string `json:"path,omitempty"` // whose content it is, for highlighting
	Line int    `json:"line,omitempty"` // number of its first line, from 1
	// Cut says how much there is in all where Text is not everything.
	Cut *Cut `json:"cut,omitempty"`
}

// Command is a program's output.
type Command struct {
	Command  string `json:"command"`
	Output   string `json:"output"`
	ExitCode *int   `json:"exitCode,omitempty"` // nil while it runs and when it was killed
	Signal   string `json:"signal,omitempty"`
	Millis   int64  `json:"ms"`
	Cut      *Cut   `json:"cut,omitempty"`
}

// Failed says whether the program says that it failed: it was ended by a signal,
// or has an exit code other than 0.
func (c Command) Failed() bool {
	return c.Signal != "" || c.ExitCode != nil && *c.ExitCode != 0
}

// Diff is a change to a file.
type Diff struct {
	Path    string `json:"path"`
	Diff    string `json:"diff"` // unified, without file headers
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Created bool   `json:"created,omitempty"`
}

// Listing is a set of places: files found, lines matched.
type Listing struct {
	Items []Item `json:"items"`
	Total int    `json:"total"` // may be more than len(Items)
}

// Item is one place of a Listing.
type Item struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Text string `json:"text,omitempty"`
	Dir  bool   `json:"dir,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes
}

// Image is a picture that the model was shown; its data is in the result's content.
type Image struct {
	Path   string `json:"path"`
	MIME   string `json:"mime"`
	Width  int    `json:"width,omitempty"` // pixels; 0 where it is not known
	Height int    `json:"height,omitempty"`
}

// Cut says what was left out.
type Cut struct {
	Lines int    `json:"lines"`          // in all
	Bytes int64  `json:"bytes"`          // in all
	Full  string `json:"full,omitempty"` // path of the whole
}

func (Plain) view() string   { return "plain" }
func (Command) view() string { return "command" }
func (Diff) view() string    { return "diff" }
func (Listing) view() string { return "listing" }
func (Image) view() string   { return "image" }

// EncodeView gives the JSON that is stored as a result's details: the view's
// fields and "view", its kind. Nil for nil.
func EncodeView(v View) json.RawMessage {
	if v == nil {
		return nil
	}
	fields, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	head := fmt.Appendf(nil, `{"view":%q`, v.view())
	if len(fields) > 2 {
		head = append(append(head, ','), fields[1:]...)
		return head
	}
	return append(head, '}')
}

// DecodeView reads what EncodeView wrote; nil for anything else.
func DecodeView(details json.RawMessage) View {
	var head struct{ View string }
	if json.Unmarshal(details, &head) != nil {
		return nil
	}
	decode, ok := views[head.View]
	if !ok {
		return nil
	}
	return decode(details)
}

var views = map[string]func(json.RawMessage) View{
	"plain":   decodeAs[Plain],
	"command": decodeAs[Command],
	"diff":    decodeAs[Diff],
	"listing": decodeAs[Listing],
	"image":   decodeAs[Image],
	"task":    decodeAs[TaskView],
}

func decodeAs[V View](details json.RawMessage) View {
	var v V
	if json.Unmarshal(details, &v) != nil {
		return nil
	}
	return v
}
