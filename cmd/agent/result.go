package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"banyan/internal/result"
	"banyan/internal/tool"
)

// checkSchema says what is wrong with --json-schema before anything is read.
func (o chatOptions) checkSchema() error {
	switch {
	case !o.print:
		return usagef("--json-schema needs -p: a chat has no end that could be data")
	case strings.TrimSpace(o.schema) == "":
		return usagef("--json-schema is empty; give a file or a schema")
	}
	return nil
}

// wantResult reads the schema that --json-schema gives or names.
func (s *setup) wantResult() (err error) {
	given := strings.TrimSpace(s.opts.schema)
	switch {
	case given == "":
		return nil
	case !strings.HasPrefix(given, "{") && given != "true" && given != "false":
		if given, err = readSchema(given); err != nil {
			return usageError{err}
		}
	}
	if s.want, err = result.Parse([]byte(given)); err != nil {
		return usageError{fmt.Errorf("--json-schema: %w", err)}
	}
	s.Ending = s.want.Ending
	return nil
}

// readSchema reads a file, which may be a pipe.
func readSchema(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--json-schema is neither JSON nor a file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, tool.MaxSchema+1))
	if err != nil {
		return "", fmt.Errorf("read the JSON schema: %w", err)
	}
	return string(text), nil
}
