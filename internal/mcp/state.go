package mcp

import (
	"time"

	"banyan/internal/tool"
)

// Phase is where a server is in its life.
type Phase string

// The phases.
const (
	Starting   Phase = "starting"
	Ready      Phase = "ready"
	Waiting    Phase = "waiting to be started again" // it ended by itself
	Failed     Phase = "failed"
	NeedsLogin Phase = "needs a login"
	Unapproved Phase = "needs your approval"
	Disabled   Phase = "disabled"
	Skipped    Phase = "not usable" // as its file has it
)

// settled: nothing more happens by itself, for those who wait for the start.
func (p Phase) settled() bool { return p != Starting }

// State is what is known of a server. It is a value that is never changed. Its
// texts are the server's own words.
type State struct {
	Server  Server
	Phase   Phase
	Why     string // why it is not ready
	Since   time.Time
	Program string // what the server calls itself, with its version
	Tools   []Tool
	Prompts []Prompt
	// Resources are those that it lists; Templates are addresses with {parts}.
	Resources []Resource
	Templates []Resource
	// Asks is what waits for an approval, and Before what was approved in its
	// place, empty for nothing: the server itself, or what it says of its tools.
	Asks, Before string

	pins string // what it says of its tools now
}

// Tool is one tool of a server.
type Tool struct {
	Theirs string // the server's name for it
	Title  string
	Held   bool // it is not given to models: see State.Asks
	tool.Tool
}

// Given are the tools that models are given.
func (s State) Given() []tool.Tool {
	var given []tool.Tool
	for _, t := range s.Tools {
		if !t.Held {
			given = append(given, t.Tool)
		}
	}
	return given
}

// Held are the server's names of the tools that wait for an approval.
func (s State) Held() []string {
	var names []string
	for _, t := range s.Tools {
		if t.Held {
			names = append(names, t.Theirs)
		}
	}
	return names
}

// Prompt is a prompt that a server has.
type Prompt struct {
	Name      string // ours, as of a command: mcp__server__prompt
	Theirs    string
	Help      string
	Arguments []Argument
}

// Argument is one of a prompt's.
type Argument struct {
	Name     string
	Help     string
	Required bool
}

// Resource is something that a server can give.
type Resource struct{ URI, Name, MIME, Help string }
