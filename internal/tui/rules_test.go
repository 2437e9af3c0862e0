package tui_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/tui"
)

// docs/keys.md is generated: write it with -update.
func TestKeysDocumentIsFresh(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "keys.md")
	want := tui.KeysMarkdown()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/keys.md is not what the tables say (%v); write it with: go test ./internal/tui -run KeysDocument -update", err)
	}
}

func TestActionIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range tui.KeyRows() {
		if seen[r.ID] {
			t.Errorf("two actions are called %s", r.ID)
		}
		if seen[r.ID] = true; r.Help == "" {
			t.Errorf("action %s says nothing of itself", r.ID)
		}
	}
}

// A tea.Cmd runs in a goroutine of its own: its function may hold values, never
// the screen or a part of it, which only Update may touch. This finds function
// literals without parameters that return a tea.Msg and mention a variable
// that is a pointer to one of our types: a receiver or a parameter.
func TestCommandsHoldValuesOnly(t *testing.T) {
	checked := 0
	for _, dir := range []string{".", "editor", "picker"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				owners := pointers(f)
				ast.Inspect(f.Body, func(n ast.Node) bool {
					lit, ok := n.(*ast.FuncLit)
					if !ok || !isCmd(lit.Type) {
						return true
					}
					checked++
					ast.Inspect(lit.Body, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok && owners[id.Name] {
							t.Errorf("%s: a command holds %s", set.Position(id.Pos()), id.Name)
						}
						return true
					})
					return true
				})
			}
		}
	}
	if checked < 8 {
		t.Errorf("found only %d commands: does this test still look at the right thing?", checked)
	}
}

// pointers are the names of a function's receiver and parameters that are pointers.
func pointers(f *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	lists := []*ast.FieldList{f.Recv, f.Type.Params}
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if _, ok := field.Type.(*ast.StarExpr); ok {
				for _, name := range field.Names {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

// isCmd says whether a function takes nothing and returns a tea.Msg.
func isCmd(f *ast.FuncType) bool {
	if f.Params.NumFields() != 0 || f.Results.NumFields() != 1 {
		return false
	}
	sel, ok := f.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Msg"
}
