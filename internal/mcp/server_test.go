package mcp

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/config"
)

func TestParse(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOST": "example.com", "EMPTY": "", "TOKEN": "s3cret"}[name]
		return v, ok
	}
	for text, want := range map[string]string{
		`{"command": "x", "args": ["${HOST}", "$HOST", "${EMPTY}", "${EMPTY:-e}", "${NO:-d e}", "${}"]}`: `stdio x [example.com $HOST  e d e ${}] map[] `,
		`{"command": "x", "env": {"T": "Bearer ${TOKEN}"}}`:                                              `stdio x [] map[T:Bearer s3cret] `,
		`{"url": "https://${HOST}/mcp"}`:                                                                 `http https://example.com/mcp map[] `,
		`{"type": "sse", "url": "http://h", "headers": {"A": "${TOKEN}"}}`:                               `sse http://h map[A:s3cret] `,
		`{"type": "streamable-http", "url": "http://h"}`:                                                 `http http://h map[] `,
		`{"command": "x", "args": ["${NO}", "${NONE}"]}`:                                                 `the environment variables NO, NONE are not set`,
		`{"url": "https://h", "headers": {"A": "${NO}"}}`:                                                `the environment variable NO is not set`,
		`{}`:                            `neither a "command" nor a "url"`,
		`{"type": "http"}`:              `no "url"`,
		`{"type": "pigeon"}`:            `there is no type "pigeon"`,
		`{"url": "file:///etc/passwd"}`: `must begin with http:// or https://`,
		`{"command": ["a", "b"]}`:       `it does not fit`,
		`{"command": "x", "timeout": 5, "alwaysAllow": ["*"]}`: `stdio x [] map[] `, // what others know
	} {
		list := Parse([]config.MCPServer{{Name: "a", JSON: []byte(text)}}, "", nil, env)
		s := list[0]
		got := s.Problem
		switch {
		case got != "":
		case s.Transport == Stdio:
			got = fmt.Sprintf("%s %s %v %v ", s.Transport, s.Command, s.Args, s.Env)
		default:
			got = fmt.Sprintf("%s %s %v ", s.Transport, s.URL, s.Headers)
		}
		if s.Problem == "" && got != want || !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if strings.Contains(s.text+s.What(), "s3cret") {
			t.Errorf("a secret is shown: %s, %s", s.text, s.What())
		}
	}
}

func TestNamesThatServersMayNotHave(t *testing.T) {
	for name, want := range map[string]string{"": "no letter", "___": "no letter", "日本": "no letter", "Banyan": "reserved", "user": "reserved", "ok": ""} {
		s := Parse([]config.MCPServer{{Name: name, JSON: []byte(`{"command": "x"}`)}}, "", nil, nil)[0]
		if want == "" && s.Problem != "" || !strings.Contains(s.Problem, want) {
			t.Errorf("%q: %q, want %q", name, s.Problem, want)
		}
	}
}

// Of servers of one name, that of the flag counts, then the user's; a project's
// takes nobody's place.
func TestWhichServerCounts(t *testing.T) {
	of := func(scope config.Scope, command string) config.MCPServer {
		return config.MCPServer{Name: "a", JSON: []byte(`{"command": "` + command + `"}`), Source: config.Source{Scope: scope}}
	}
	flag, user, local, project := of(config.Flag, "flag"), of(config.User, "user"), of(config.Local, "local"), of(config.Project, "project")
	for want, list := range map[string][]config.MCPServer{
		"flag":    {user, flag, local, project},
		"user":    {user, project, local},
		"local":   {project, local},
		"project": {project},
	} {
		s := Parse(list, "/p", []string{"b"}, nil)
		if len(s) != 1 || s[0].Command != want || (s[0].Folder != "") != (want == "local" || want == "project") || s[0].Disabled {
			t.Errorf("%s: %+v", want, s)
		}
	}
	if s := Parse([]config.MCPServer{user}, "", []string{"a"}, nil); !s[0].Disabled {
		t.Error("it is not disabled")
	}
}

func TestCleanNames(t *testing.T) {
	long := strings.Repeat("very_long_", 10)
	names := []string{"plain", "with space", "with_space", "a.b", "a/b", "a__b", long, long + "2", "!!", "ünï", "_x_", "Plain"}
	got := cleanNames(names, 40)
	seen := map[string]bool{}
	for name, clean := range got {
		if len(clean) > 40 || strings.Contains(clean, "__") || strings.Trim(clean, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || seen[clean] {
			t.Errorf("%q became %q", name, clean)
		}
		seen[clean] = true
	}
	if got["plain"] != "plain" || got["with_space"] != "with_space" || !strings.HasPrefix(got["with space"], "with_space_") || got["Plain"] != "Plain" || got["_x_"] != "x" {
		t.Errorf("%v", got)
	}
	if _, ok := got["!!"]; ok || len(got) != len(names)-1 {
		t.Errorf("%v", got)
	}
	// The same from whatever end.
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	if again := cleanNames(names, 40); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%v is not %v", again, got)
	}
}

func TestIDOfALongAnswer(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"id":8}}`:                  `7`,
		`{"result":{"a":[{"id":1},"\"id\":2"]},"id" : "x,}y" }`:       `"x,}y"`,
		`{"result":"{\"id\":3}","jsonrpc":"2.0"}`:                     ``,
		`{"id":5,"method":"sampling/createMessage","params":{}}`:      ``,
		`{"id":null,"error":{}}`:                                      ``,
		`{"id":{"a":1},"result":{}}`:                                  `{"a":1}`,
		`{"a":"\\","id":9}`:                                           `9`,
		`{"id":` + strings.Repeat("1", 1000) + `,"result":{"a":"b"}}`: strings.Repeat("1", maxID),
	} {
		for _, step := range []int{1, 3, len(text)} {
			var f idFinder
			for rest := []byte(text); len(rest) > 0; {
				n := min(step, len(rest))
				f.look(rest[:n])
				rest = rest[n:]
			}
			if got := string(f.found()); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		theirs any
		want   string
		told   bool // in words
	}{
		{nil, `{"type":"object","properties":{}}`, false},
		{"text", `{"type":"object","properties":{}}`, false},
		{map[string]any{}, `{"properties":{},"type":"object"}`, false},
		{map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}, `{"properties":{"a":{"type":"string"}},"type":"object"}`, false},
		{map[string]any{"type": "array"}, `{"type":"object","properties":{}}`, true},
		{map[string]any{"type": "object", "$ref": "https://example.com/x.json"}, `{"properties":{},"type":"object"}`, true},
		{map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "https://example.com/x.json"}}}, `{"type":"object","properties":{}}`, true},
		{map[string]any{"type": "object", "oneOf": []any{map[string]any{"required": []any{"a"}}}}, `{"properties":{},"type":"object"}`, true},
	} {
		got, note := schemaOf(c.theirs)
		if string(got) != c.want || (note != "") != c.told {
			t.Errorf("%v: %s, %q", c.theirs, got, note)
		}
	}
}
