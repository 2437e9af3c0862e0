package export

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
)

// article writes an entry. One that cannot be read is a note that says so.
func (p *page) article(n tree.Node) error {
	e, err := p.entry(n)
	if err != nil {
		return errors.Join(errors.New("an entry could not be read"), err)
	}
	p.put(`<article id="n%" class="%">`, int(n), kindOf(p.class(n)))
	switch d := e.Data.(type) {
	case session.Message:
		p.message(n, e, d)
	case session.Command:
		p.byline(e, "You ran", "")
		p.command(d)
	case session.Compaction:
		p.folded(e, "Summary of what was before", d.Summary)
	case session.BranchSummary:
		p.folded(e, "Summary of a branch", d.Summary)
	case session.CustomMessage:
		p.byline(e, d.Type, "")
		p.content(d.Content)
	case session.Unknown:
		p.byline(e, d.Type, "")
		p.fold("", "what the file says of it", func() { p.block(string(d.Raw)) })
	}
	p.put("</article>\n")
	return nil
}

func (p *page) message(n tree.Node, e session.Entry, d session.Message) {
	switch d.Role {
	case llm.User:
		p.byline(e, "You", "")
		p.content(d.Content)
	case llm.ToolResult:
		p.result(n, e, d)
	case llm.Assistant:
		p.answer(n, e, d)
	}
}

// byline says who speaks, and when.
func (p *page) byline(e session.Entry, who, model string) {
	p.put("<header><b>%</b> ", who)
	if model != "" {
		p.put("<span>%</span> ", model)
	}
	p.mark(e)
	p.put("</header>")
}

// mark is when an entry was made, and its label and id.
func (p *page) mark(e session.Entry) {
	at := e.Time.UTC()
	p.put(`<time datetime="%">%</time>`, at.Format(time.RFC3339), at.Format("15:04"))
	if label := p.s.Label(e.ID); label != "" {
		p.put(" <mark>%</mark>", label)
	}
	p.put(` <a class="at" href="#n%" title="entry %" aria-label="link to this entry">#</a>`, p.at(e.ID), string(e.ID))
}

// at is the number here of an entry that is shown.
func (p *page) at(id session.ID) int {
	want := p.s.Node(id)
	lo, hi := 0, len(p.nodes)
	for lo < hi {
		if mid := (lo + hi) / 2; p.nodes[mid] < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// answer writes what the model said. Its calls stand where their results are;
// those that have none stand here.
func (p *page) answer(n tree.Node, e session.Entry, d session.Message) {
	if p.class(n).HasText || d.StopReason != llm.StopToolUse {
		p.byline(e, "Agent", strings.Trim(d.Provider+"/"+d.Model, "/"))
	}
	for _, b := range d.Content {
		switch b := b.(type) {
		case llm.Text:
			p.prose(b.Text)
		case llm.Thinking:
			p.thinking(b)
		}
	}
	for _, c := range p.unanswered(n, d.Calls()) {
		p.card(card{name: c.Name, args: c.Arguments, sign: "?", facts: []string{"no result"}, class: "open"}, nil)
	}
	switch d.StopReason {
	case llm.StopAborted:
		p.put(`<p class="end">interrupted</p>`)
	case llm.StopLength:
		p.put(`<p class="end">the answer was cut: the limit on its length was reached</p>`)
	case llm.StopError:
		p.put(`<p class="end bad">%</p>`, d.ErrorMessage)
	}
}

func (p *page) thinking(t llm.Thinking) {
	text := strings.TrimSpace(t.Text)
	switch {
	case t.Redacted:
		p.put(`<p class="end">thought, not shown by the provider</p>`)
	case text != "":
		p.fold("thinking", "thought · "+plural(strings.Count(text, "\n")+1, "line", "lines"), func() { p.prose(text) })
	}
}

// content writes text as it was typed, and pictures.
func (p *page) content(blocks []llm.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			p.put(`<p class="said">%</p>`, strings.Trim(b.Text, "\n"))
		case llm.Image:
			p.image(b)
		}
	}
}

// pictures are the kinds of image that a browser is given: those that providers
// take. None of them can hold a script.
var pictures = map[string]markup{
	"image/png": "image/png", "image/jpeg": "image/jpeg", "image/gif": "image/gif", "image/webp": "image/webp",
}

// image writes a picture with its data, or says that there is one.
func (p *page) image(img llm.Image) {
	kind, known := pictures[img.MIME]
	if _, err := base64.StdEncoding.DecodeString(img.Data); err != nil || !known || img.Data == "" {
		p.put(`<p class="end">a picture (%) that cannot be shown here</p>`, inert.Line(img.MIME))
		return
	}
	p.put(`<img alt="picture" src="data:%;base64,%">`, kind, img.Data)
}

// folded writes an entry that is a summary.
func (p *page) folded(e session.Entry, title, text string) {
	p.put("<details><summary>% ", title)
	p.mark(e)
	p.put("</summary>")
	p.prose(text)
	p.put("</details>")
}

// fold writes what is shown when one asks for it.
func (p *page) fold(class markup, title string, body func()) {
	p.put(`<details class="%"><summary>%</summary>`, class, title)
	body()
	p.put("</details>")
}
