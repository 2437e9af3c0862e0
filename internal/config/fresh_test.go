package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the generated documents")

func TestSettingsDocumentsAreFresh(t *testing.T) {
	for name, want := range map[string][]byte{"settings.schema.json": Schema(), "settings.md": Reference()} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the table of settings says (%v); run: go test -run Fresh ./internal/config -update", path, err)
		}
	}
}
