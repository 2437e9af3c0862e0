package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"banyan/internal/tui/shot"
	"banyan/internal/tui/theme"
)

// TestShots writes pictures of the golden screens for people to look at, where
// SHOTS names a folder.
func TestShots(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		t.Skip("SHOTS names no folder for pictures")
	}
	for _, name := range theme.Names() {
		colors := shot.Dark
		if name == "light" {
			colors = shot.Light
		}
		for _, scene := range scenes {
			for _, size := range [][2]int{{80, 40}, {40, 10}} {
				m := New(theme.Must(name, theme.TrueColor))
				m.SetSiblings(demoSiblings)
				m.SetSize(size[0], size[1])
				m.Reset(Entries(demo()))
				scene.set(m)
				file := filepath.Join(dir, fmt.Sprintf("%s-%s-%dx%d.png", scene.name, name, size[0], size[1]))
				save(t, file, shot.Of(m.View(), size[0], size[1], colors))
			}
		}
	}
}

func save(t *testing.T, file string, p shot.Picture) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.PNG(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
