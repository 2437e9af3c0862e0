package extension

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The versions of the protocol that this host speaks.
const (
	Version = 1 // the newest
	Oldest  = 1
)

// Line is one line in either direction, after JSON-RPC 2.0: a request has an id
// and a method, a notification a method only, an answer the id of its request and
// a result or an error. Each side numbers its own requests.
type Line struct {
	RPC    string          `json:"jsonrpc,omitempty"` // "2.0"; extensions may leave it out
	ID     json.RawMessage `json:"id,omitempty"`      // a number or a string
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Fault          `json:"error,omitempty"`
}

// Fault is why a request was not done.
type Fault struct {
	Code    int    `json:"code"` // as in JSON-RPC 2.0; 0 is fine
	Message string `json:"message"`
}

func (f *Fault) Error() string { return f.Message }

// faultCode is for what this host refuses.
const faultCode = -32000

// Initialize is the first request to an extension.
type Initialize struct {
	Protocol    int               `json:"protocol" jsonschema:"newest version that the host speaks"`
	Oldest      int               `json:"oldest" jsonschema:"oldest version that the host speaks"`
	Host        string            `json:"host" jsonschema:"name and version of the host"`
	Name        string            `json:"name" jsonschema:"what the extension is called here"`
	Cwd         string            `json:"cwd" jsonschema:"working folder of the session"`
	Interactive bool              `json:"interactive" jsonschema:"somebody can be asked"`
	Flags       map[string]string `json:"flags" jsonschema:"what the user set for it with --extension-flag"`
}

// Initialized is its answer: what the extension is and what it wants.
type Initialized struct {
	Protocol    int      `json:"protocol" jsonschema:"the version that both will speak"`
	Version     string   `json:"version,omitempty" jsonschema:"of the extension, for people"`
	Description string   `json:"description,omitempty" jsonschema:"one line, for people"`
	Events      []string `json:"events,omitempty" jsonschema:"names of the events that it wants"`
	Registration
}

// Registration is what an extension brings. Sent again it takes the place of what
// was sent before.
type Registration struct {
	Tools    []ToolSpec    `json:"tools,omitempty"`
	Commands []CommandSpec `json:"commands,omitempty"`
	Keys     []KeySpec     `json:"keys,omitempty"`
	Flags    []FlagSpec    `json:"flags,omitempty"`
}

// ToolSpec is a tool for the model.
type ToolSpec struct {
	Name        string          `json:"name" jsonschema:"letters, digits, _ and -"`
	Description string          `json:"description" jsonschema:"for the model"`
	Parameters  json.RawMessage `json:"parameters,omitempty" jsonschema:"JSON Schema of its arguments, of type object"`
	Access      string          `json:"access,omitempty" jsonschema:"what it may do: read, edit, execute (as if nothing is said) or network"`
}

// CommandSpec is a slash command.
type CommandSpec struct {
	Name        string `json:"name" jsonschema:"without the slash; lower-case letters, digits and -"`
	Arguments   string `json:"arguments,omitempty" jsonschema:"how they are written, as [text]; empty for none"`
	Description string `json:"description"`
}

// KeySpec is a keystroke that runs one of the extension's commands.
type KeySpec struct {
	Key         string `json:"key" jsonschema:"as ctrl+x t"`
	Command     string `json:"command"`
	Arguments   string `json:"arguments,omitempty"`
	Description string `json:"description,omitempty"`
}

// FlagSpec says that the extension knows a flag.
type FlagSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty"`
}

// Session says which session is meant, and where it stands.
type Session struct {
	ID   string  `json:"id"`
	File string  `json:"file,omitempty" jsonschema:"empty in memory"`
	Name string  `json:"name,omitempty"`
	Leaf *string `json:"leafId" jsonschema:"null before the first entry"`
}

// State is the extension's own entries on the path, sent when a session opens and
// whenever the leaf has moved: all that it remembers has to come from them.
type State struct {
	Session Session      `json:"session"`
	Entries []StateEntry `json:"entries" jsonschema:"oldest first"`
}

// StateEntry is one entry that the extension appended.
type StateEntry struct {
	ID   string          `json:"id"`
	Type string          `json:"type" jsonschema:"as it was appended; empty if none was given"`
	Data json.RawMessage `json:"data,omitempty"`
}

// ToolRun asks for a call of one of the extension's tools.
type ToolRun struct {
	CallID    string          `json:"callId"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments" jsonschema:"an object that fits the tool's parameters"`
}

