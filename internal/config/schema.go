package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Schema is the JSON schema of a file of settings, for editors.
func Schema() []byte {
	root := object("Settings of Banyan. Comments and trailing commas may stand in the file.")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Banyan settings"
	root["properties"].(map[string]any)["$schema"] = map[string]any{"type": "string"}
	for _, f := range fields {
		names := strings.Split(f.path, ".")
		at := root
		for _, name := range names[:len(names)-1] {
			at = below(at, name)
		}
		if name := names[len(names)-1]; name == "*" {
			at["additionalProperties"] = f.schema()
		} else {
			at["properties"].(map[string]any)[name] = f.schema()
		}
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // maps of texts and numbers always encode
	}
	return append(text, '\n')
}

func object(description string) map[string]any {
	o := map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
	if description != "" {
		o["description"] = description
	}
	return o
}

// below is the schema of an object inside, made if it is not there yet.
func below(at map[string]any, name string) map[string]any {
	if name == "*" {
		if o, ok := at["additionalProperties"].(map[string]any); ok {
			return o
		}
		o := object("")
		at["additionalProperties"] = o
		return o
	}
	properties := at["properties"].(map[string]any)
	if properties[name] == nil {
		properties[name] = object("")
	}
	return properties[name].(map[string]any)
}

// schema is the field's own schema.
func (f field) schema() map[string]any {
	s := map[string]any{"description": f.about()}
	texts := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	switch f.at(scratch(), "x").(type) {
	case *bool:
		s["type"] = "boolean"
	case *int:
		s["type"], s["minimum"] = "integer", 0
	case *float64:
		s["type"], s["minimum"] = "number", 0
	case *string:
		s["type"] = "string"
		if len(f.choices) > 0 {
			s["enum"] = f.choices
		}
	case *[]Raw, serverOf:
		s["type"] = "object"
		return s
	default: // lists, which may be one text
		s["anyOf"] = []any{texts, map[string]any{"type": "string"}}
		return s
	}
	if d := f.standard(); d != "" && d != `""` {
		s["default"] = json.RawMessage(d)
	}
	return s
}

// standard is the field's default as JSON, empty for those with a *.
func (f field) standard() string {
	if strings.Contains(f.path, "*") {
		return ""
	}
	return f.json(scratch(), "")
}

// about is the field's help with what a project may do.
func (f field) about() string {
	help := f.help
	if f.live {
		help += " A change in `/settings` counts at once."
	}
	switch f.project {
	case adds:
		return help + " A project may add to it."
	case lower:
		return help + " A project may lower it."
	case proposes:
		return help + " A project may have some; you approve each of them before it counts."
	}
	return help
}

// takes says for people what the field takes.
func (f field) takes() string {
	if len(f.choices) > 0 {
		return "`" + strings.Join(f.choices, "`, `") + "`"
	}
	switch f.at(scratch(), "x").(type) {
	case *bool:
		return "true, false"
	case *int:
		return "whole number"
	case *float64:
		return "number"
	case *string:
		return "text"
	case *[]Raw, serverOf:
		return "object"
	case keysOf:
		return "text or list"
	}
	return "list"
}

// Reference is the documentation of all settings, in Markdown.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, f := range fields {
		standard := f.standard()
		if standard != "" && standard != `""` && standard != "[]" {
			standard = "`" + standard + "`"
		} else {
			standard = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.path, f.takes(), standard, f.about())
	}
	return []byte(b.String())
}

const referenceHead = `<!-- Generated from internal/config; do not edit. -->
# Settings

JSON with comments and trailing commas. What stands in a later place counts before what stands in an earlier one:

1. ` + "`$XDG_CONFIG_HOME/banyan/settings.json`" + ` (` + "`~/.config/banyan`" + `; ` + "`BANYAN_CONFIG_DIR`" + ` names another folder): yours.
2. ` + "`.banyan/settings.json`" + ` in a project that you trust: the project's.
3. ` + "`.banyan/settings.local.json`" + ` beside it.
4. Flags.

A project can only tighten: it adds to ` + "`permissions.ask` and `permissions.deny`" + ` and lowers limits; hooks and MCP servers that it brings run once you have approved them, one by one. Both of its files are held to that, because whoever made the repository may have made either of them; whatever else they set is ignored, and you are told. Before a folder is trusted they are not read at all.

Lists of rules, of folders and of variable names add up over all places; other values are replaced. A list may be written as one text. What is wrong in a file is reported with its line, and the rest of the file counts.

An editor that knows JSON schemas completes and checks the file when it begins with ` + "`\"$schema\": \"…/docs/settings.schema.json\"`" + `.

| setting | takes | default | for |
|---|---|---|---|
`
