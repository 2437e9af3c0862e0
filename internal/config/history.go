package config

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// History is the prompts of all sessions, one JSON object a line, oldest first,
// in one file that every running program appends to. It holds what the user
// typed, so nobody else may read it. Losing it loses nothing but convenience:
// lines that do not parse are left out.
type History struct{ Path string }

type prompt struct {
	Text string `json:"text"`
}

// historyBytes is how much of the end of the file is read.
const historyBytes = 1 << 20

// Read gives the newest prompts, oldest first. A missing file has none.
func (h History) Read() ([]string, error) {
	f, err := os.Open(h.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the prompt history: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > historyBytes {
		if _, err := f.Seek(-historyBytes, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("read the prompt history: %w", err)
		}
	}
	data, err := io.ReadAll(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("read the prompt history: %w", err)
	}
	var prompts []string
	for line := range bytes.Lines(data) {
		var p prompt
		if json.Unmarshal(line, &p) == nil && p.Text != "" {
			prompts = append(prompts, p.Text)
		}
	}
	return prompts, nil
}

// Add appends a prompt, in one write, so that two programs do not mix theirs.
func (h History) Add(text string) error {
	line, err := json.Marshal(prompt{text})
	if err != nil {
		return fmt.Errorf("record the prompt: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(h.Path), 0o700); err != nil {
		return fmt.Errorf("record the prompt: %w", err)
	}
	f, err := os.OpenFile(h.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("record the prompt: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("record the prompt: %w", err)
	}
	return nil
}
