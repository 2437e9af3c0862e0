package export

import (
	"bufio"
	"strconv"
	"strings"

	"banyan/internal/tui/inert"
)

// markup is text of ours that goes into the page as it is. Only constants have
// this type; nothing is ever converted to it.
type markup string

// page is an HTML page that is being written. The writer keeps the first error,
// which its Flush returns.
type page struct {
	*outline
	out *bufio.Writer
	// colour is how many bytes of code may still be highlighted: the time for it
	// is bounded, whatever the session.
	colour int
	calls  calls
}

// put is the one door into the page. Each % of the form is where the next value
// goes, as visible characters: in text and between quotes alike.
func (p *page) put(form markup, values ...any) {
	for _, v := range values {
		i := strings.IndexByte(string(form), '%')
		p.out.WriteString(string(form[:i]))
		form = form[i+1:]
		switch v := v.(type) {
		case string:
			escapes.WriteString(p.out, inert.Text(v))
		case int:
			p.out.WriteString(strconv.Itoa(v))
		case markup:
			p.out.WriteString(string(v))
		}
	}
	p.out.WriteString(string(form))
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")
