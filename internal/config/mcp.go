package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// MCPServer is an MCP server as it stands in a file. What it means is not known
// here.
type MCPServer struct {
	Name   string
	JSON   []byte // its object
	Source Source
}

// Rank says which of two servers of one name counts, the lower one: flags come
// first, then what the user has, then the project's own. A project never takes
// the place of something of the user's.
func (s MCPServer) Rank() int {
	switch s.Source.Scope {
	case Flag:
		return 0
	case Local:
		return 2
	case Project:
		return 3
	}
	return 1
}

// serverOf is the server of one name among the settings.
type serverOf struct {
	list *[]MCPServer
	name string
}

func (s serverOf) put(value []byte, from Source) error {
	if value[0] != '{' {
		return fmt.Errorf("it takes an object, { … }, not %s", short(value))
	}
	*s.list = append(*s.list, MCPServer{s.name, bytes.Clone(value), from})
	return nil
}

// shown is the server without what may be secret in it: for people who ask what
// is set.
func (s serverOf) shown() any {
	var fields map[string]any
	for _, server := range *s.list {
		if server.Name == s.name {
			clear(fields)
			_ = json.Unmarshal(server.JSON, &fields) // it is an object, that was looked at
		}
	}
	for _, key := range []string{"env", "headers", "oauth"} {
		values, _ := fields[key].(map[string]any)
		for name := range values {
			values[name] = "…"
		}
	}
	return fields
}

// The file of a project's MCP servers that many programs read, and its one
// member.
const (
	mcpFile    = ".mcp.json"
	mcpServers = "mcpServers"
)

// MCPFile is where a project's MCP servers are that it shares with other
// programs.
func MCPFile(project string) string { return filepath.Join(project, mcpFile) }

// mcpFile reads the project's file of servers.
func (l *loader) mcpFile(dir string, root *os.Root) {
	from := Source{Scope: Project, File: MCPFile(dir)}
	f, err := root.OpenFile(mcpFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var text []byte
	if err == nil {
		text, err = readSmall(f)
	}
	if err == nil {
		err = l.servers(from, text)
	}
	if err != nil {
		l.problem(from, "", err.Error()+"; nothing of the file is used")
	}
}

// ReadMCP reads a file of servers, or the JSON itself, that a flag names. The
// error is about all of it.
func ReadMCP(flag, file string) ([]MCPServer, []Problem, error) {
	l := newLoader(Paths{})
	text := []byte(file)
	if !strings.HasPrefix(strings.TrimSpace(file), "{") {
		f, err := openPlain(file)
		if err == nil {
			text, err = readSmall(f)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", flag, file, err)
		}
		flag += " " + file
	}
	if err := l.servers(Source{Scope: Flag, File: flag}, text); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l.settings.MCPServers, l.problems, nil
}

// servers takes the servers of a file that holds nothing else of ours.
func (l *loader) servers(from Source, text []byte) error {
	d, err := parse(text)
	if err != nil || d.json == nil {
		return err
	}
	all, ok := d.last(d.root(), mcpServers)
	if !ok {
		return fmt.Errorf("it has no %q", mcpServers)
	}
	if all.value[0] != '{' {
		return fmt.Errorf("line %d: %q must be an object, { … }", d.line(all.start), mcpServers)
	}
	members, _ := d.members(all.valueStart)
	for _, m := range members {
		if from.Scope != Flag {
			from.Line = d.line(m.start)
		}
		f, name, _ := match(mcpServers + "." + m.key)
		l.set(f, name, m.value, from)
	}
	return nil
}

// SetMCP changes one server of a project's file and leaves everything else as it
// stands; nil takes it away. A missing file is made.
func SetMCP(project, name string, value any) error {
	file, text, err := readForChange(MCPFile(project))
	var encoded []byte
	if err == nil && value != nil {
		encoded, err = json.Marshal(value)
	}
	var changed []byte
	if err == nil {
		changed, err = edit(text, []string{mcpServers, name}, encoded)
	}
	if err == nil && !bytes.Equal(changed, text) {
		err = replaceShared(file, changed)
	}
	if err != nil {
		return fmt.Errorf("change the server %s in %s: %w", name, file, err)
	}
	return nil
}

// replaceShared replaces a file that others read, too.
func replaceShared(file string, text []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := replace(file, text); err != nil {
		return err
	}
	return os.Chmod(file, mode)
}
