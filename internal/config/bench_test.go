//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"
)

// Both are paid before the first frame.

func BenchmarkLoad(b *testing.B) {
	paths := Paths{Config: b.TempDir()}
	if err := os.WriteFile(paths.UserFile(), []byte(everything), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, problems := Load(paths, "", false, nil); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkTrusted(b *testing.B) {
	dir := b.TempDir()
	deep := filepath.Join(dir, "a/b/c/d/e/f")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		b.Fatal(err)
	}
	trust := Trust{File: filepath.Join(b.TempDir(), "trust.json")}
	if err := trust.Grant(dir); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok, err := trust.Trusted(deep); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
