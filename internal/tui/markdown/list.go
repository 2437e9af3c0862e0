package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"banyan/internal/tui/rich"
)

// bullets are the signs of lists by depth.
var bullets = []string{"•", "◦", "▪"}

// list draws a list; numbers are aligned at their right.
func (r *renderer) list(n *ast.List) {
	digits := 0
	if n.IsOrdered() {
		digits = len(fmt.Sprint(n.Start + n.ChildCount() - 1))
	}
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c != n.FirstChild() && !n.IsTight {
			r.blank()
		}
		bullet := bullets[r.depth()%len(bullets)] + " "
		if n.IsOrdered() {
			bullet = fmt.Sprintf("%*d. ", digits, number)
			number++
		}
		style := r.th.Bullet
		if box, ok := checkBox(c); ok {
			if bullet = "[ ] "; box.IsChecked {
				bullet, style = "[✓] ", r.th.Success
			}
		}
		l := level{
			first: []rich.Span{rich.Chrome(bullet, style)},
			rest:  []rich.Span{rich.Chrome(strings.Repeat(" ", rich.Width(bullet)), r.style())},
			style: r.style(),
		}
		r.within(l, func() { r.blocks(c, n.IsTight) })
	}
}

// depth is how many lists we are in.
func (r *renderer) depth() int {
	n := 0
	for _, l := range r.levels {
		if !l.quote {
			n++
		}
	}
	return n
}

// checkBox finds the box of a task.
func checkBox(item ast.Node) (*extast.TaskCheckBox, bool) {
	if item.FirstChild() == nil {
		return nil, false
	}
	box, ok := item.FirstChild().FirstChild().(*extast.TaskCheckBox)
	return box, ok
}

func dashes(n int) string { return strings.Repeat("─", max(n, 0)) }
