package importtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every module that we require ourselves has its line in docs/dependencies.md,
// and no line outlives its module.
func TestDependenciesAreDocumented(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) == 2 && strings.Contains(f[0], ".") && strings.HasPrefix(f[1], "v") {
			required[f[0]] = true
			if !strings.Contains(string(doc), "`"+f[0]+"`") {
				t.Errorf("%s has no line in docs/dependencies.md", f[0])
			}
		}
	}
	for _, m := range regexp.MustCompile("`([a-z.]+\\.[a-z]+/[^`]+)`").FindAllStringSubmatch(string(doc), -1) {
		if !required[m[1]] && m[1] != "github.com/mattn/go-runewidth" { // pinned, not required directly
			t.Errorf("docs/dependencies.md names %s, which go.mod does not require", m[1])
		}
	}
}