// ToolOutput is what a call gave.
type ToolOutput struct {
	Content json.RawMessage `json:"content" jsonschema:"for the model: a string, or blocks of type text and image"`
	IsError bool            `json:"isError,omitempty"`
	Shown   string          `json:"shown,omitempty" jsonschema:"what people see instead"`
}

// CommandRun asks for a command of the extension's.
type CommandRun struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Cancel says that a request is no longer waited for.
type Cancel struct {
	ID json.RawMessage `json:"id"`
}

// Progress shows how far a call of a tool is.
type Progress struct {
	CallID string `json:"callId"`
	Text   string `json:"text"`
}

// Notify tells the user something.
type Notify struct {
	Text  string `json:"text"`
	Level string `json:"level,omitempty" jsonschema:"note (as if nothing is said), warning or error"`
}

// Status shows a few words in the footer.
type Status struct {
	Text string `json:"text" jsonschema:"empty for nothing"`
}

// Widget shows lines above the editor.
type Widget struct {
	Lines []string `json:"lines" jsonschema:"at most ten; none for nothing"`
}

// Ask asks the user something.
type Ask struct {
	Title   string   `json:"title"`
	Text    string   `json:"text,omitempty" jsonschema:"of confirm: the question; of input and editor: what stands there at first"`
	Options []string `json:"options,omitempty" jsonschema:"of select"`
}

// Asked is what the user said.
type Asked struct {
	OK   bool   `json:"ok" jsonschema:"false: they went away from it, said no, or nobody is there"`
	Text string `json:"text,omitempty" jsonschema:"what was chosen or written"`
}

// AppendEntry keeps something in the session that models never see.
type AppendEntry struct {
	Type string          `json:"type,omitempty" jsonschema:"to tell several kinds apart; recorded after the extension's name and a dot"`
	Data json.RawMessage `json:"data,omitempty"`
}

// SendMessage adds a message that models see, as the user's.
type SendMessage struct {
	Type    string          `json:"type,omitempty" jsonschema:"as of append_entry"`
	Content json.RawMessage `json:"content" jsonschema:"a string, or blocks of type text and image"`
	Hidden  bool            `json:"hidden,omitempty" jsonschema:"people do not see it"`
	Turn    bool            `json:"turn,omitempty" jsonschema:"the model answers, if it is idle"`
}

// Appended is the answer to append_entry and send_message.
type Appended struct {
	ID string `json:"id"`
}

// SetLabel names an entry.
type SetLabel struct {
	Entry string `json:"entry,omitempty" jsonschema:"the leaf if it is empty"`
	Label string `json:"label" jsonschema:"empty takes the name away"`
}

// SetName names the session.
type SetName struct {
	Name string `json:"name"`
}

// SetMode takes what follows on the path into a mode of the extension's.
type SetMode struct {
	Mode string          `json:"mode" jsonschema:"letters, digits, dots, dashes and underscores; empty for none"`
	Data json.RawMessage `json:"data,omitempty" jsonschema:"kept with it; models are told the text instructions of an object while the mode holds"`
}

// Navigate moves the leaf, as choosing an entry in the tree does.
type Navigate struct {
	Target       string `json:"target" jsonschema:"id of an entry; empty: before the first one"`
	At           bool   `json:"at,omitempty" jsonschema:"to the entry itself, even if it is a prompt"`
	Summarize    bool   `json:"summarize,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	Label        string `json:"label,omitempty"`
}

// Branch takes the path to an entry into a new session.
type Branch struct {
	Entry string `json:"entry"`
	At    bool   `json:"at,omitempty" jsonschema:"with the entry, not before it"`
}

// Compact compacts the path.
type Compact struct {
	Focus string `json:"focus,omitempty"`
}

// Prompt sends a prompt.
type Prompt struct {
	Text     string `json:"text"`
	FollowUp bool   `json:"followUp,omitempty" jsonschema:"wait for the end of the turn instead of steering it"`
}

// Nothing is what has no members.
type Nothing struct{}

// parse reads params or a result into a shape. Nothing, and null, are the zero value.
func parse[T any](raw json.RawMessage) (v T, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return v, nil
	}
	if err = json.Unmarshal(raw, &v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s is a JSON %s where it should be a %s", wrong.Field, wrong.Value, wrong.Type)
		}
	}
	return v, err
}
