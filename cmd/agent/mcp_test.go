package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
)

// The example of docs/mcp.md, as it stands there.
func TestTheExampleOfMCP(t *testing.T) {
	doc, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(doc, 2)
	if len(blocks) != 2 {
		t.Fatal("docs/mcp.md has no example")
	}
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "clock.sh"), blocks[0][1], 0o700); err != nil {
		t.Fatal(err)
	}
	d := llmtest.Anthropic{}
	server := llmtest.NewServer(t, d,
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Call: &llmtest.WireCall{ID: "call_1", Name: "mcp__clock__now", Args: `{}`}}}})...),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "It is late."}}})...),
	)
	env := []string{"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL=" + server.URL, "TZ=UTC"}
	for line := range strings.Lines(string(blocks[1][1])) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "$PWD", h.work)
		args := splitWords(strings.TrimPrefix(line, "agent "))
		out, errs, err := h.agent(t, env, args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", line, err, out, errs)
		}
		switch {
		case strings.Contains(line, " test "):
			if !strings.Contains(out, "mcp__clock__now  Says what time it is.") {
				t.Errorf("%s: %s", line, out)
			}
		case strings.Contains(line, " -p "):
			if !strings.Contains(out, "It is late.") {
				t.Errorf("%s: %s\n%s", line, out, errs)
			}
		}
	}
	got := server.Received()
	if len(got) != 2 || !bytes.Contains(got[0].Body, []byte("Says what time it is.")) || !bytes.Contains(got[1].Body, []byte("UTC 20")) {
		t.Errorf("the model was not given the tool, or its result: %d requests", len(got))
	}
}

// splitWords takes a command line apart, as a shell would with quotes.
func splitWords(line string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		words = append(words, m[1]+m[2])
	}
	return words
}
