package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"banyan/internal/tool"
)

// subjectKeys are the arguments that people recognise a call by, best first.
var subjectKeys = []string{
	"command", "cmd", "pattern", "query", "file_path", "filePath", "path", "url",
	"name", "description", "prompt", "task", "title", "id",
}

// Subject is the one line that a call is recognised by, also while it is being
// written, when the arguments may be cut off anywhere: what the tool says, or
// else the value of the argument that is most likely it.
func Subject(name string, args json.RawMessage) string {
	if text := tool.Describe(name, args); text != "" {
		return text
	}
	found := map[string]string{}
	first := ""
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		field, _ := key.(string)
		var value any
		if d.Decode(&value) != nil {
			found[field] = cutString(args, field)
			break
		}
		if text, ok := value.(string); ok {
			found[field] = text
			if first == "" {
				first = text
			}
		}
	}
	for _, key := range subjectKeys {
		if text := found[key]; text != "" {
			return text
		}
	}
	return first
}

// cutString is the value of the last key where its string has no end yet.
func cutString(args []byte, key string) string {
	quoted, err := json.Marshal(key)
	if err != nil {
		return ""
	}
	i := bytes.LastIndex(args, quoted)
	if i < 0 {
		return ""
	}
	rest := bytes.TrimLeft(args[i+len(quoted):], " \t\r\n:")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	text := strings.TrimRight(string(rest), `\`)
	for range 6 { // an escape may be cut in the middle: \u12
		var s string
		if json.Unmarshal([]byte(text+`"`), &s) == nil {
			return s
		}
		text = text[:len(text)-1]
	}
	return ""
}
