package hook

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words are those of a hook's command that are known before it runs, as absolute
// paths if they should name files: what is relative is so to dir.
func words(h Hook, project, dir string) []string {
	all := texts(h, project)
	for i, word := range all {
		if !filepath.IsAbs(word) {
			all[i] = filepath.Join(dir, word)
		}
	}
	return all
}

func texts(h Hook, project string) []string {
	if h.Args != nil {
		return append([]string{h.Command}, h.Args...)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(h.Command), "")
	if err != nil {
		return strings.Fields(h.Command)
	}
	var all []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			if text, ok := plain(w.Parts, project); ok {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// plain is what parts of a word come to, if they hold nothing but text and the
// folder of the project.
func plain(parts []syntax.WordPart, project string) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			text, ok := plain(p.Parts, project)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case *syntax.ParamExp:
			if p.Param == nil || p.Param.Value != "CLAUDE_PROJECT_DIR" {
				return "", false
			}
			b.WriteString(project)
		default:
			return "", false
		}
	}
	return b.String(), true
}
