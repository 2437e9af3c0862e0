package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// subjectOf names, for each tool, the arguments that a person recognises a call
// by, in order. Tools of other people are recognised by the first of
// commonSubjects that they have.
var subjectOf = map[string][]string{
	"bash":        {"command"},
	"bash_output": {"id"},
	"bash_kill":   {"id"},
	"edit":        {"path"},
	"exists":      {"path"},
	Finish:        {},
	GiveUp:        {"reason"},
	"fetch":       {"url"},
	"glob":        {"pattern", "path"},
	"grep":        {"pattern", "path", "glob"},
	"ls":          {"path"},
	"mkdir":       {"path"},
	"read":        {"path"},
	"rm":          {"path"},
	"skill":       {"name"},
	"stat":        {"path"},
	"task":        {"agent", "description"},
	"todo":        {},
	"write":       {"path"},
}

var commonSubjects = []string{"command", "path", "file_path", "url", "pattern", "query", "name", "id"}

// Describe is the one line that a person recognises a call of any tool by. The
// arguments may be incomplete or wrong; it is empty when they say nothing. It
// may hold any character: whoever draws it cleans it.
func Describe(name string, args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	keys, ours := subjectOf[name]
	if !ours {
		i := slices.IndexFunc(commonSubjects, func(k string) bool { return fields[k] != nil })
		if i >= 0 {
			keys = commonSubjects[i : i+1]
		}
	}
	var parts []string
	for _, k := range keys {
		switch v := fields[k].(type) {
		case string:
			if v != "" {
				parts = append(parts, v)
			}
		case float64:
			parts = append(parts, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	text := strings.Join(parts, " ")
	if name == "read" {
		text += lineRange(fields)
	}
	return text
}

// lineRange is ":10-40" for offset 10 and limit 31.
func lineRange(fields map[string]any) string {
	offset, _ := fields["offset"].(float64)
	limit, _ := fields["limit"].(float64)
	if offset < 1 && limit < 1 {
		return ""
	}
	first := max(int(offset), 1)
	text := ":" + strconv.Itoa(first)
	if limit >= 1 {
		text += "-" + strconv.Itoa(first+int(limit)-1)
	}
	return text
}
