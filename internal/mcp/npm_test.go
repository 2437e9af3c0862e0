package mcp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/tool"
)

// A server that others have written, in another language: the one that the
// protocol's authors test clients with. npm fetches it, so it runs where that is
// asked for.
func TestServerEverything(t *testing.T) {
	if os.Getenv("BANYAN_NPM") == "" {
		t.Skip("it fetches a server from npm: set BANYAN_NPM=1 to run it, as .ci/run does")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm here")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--prefer-offline", "@modelcontextprotocol/server-everything")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot fetch the server: %v\n%s", err, out)
	}
	w := newWorld(t)
	c := program(t, "everything", "")
	c.JSON = []byte(`{"command": "` + filepath.Join(dir, "node_modules", ".bin", "mcp-server-everything") + `"}`)
	w.begin(c)
	s := w.phase("everything", Ready)
	t.Logf("%s: %d tools, %d prompts, %d resources, %d templates", s.Program, len(s.Tools), len(s.Prompts), len(s.Resources), len(s.Templates))
	if len(s.Given()) < 5 || len(s.Prompts) == 0 || len(s.Resources)+len(s.Templates) == 0 {
		t.Fatalf("%+v", s)
	}
	if r := w.call(ctx, "everything", "echo", `{"message":"from Banyan"}`, nil); r.Err != nil || !strings.Contains(text(r.Content), "from Banyan") {
		t.Errorf("echo: %+v", r)
	}
	var how []string
	r := w.call(ctx, "everything", named(s, "long"), `{"duration":1,"steps":2}`, func(v tool.View) { how = append(how, v.(tool.Plain).Text) })
	if r.Err != nil || len(how) == 0 || !strings.Contains(how[len(how)-1], " of 2") {
		t.Errorf("a long call: %+v, progress %q", r, how)
	}
	if r := w.call(ctx, "everything", named(s, "image"), `{}`, nil); r.Err != nil || !strings.Contains(text(r.Content), "<image/png>") {
		t.Errorf("a picture: %+v", r)
	}
	if r := w.call(ctx, "everything", named(s, "structured"), `{"location":"New York"}`, nil); r.Err != nil || !strings.Contains(text(r.Content), "temperature") {
		t.Errorf("structured content: %+v", r)
	}
	for _, x := range s.Resources {
		if got, err := w.Read(ctx, Mention{"everything", x.URI}); err != nil || len(got) == 0 {
			t.Errorf("%s: %v", x.URI, err)
		}
	}
	for _, p := range s.Prompts {
		if p.Usage() != "" {
			continue
		}
		if got, err := w.Prompt(ctx, p.Name, ""); err != nil || len(got) == 0 {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if told := w.notices(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

// named is the tool whose name has a part; versions of the server differ.
func named(s State, part string) string {
	for _, t := range s.Tools {
		if strings.Contains(strings.ToLower(t.Theirs), part) {
			return t.Theirs
		}
	}
	return part
}
