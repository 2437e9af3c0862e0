package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMCPServersOfAllPlaces(t *testing.T) {
	h := newHome(t)
	h.user(`{"mcpServers": {"a": {"command": "mine"}, "x.y": {"url": "https://example.com"}}, "disabledMcpServers": ["q"]}`)
	h.shared(`{"mcpServers": {"a": {"command": "theirs"}}, "disabledMcpServers": "r"}`)
	write(t, MCPFile(h.project), "{ // comments too\n\"mcpServers\": {\n\"b\": {\"command\": \"shared\"},\n\"c\": 5}, \"other\": 1}")
	s, values, problems := h.load()
	var got []string
	for _, m := range s.MCPServers {
		got = append(got, fmt.Sprintf("%s %s %d:%s", m.Name, m.JSON, m.Rank(), m.Source.Scope))
	}
	want := `a {"command": "mine"} 1:user|x.y {"url": "https://example.com"} 1:user|a {"command": "theirs"} 3:project|b {"command": "shared"} 3:project`
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
	if len(problems) != 1 || !strings.Contains(problems[0].String(), ".mcp.json:4: mcpServers.c: it takes an object") {
		t.Errorf("%v", problems)
	}
	if fmt.Sprint(s.DisabledMCPServers) != "[q r]" {
		t.Errorf("disabled %v", s.DisabledMCPServers)
	}
	for _, v := range values {
		if v.Path == "mcpServers.b" && v.Sources[0].Line != 3 {
			t.Errorf("%+v", v)
		}
	}
	if s, _, _ := Load(h.paths, h.project, false, nil); len(s.MCPServers) != 2 {
		t.Errorf("before trust: %v", s.MCPServers)
	}
}

func TestMCPFileThatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": [`: "not JSON",
		`{"servers": {}}`:  `no "mcpServers"`,
		`{"mcpServers":1}`: "must be an object",
	} {
		h := newHome(t)
		write(t, MCPFile(h.project), text)
		if s, _, problems := h.load(); len(s.MCPServers) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%s: %v, %v", text, s.MCPServers, problems)
		}
		if _, _, err := ReadMCP("--mcp-config", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, _, err := ReadMCP("--mcp-config", filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file")
	}
	list, problems, err := ReadMCP("--mcp-config", `{"mcpServers": {"a": {"command": "x"}}}`)
	if err != nil || len(problems) > 0 || len(list) != 1 || list[0].Rank() != 0 {
		t.Errorf("%v, %v, %v", list, problems, err)
	}
}

// What is shown of a server has none of its secrets.
func TestMCPServerIsShownWithoutSecrets(t *testing.T) {
	h := newHome(t)
	h.user(`{"mcpServers": {"a": {"url": "https://e.com", "headers": {"Authorization": "Bearer s3cret"}, "env": {"K": "s3cret"}}}}`)
	_, values, _ := h.load()
	for _, v := range values {
		if strings.Contains(v.JSON, "s3cret") {
			t.Errorf("%s: %s", v.Path, v.JSON)
		}
	}
}

func TestSetMCP(t *testing.T) {
	dir := t.TempDir()
	file := MCPFile(dir)
	write(t, file, "{\n  // ours\n  \"mcpServers\": {\"a\": {\"command\": \"x\"}}, \"inputs\": []\n}\n")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := SetMCP(dir, "b.c", map[string]any{"url": "https://e.com"}); err != nil {
		t.Fatal(err)
	}
	if err := SetMCP(dir, "a", nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "// ours") || !strings.Contains(string(text), `"b.c": {"url":"https://e.com"}`) ||
		strings.Contains(string(text), `"a"`) || !strings.Contains(string(text), `"inputs": []`) {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
