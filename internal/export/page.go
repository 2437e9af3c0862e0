package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/treeview"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// mostColour is how much code is highlighted in one page, in bytes: some
// seconds of work.
const mostColour = 4 << 20

// writePage writes a part as one HTML page. The strands stand in it depth first,
// so whatever branch is shown, its sections follow each other in the page; those
// of other branches are hidden until one goes there, by script or by address.
func writePage(out *bufio.Writer, s session.Snapshot, part Part) error {
	p := &page{outline: newOutline(s, part), out: out, colour: mostColour}
	p.head()
	if len(p.strands) == 0 {
		p.put(`<p class="note">Nothing was said in this session.</p>`)
	}
	for i := range p.strands {
		if err := p.strandSection(i); err != nil {
			return err
		}
	}
	p.put("</main>\n")
	p.tree()
	p.put("<script>")
	p.out.WriteString(script)
	p.put("</script>\n</body></html>\n")
	return nil
}

// head writes what stands before the conversation.
func (p *page) head() {
	h := p.s.Header()
	title := p.s.Name()
	if title == "" {
		title = "Session " + h.ID[:min(len(h.ID), 13)]
	}
	p.put(`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src '%'; script-src '%'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>%</title><style>`, hash(style), hash(script), title)
	p.out.WriteString(style)
	p.put(`</style></head>
<body><a class="skip" href="#tree">To the tree</a>
<header class="top"><h1>%</h1><p>`, title)
	branches := 0
	for _, s := range p.strands {
		if s.down < 0 {
			branches++
		}
	}
	facts := []string{h.Time.UTC().Format("2 January 2006, 15:04 UTC"), plural(p.view.Len(), "entry", "entries"), plural(branches, "branch", "branches"), h.Cwd}
	p.put("%", strings.Trim(strings.Join(facts, " · "), " ·"))
	p.put("</p></header>\n<main>\n")
}

// hash names a script or a style in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// strandSection writes a strand. Its attributes are what the script goes by.
func (p *page) strandSection(i int) error {
	s := p.strands[i]
	hidden := markup(" hidden")
	if s.active {
		hidden = ""
	}
	p.put(`<section data-strand="%" data-up="%" data-down="%"%>`, i, s.up, s.down, hidden)
	if s.of > 1 {
		p.put("<nav class=\"siblings\" aria-label=\"Branches here\">")
		p.sibling(s.prev, "prev", "‹")
		p.put(" branch % of % ", s.at, s.of)
		p.sibling(s.next, "next", "›")
		p.put("</nav>")
	}
	p.put("\n")
	for n := range p.along(s) {
		if err := p.article(n); err != nil {
			return err
		}
	}
	p.put("</section>\n")
	return nil
}

func (p *page) sibling(n tree.Node, rel, sign markup) {
	if n == tree.None {
		p.put("<span>%</span>", sign)
		return
	}
	p.put(`<a href="#n%" rel="%">%</a>`, int(n), rel, sign)
}

// tree writes the tree at the side: what the filter without tools shows.
func (p *page) tree() {
	p.put("<nav id=\"tree\" aria-label=\"Tree\">\n<ol>\n")
	o := tree.NewOutline(tree.Source{View: p.view, Leaf: p.leaf, Class: p.rowClass}, tree.NoTools, nil)
	const some, width = 1024, 64
	for from := 0; from < o.Len(); from += some {
		for _, r := range o.Rows(from, some, width) {
			p.row(r)
		}
	}
	p.put("</ol>\n</nav>\n")
}

func (p *page) rowClass(n tree.Node) tree.Class {
	c := p.class(n)
	switch {
	case c.Role == llm.User:
		return tree.User
	case c.Role == llm.ToolResult:
		return tree.ToolResult
	case c.Role == llm.Assistant && !c.HasText && !c.Failed:
		return tree.Silent
	}
	return 0
}

// row writes a row of the tree.
func (p *page) row(r tree.Row) {
	on := markup("")
	if r.Active {
		on = " on"
	}
	p.put(`<li class="%%"><a href="#n%"><span aria-hidden="true">%</span>`, kindOf(p.class(r.Node)), on, int(r.Node), unfolded.Replace(r.Prefix))
	if label := p.s.Label(p.s.ID(p.nodes[r.Node])); label != "" {
		p.put("<mark>%</mark> ", label)
	}
	text := treeview.Line(p.s, p.nodes[r.Node])
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	p.put("%</a></li>\n", text)
}

// unfolded takes the fold marks from a row: nothing folds here.
var unfolded = strings.NewReplacer("├⊟", "├─", "└⊟", "└─", "⊟ ", "")

// kindOf is the class, in the style sheet, of what somebody said.
func kindOf(c session.Class) markup {
	switch {
	case c.Failed:
		return "failed"
	case c.Role == llm.User:
		return "user"
	case c.Role == llm.Assistant:
		return "agent"
	case c.Role == llm.ToolResult:
		return "tool"
	case c.Kind == "message":
		return "command"
	case c.Kind == "custom_message":
		return "note"
	}
	return "summary"
}
