package summary

import (
	"encoding/json"
	"maps"
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// fileSet collects the files that work touched.
type fileSet struct{ read, modified map[string]bool }

func newFileSet() fileSet { return fileSet{map[string]bool{}, map[string]bool{}} }

// add takes an entry's tool calls into account, and what earlier summaries said.
func (f fileSet) add(d session.Data) {
	switch d := d.(type) {
	case session.Message:
		for _, c := range d.Calls() {
			f.call(c)
		}
		if d.Role == llm.ToolResult && d.ToolName == "skill" && !d.IsError {
			f.skill(d.Details)
		}
	case session.CustomMessage:
		if d.Type == session.SkillType {
			f.skill(d.Details)
		}
	case session.Compaction:
		f.list(d.Details)
	case session.BranchSummary:
		f.list(d.Details)
	}
}

func (f fileSet) call(c llm.ToolCall) {
	var args struct{ Path string }
	if json.Unmarshal(c.Arguments, &args) != nil || args.Path == "" {
		return
	}
	switch c.Name {
	case "read":
		f.read[args.Path] = true
	case "write", "edit", "rm", "mkdir":
		f.modified[args.Path] = true
	}
}

// skill takes the file of a skill that was used: what it says is lost with the
// summary, but not that it counted.
func (f fileSet) skill(details json.RawMessage) {
	var d struct{ Path string }
	if json.Unmarshal(details, &d) == nil && d.Path != "" {
		f.read[d.Path] = true
	}
}

func (f fileSet) list(l *session.FileLists) {
	if l == nil {
		return
	}
	for _, p := range l.Read {
		f.read[p] = true
	}
	for _, p := range l.Modified {
		f.modified[p] = true
	}
}

// lists are sorted; what was modified is not listed as read.
func (f fileSet) lists() session.FileLists {
	l := session.FileLists{Read: []string{}, Modified: slices.Sorted(maps.Keys(f.modified))}
	for _, p := range slices.Sorted(maps.Keys(f.read)) {
		if !f.modified[p] {
			l.Read = append(l.Read, p)
		}
	}
	if l.Modified == nil {
		l.Modified = []string{}
	}
	return l
}
