// Package importtest holds the allowed imports of the project, as a test. When a
// rule hurts, change the table in the same commit and say why.
package importtest

import (
	"encoding/json"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// allowed says which packages of ours a package may import. A name ending in
// "/..." stands for everything below it, too.
var allowed = map[string][]string{
	// L0: leaves.
	"internal/jsonl":   {},
	"internal/tree":    {},
	"internal/llm":     {},
	"internal/config":  {"internal/slip"},
	"internal/sandbox": {},
	"internal/vcs":     {},
	"internal/slip":    {},
	"internal/mailbox": {},

	"internal/clipboard": {},

	"internal/instructions": {},
	"internal/rule":         {"internal/llm"},
	"internal/skill":        {"internal/llm", "internal/instructions", "internal/rule"},

	// L0: one wire protocol each.
	"internal/llm/httpx":     {"internal/llm"},
	"internal/llm/anthropic": {"internal/llm", "internal/llm/httpx"},
	"internal/llm/openai":    {"internal/llm", "internal/llm/httpx"},
	"internal/llm/gemini":    {"internal/llm", "internal/llm/httpx"},
	"internal/llm/offline":   {"internal/llm"},
	"internal/llm/models":    {"internal/llm"},
	"internal/llm/provider":  {"internal/llm/..."},
	"internal/llm/llmtest":   {"internal/llm/..."},
	"internal/jsonl/fstest":  {"internal/jsonl"},

	// L0: where logs are kept.
	"internal/store":           {"internal/jsonl"},
	"internal/store/rows":      {"internal/jsonl", "internal/store"},
	"internal/store/database":  {"internal/jsonl", "internal/store", "internal/store/rows"},
	"internal/store/storetest": {"internal/jsonl", "internal/store"},
	"internal/store/pgtest":    {},
	"internal/flue":            {"internal/llm", "internal/session", "internal/tree"},

	// L1
	"internal/session":    {"internal/llm", "internal/tree", "internal/jsonl", "internal/store", "internal/store/rows", "internal/slip"},
	"internal/tool":       {"internal/llm", "internal/sandbox"},
	"internal/permission": {"internal/llm", "internal/tool"},

	// L2
	"internal/agent":   {"internal/llm", "internal/tool"},
	"internal/summary": {"internal/llm", "internal/session"},
	"internal/result":  {"internal/llm", "internal/tool", "internal/agent"},
	"internal/mcp":     {"internal/llm", "internal/tool", "internal/sandbox", "internal/config"},

	// L3
	"internal/engine": {"internal/mailbox", "internal/agent", "internal/result", "internal/summary", "internal/session", "internal/tool", "internal/permission", "internal/llm", "internal/tree", "internal/rule"},

	// L4: what is written for others is drawn with parts of the screen.
	"internal/export": {"internal/session", "internal/tool", "internal/llm", "internal/tree", "internal/tui/inert", "internal/tui/highlight", "internal/tui/markdown", "internal/tui/transcript", "internal/tui/treeview"},
	// Other people's programs: hooks of the engine, and senders of its commands.
	"internal/extension": {"internal/mailbox", "internal/engine", "internal/session", "internal/tool", "internal/permission", "internal/llm", "internal/sandbox"},

	"internal/hook": {"internal/config", "internal/permission", "internal/sandbox", "internal/tool", "internal/agent", "internal/engine", "internal/llm", "internal/session"},

	// L4: the screen knows data types and the engine's commands and events.
	"internal/tui":            {"internal/slip", "internal/export", "internal/engine", "internal/session", "internal/tool", "internal/llm", "internal/tree", "internal/config", "internal/tui/..."},
	"internal/tui/transcript": {"internal/session", "internal/tool", "internal/llm", "internal/tree", "internal/tui/picture", "internal/tui/inert", "internal/tui/theme", "internal/tui/markdown", "internal/tui/rich", "internal/tui/highlight"},
	"internal/tui/treeview":   {"internal/session", "internal/llm", "internal/tree", "internal/tui/inert", "internal/tui/theme", "internal/tui/rich", "internal/tui/keymap"},
	"internal/tui/editor":     {"internal/llm", "internal/tui/inert", "internal/tui/theme", "internal/tui/keymap", "internal/tui/rich", "internal/tui/fuzzy"},
	"internal/tui/picker":     {"internal/tui/inert", "internal/tui/theme", "internal/tui/keymap", "internal/tui/rich", "internal/tui/fuzzy", "internal/tui/editor"},
	"internal/tui/markdown":   {"internal/tui/inert", "internal/tui/theme", "internal/tui/rich", "internal/tui/highlight"},
	"internal/tui/highlight":  {"internal/tui/theme"},
	"internal/tui/rich":       {"internal/tui/inert", "internal/tui/theme"},
	"internal/tui/theme":      {},
	"internal/tui/inert":      {},
	"internal/tui/keymap":     {},
	"internal/tui/fuzzy":      {},
	"internal/tui/shot":       {},
	"internal/tui/tuitest":    {"internal/tui/...", "internal/engine", "internal/session", "internal/llm", "internal/tool"},
	"internal/headless":       {"internal/agent", "internal/result", "internal/engine", "internal/session", "internal/tool", "internal/llm", "internal/tui/inert"},

	"internal/tui/inert/inerttest": {},
	"internal/tui/termcap":         {},
	"internal/tui/picture":         {"internal/tui/termcap"},

	"internal/reader": {"internal/engine", "internal/session", "internal/tool", "internal/llm", "internal/tui/inert"},

	// L5
	"cmd/agent": {"internal/..."},

	// Examples for authors of extensions stand alone.
	"examples/gitnote": {},
}

// outside says where packages of others may be imported. The longest pattern
// that matches counts; what none matches may be imported anywhere.
var outside = map[string][]string{
	"charm.land/...":               {"internal/tui/..."},
	"github.com/charmbracelet/...": {"internal/tui/..."},
	"net/http":                     {"internal/llm/httpx", "internal/llm/anthropic", "internal/llm/openai", "internal/llm/gemini", "internal/llm/provider", "internal/llm/models", "internal/llm/llmtest", "internal/mcp", "internal/tool"},
	"os/exec":                      {"examples/gitnote", "internal/tool", "internal/hook", "internal/extension", "internal/mcp", "internal/sandbox", "internal/tui", "internal/tui/editor", "internal/llm/provider", "internal/clipboard", "internal/store/pgtest"},
	"github.com/anthropics/anthropic-sdk-go/...": {}, // in tests only
	"github.com/openai/openai-go/...":            {}, // in tests only
	"google.golang.org/genai/...":                {}, // in tests only
	"database/sql/...":                           {"internal/store/database"},
	"github.com/jackc/...":                       {"internal/store/database", "internal/store/pgtest"},
	"github.com/ncruces/...":                     {"internal/store/database"},
	"github.com/pressly/...":                     {"internal/store/database"},
	"github.com/tetratelabs/...":                 {"internal/store/database"},
	"github.com/modelcontextprotocol/...":        {"internal/mcp"},
	"github.com/alecthomas/chroma/v2/lexers/...": {},
	"github.com/alecthomas/chroma/v2/styles/...": {},
	"github.com/alecthomas/chroma/v2/quick/...":  {},
	"charm.land/glamour/...":                     {},
	"charm.land/bubbles/v2/textarea":             {},
	"charm.land/bubbles/v2/viewport":             {},
	"charm.land/bubbles/v2/list":                 {},
	"github.com/bytedance/sonic/...":             {},
	"github.com/spf13/viper/...":                 {},
}

const module = "banyan/"

func TestImports(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		may, known := allowed[name]
		if !known {
			t.Errorf("%s is not in the table of allowed imports", name)
			continue
		}
		for _, imp := range p.Imports {
			if own, ours := strings.CutPrefix(imp, module); ours {
				if !matchAny(may, own) {
					t.Errorf("%s may not import %s", name, own)
				}
			} else if where, ruled := rule(imp); ruled && !matchAny(where, name) {
				t.Errorf("%s may not import %s", name, imp)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range list(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

type pkg struct {
	ImportPath string
	Doc        string
	GoFiles    []string
	Imports    []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,GoFiles,Imports", "./...")
	cmd.Dir = path.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 { // not those that are tests only
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) == 0 {
		t.Fatal("no packages found")
	}
	return pkgs
}

// rule finds where an outside package may be imported.
func rule(imp string) ([]string, bool) {
	var patterns []string
	for p := range outside {
		if match(p, imp) {
			patterns = append(patterns, p)
		}
	}
	if len(patterns) == 0 {
		return nil, false
	}
	longest := slices.MaxFunc(patterns, func(a, b string) int { return len(a) - len(b) })
	return outside[longest], true
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}

func match(pattern, name string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return pattern == name
}
