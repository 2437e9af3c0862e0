package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"banyan/internal/config"
)

// Transports.
const (
	Stdio = "stdio"
	HTTP  = "http" // streamable HTTP
	SSE   = "sse"  // what came before it
)

// Server is one server as a file describes it, with variables filled in.
type Server struct {
	Name   string // as the file has it
	Source config.Source
	// Folder is the root of the project that has the server. It counts when the
	// user has approved it. Empty: it is the user's own.
	Folder string

	Transport string
	Command   string
	Args      []string
	Env       map[string]string // besides the usual environment, which has no keys
	Dir       string            // where it runs, if not in the working folder
	URL       string
	Headers   map[string]string
	OAuth     OAuth

	StartTime, CallTime time.Duration // how long a start, and a call without news, may take
	Only, Without       []string      // names of tools, with * for any text; empty Only: all
	Disabled            bool
	// Problem is why it cannot be started as it stands there; empty: it can.
	Problem string

	text string // all that decides what it does, before variables are filled in
}

// OAuth is what a file says of how to log in.
type OAuth struct {
	ClientID     string `json:"clientId"`     // of a client that was registered by hand
	ClientSecret string `json:"clientSecret"` // of that client
	CallbackPort int    `json:"callbackPort"` // on this machine; 0: any
}

// Default times.
const (
	startTime = 30 * time.Second
	callTime  = 10 * time.Minute
)

// shape is a server's object in a file, in the words of Claude Code and, for
// times and filters, of Codex and OpenCode.
type shape struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Dir      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	OAuth    OAuth             `json:"oauth"`
	Disabled bool              `json:"disabled"`
	Enabled  *bool             `json:"enabled"`

	StartSec float64  `json:"startup_timeout_sec"`
	CallSec  float64  `json:"tool_timeout_sec"`
	Only     []string `json:"enabled_tools"`
	Without  []string `json:"disabled_tools"`
}

