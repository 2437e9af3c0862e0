package skill_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/skill"
)

// What the program's start pays: with nothing to be found, and with much.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{0, 10, 100} {
		b.Run(fmt.Sprint(n, "_skills"), func(b *testing.B) {
			home := b.TempDir()
			w := skill.Where{Config: filepath.Join(home, "config"), Home: home, Root: home, Cwd: home}
			for i := range n {
				name := fmt.Sprintf("s%d", i)
				write(b, filepath.Join(home, ".agents/skills", name, "SKILL.md"), front(name, "A description of what this is for.")+strings.Repeat("Text.\n", 1000))
			}
			for b.Loop() {
				if l := skill.Load(w); len(l.Skills) != n {
					b.Fatal(l)
				}
			}
		})
	}
}
