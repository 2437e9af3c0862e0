package tree

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the golden files of testdata should say")

// TestGolden draws the files of testdata. Each holds a tree (a line an entry: id,
// parent or -, class letters or -, text; the leaf is marked with a * before its
// id) and screens, named by the width and what is done before:
//
//	-- 40: filter user-only; select c --
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { checkGolden(t, file) })
	}
}

func checkGolden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, screen := range archive.Files[1:] {
		g := readGolden(t, archive.Files[0])
		size, keys, _ := strings.Cut(screen.Name, ":")
		width, err := strconv.Atoi(size)
		if err != nil {
			t.Fatalf("%s: a screen is named by its width", screen.Name)
		}
		for key := range strings.SplitSeq(keys, ";") {
			g.press(t, strings.TrimSpace(key))
		}
		got := g.draw(width)
		if *update {
			archive.Files[i+1].Data = []byte(got)
		} else if got != string(screen.Data) {
			t.Errorf("%s is\n%swant\n%s", screen.Name, got, screen.Data)
		}
	}
	if *update {
		write(t, file, txtar.Format(archive))
	}
}

// golden is an outline and what its rows say.
type golden struct {
	o     *Outline
	ids   []string
	texts []string
	node  map[string]Node
}

var classLetters = map[rune]Class{
	'-': 0, 'u': User, 't': ToolResult, 'b': Bookkeeping, 'l': Labelled, 's': Silent,
}

func readGolden(t *testing.T, tree txtar.File) *golden {
	g := &golden{node: map[string]Node{"-": None}}
	var f Forest
	var classes []Class
	leaf := None
	for line := range strings.Lines(string(tree.Data)) {
		part := strings.SplitN(strings.TrimSpace(line), " ", 4)
		id, marked := strings.CutPrefix(part[0], "*")
		parent, known := g.node[part[1]]
		if !known {
			t.Fatalf("%q hangs below nothing", line)
		}
		n := f.Add(parent, int64(f.Len()))
		if marked {
			leaf = n
		}
		var class Class
		for _, letter := range part[2] {
			class |= classLetters[letter]
		}
		g.node[id], g.ids = n, append(g.ids, id)
		classes, g.texts = append(classes, class), append(g.texts, part[3])
	}
	g.o = NewOutline(Source{
		View: f.View(), Leaf: leaf,
		Class: func(n Node) Class { return classes[n] },
		Text:  func(n Node) string { return g.texts[n] },
	}, Default, nil)
	g.o.IndexSome(f.Len())
	return g
}

// goldenKeys are the keys that a screen may name.
var goldenKeys = map[string]func(o *Outline){
	"": func(*Outline) {}, "up": (*Outline).Up, "down": (*Outline).Down, "home": (*Outline).Home, "end": (*Outline).End,
	"fold": (*Outline).FoldOrUp, "unfold": (*Outline).UnfoldOrDown,
	"turn-": (*Outline).PrevTurn, "turn+": (*Outline).NextTurn,
	"sibling-": (*Outline).PrevSibling, "sibling+": (*Outline).NextSibling,
	"match-": (*Outline).PrevMatch, "match+": (*Outline).NextMatch,
	"pgup": func(o *Outline) { o.Page(-3) }, "pgdn": func(o *Outline) { o.Page(3) },
}

func (g *golden) press(t *testing.T, key string) {
	name, arg, _ := strings.Cut(key, " ")
	switch press, plain := goldenKeys[name]; {
	case name == "filter":
		f, err := ParseFilter(arg)
		if err != nil {
			t.Fatal(err)
		}
		g.o.SetFilter(f)
	case name == "search":
		g.o.Search(arg) // the error is seen by its empty screen
	case name == "select":
		g.o.Select(g.node[arg])
	case plain:
		press(g.o)
	default:
		t.Fatalf("no key %q", key)
	}
}

// draw makes a screen as /tree would, in plain text.
func (g *golden) draw(width int) string {
	var b strings.Builder
	for _, r := range g.o.Rows(0, g.o.Len(), width) {
		line := map[bool]string{true: "› ", false: "  "}[r.Node == g.o.Selected()] + r.Prefix
		if r.Active {
			line += "• "
		}
		line += g.texts[r.Node]
		if r.Leaf {
			line += " ← here"
		}
		cells := []rune(line)
		b.WriteString(strings.TrimRight(string(cells[:min(len(cells), width)]), " ") + "\n")
	}
	at, of := g.o.Matches()
	fmt.Fprintf(&b, "(%d/%d) [%v] match %d of %d\n", g.o.Row()+1, g.o.Len(), g.o.Filter(), at, of)
	return b.String()
}

func write(t *testing.T, file string, data []byte) {
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