// Parse makes servers of what the files say: of several of one name the one that
// counts, by name. project is the root of the trusted project, off are names of
// servers that are not to be started; env gives a variable. Nothing that is
// wrong is fatal: see Server.Problem.
func Parse(list []config.MCPServer, project string, off []string, env func(string) (string, bool)) []Server {
	best := map[string]config.MCPServer{}
	for _, c := range list {
		if old, ok := best[c.Name]; !ok || c.Rank() <= old.Rank() {
			best[c.Name] = c
		}
	}
	var servers []Server
	for _, c := range best {
		s := parse(c, env)
		if c.Source.Scope.OfProject() {
			s.Folder = project
		}
		s.Disabled = s.Disabled || slices.Contains(off, s.Name)
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	return servers
}

func parse(c config.MCPServer, env func(string) (string, bool)) Server {
	s := Server{Name: c.Name, Source: c.Source, StartTime: startTime, CallTime: callTime}
	var has shape
	// What other programs have besides is left to them.
	if err := json.Unmarshal(c.JSON, &has); err != nil {
		s.Problem = "it does not fit: " + strings.TrimPrefix(err.Error(), "json: ")
		return s
	}
	s.text = describe(c.Name, has)
	s.Disabled = has.Disabled || has.Enabled != nil && !*has.Enabled
	s.Only, s.Without, s.OAuth = has.Only, has.Without, has.OAuth
	if has.StartSec > 0 {
		s.StartTime = time.Duration(has.StartSec * float64(time.Second))
	}
	if has.CallSec > 0 {
		s.CallTime = time.Duration(has.CallSec * float64(time.Second))
	}
	if err := errors.Join(s.name(), s.transport(has), s.fill(has, env)); err != nil {
		s.Problem = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return s
}

// reserved are names that a server may not have: rules and commands of ours may
// come to mean something else by them.
var reserved = []string{"banyan", "agent", "user", "project"}

func (s *Server) name() error {
	switch {
	case cleanName(s.Name) == "":
		return errors.New("its name has no letter and no digit; give it another")
	case slices.Contains(reserved, strings.ToLower(s.Name)):
		return fmt.Errorf("its name is reserved, as are %s; give it another", strings.Join(reserved, ", "))
	}
	return nil
}

func (s *Server) transport(has shape) error {
	switch has.Type {
	case "":
		s.Transport = Stdio
		if has.Command == "" && has.URL != "" {
			s.Transport = HTTP
		}
	case Stdio, HTTP, SSE:
		s.Transport = has.Type
	case "streamable-http", "streamableHttp":
		s.Transport = HTTP
	default:
		return fmt.Errorf("there is no type %q; there are %s, %s, %s", has.Type, Stdio, HTTP, SSE)
	}
	switch {
	case s.Transport == Stdio && has.Command == "":
		return errors.New(`it has neither a "command" nor a "url"`)
	case s.Transport != Stdio && has.URL == "":
		return fmt.Errorf(`it has no "url", which the type %s needs`, s.Transport)
	}
	return nil
}

// fill puts values in the place of variables.
func (s *Server) fill(has shape, env func(string) (string, bool)) error {
	x := expander{env: env}
	s.Command, s.URL, s.Dir = x.text(has.Command), x.text(has.URL), x.text(has.Dir)
	for _, a := range has.Args {
		s.Args = append(s.Args, x.text(a))
	}
	s.Env, s.Headers = x.values(has.Env), x.values(has.Headers)
	s.OAuth.ClientID, s.OAuth.ClientSecret = x.text(has.OAuth.ClientID), x.text(has.OAuth.ClientSecret)
	if err := x.err(); err != nil {
		return err
	}
	if s.URL != "" {
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("its url is none: it must begin with http:// or https:// and a host")
		}
	}
	return nil
}

// describe is what a server is approved by: a line for each thing that decides
// what it does, in the words of its file. Values of variables are not in it.
func describe(name string, has shape) string {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q\n", name)
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %q\n", what, value)
		}
	}
	pairs := func(what string, values map[string]string) {
		for _, k := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "%s %q %q\n", what, k, values[k])
		}
	}
	line("type", has.Type)
	line("command", has.Command)
	for _, a := range has.Args {
		fmt.Fprintf(&b, "arg %q\n", a)
	}
	pairs("env", has.Env)
	line("cwd", has.Dir)
	line("url", has.URL)
	pairs("header", has.Headers)
	line("oauth client", has.OAuth.ClientID)
	return b.String()
}

// item is what the user approves: what the file says, and the files that it names
// as they are now.
func (s Server) item() config.Item {
	files := config.FilesNamed(s.Folder, append([]string{s.Command}, s.Args...)...)
	return config.Item{Kind: "mcp", Folder: s.Folder, Name: s.Name, Text: s.text + files}
}

// What is the server in a few words, without anything secret: its command, or
// where it is.
func (s Server) What() string {
	if s.Transport == Stdio {
		return strings.Join(append([]string{filepath.Base(s.Command)}, s.Args...), " ")
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// Approve says yes to a server of a project as it stands in its file.
func (s Server) Approve(trust config.Trust) error { return trust.Approve(s.item()) }

// AsItStands is the state of a server that is not started: as its file has it,
// and as it is approved.
func (s Server) AsItStands(trust config.Trust) State {
	state := State{Server: s}
	switch {
	case s.Disabled:
		state.Phase = Disabled
	case s.Problem != "":
		state.Phase, state.Why = Skipped, s.Problem
	case s.Folder != "":
		item := s.item()
		if a, err := trust.Approved(item); err != nil || !a.OK {
			state.Phase, state.Asks, state.Before = Unapproved, item.Text, a.Before
		}
	}
	return state
}

// same: what runs is not changed by going from one to the other.
func (s Server) same(other Server) bool {
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b) && s.text == other.text
}

// offers says whether the filters let a tool through.
func (s Server) offers(tool string) bool {
	matches := func(pattern string) bool { return wildcard(pattern, tool) }
	return (len(s.Only) == 0 || slices.ContainsFunc(s.Only, matches)) && !slices.ContainsFunc(s.Without, matches)
}
