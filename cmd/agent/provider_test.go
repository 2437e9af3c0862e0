package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
)

// agent runs the binary without a terminal.
func (h home) agent(t testing.TB, env []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = h.work, h.env(env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func anthropicEnv(url string) []string {
	return []string{"ANTHROPIC_API_KEY=sk-ant-test-0123456789", "ANTHROPIC_BASE_URL=" + url}
}

// The whole way with a real provider's protocol: a tool call, its result, the
// answer; and the key stays where it is.
func TestProviderOverHTTP(t *testing.T) {
	var d llmtest.Anthropic
	server := llmtest.NewServer(t, d,
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "Let me look. "}, {Call: &llmtest.WireCall{ID: "toolu_1", Name: "read", Args: `{"path":"notes.txt"}`}}}})...),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "It says: water the tree."}}})...),
	)
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "notes.txt"), []byte("water the tree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, err := h.agent(t, anthropicEnv(server.URL), "-p", "what do the notes say?")
	if err != nil || strings.TrimSpace(out) != "It says: water the tree." {
		t.Fatalf("%v\n%s\n%s", err, out, errs)
	}
	got := server.Received()
	if len(got) != 2 || !bytes.Contains(got[1].Body, []byte("water the tree")) {
		t.Fatalf("%d requests", len(got))
	}
	err = filepath.WalkDir(h.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("sk-ant-test")) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestProviderFaultsAreOneSentence(t *testing.T) {
	var d llmtest.Anthropic
	for name, c := range map[string]struct {
		play llmtest.Play
		want string
	}{
		"wrong key": {llmtest.Status(401, "application/json", d.ErrorBody(llmtest.BadKey, "invalid x-api-key")), "key"},
		"portal":    {llmtest.Status(200, "text/html", "<html>Please log in to the hotel network</html>"), "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewServer(t, d, c.play)
			out, errs, err := newHome(t).agent(t, anthropicEnv(server.URL), "-p", "hello")
			if err == nil || out != "" {
				t.Fatalf("%v, %q", err, out)
			}
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			if len(lines) != 1 || !strings.Contains(lines[0], c.want) || !strings.Contains(lines[0], "127.0.0.1") || strings.Contains(lines[0], "sk-ant") {
				t.Errorf("told: %q", errs)
			}
		})
	}
}
