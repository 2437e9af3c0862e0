package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// patience is how long anything may take on a machine that does other things.
const patience = 30 * time.Second

// world is a host with a user's folders around it.
type world struct {
	*testing.T
	*Host
	dir     string
	project string // trusted
	trust   config.Trust
	tokens  *memoryTokens

	mu      sync.Mutex
	told    []string
	changed map[string][]tool.Tool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, project: filepath.Join(dir, "project"), changed: map[string][]tool.Tool{}, tokens: &memoryTokens{}}
	for _, d := range []string{w.project, filepath.Join(dir, "temp"), filepath.Join(dir, "state")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.trust = config.Trust{File: filepath.Join(dir, "state", "trust.json"), Home: filepath.Join(dir, "home")}
	if err := w.trust.Grant(w.project); err != nil {
		t.Fatal(err)
	}
	w.host(Options{})
	return w
}

// host makes the world's host anew, as when the program is started again.
func (w *world) host(o Options) {
	if w.Host != nil {
		w.Host.Close()
	}
	o.Version, o.Dir, o.Trust, o.Tokens = "test", w.project, w.trust, w.tokens
	o.Temp = func() string { return filepath.Join(w.dir, "temp") }
	o.Tell = func(text string) { w.mu.Lock(); w.told = append(w.told, text); w.mu.Unlock() }
	o.Changed = func(server string, tools []tool.Tool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.changed[server] = tools; tools == nil {
			delete(w.changed, server)
		}
	}
	if o.Again == nil {
		o.Again = func(n int) (time.Duration, bool) { return 10 * time.Millisecond, n < 3 }
	}
	w.Host = NewHost(o)
	w.Cleanup(w.Host.Close)
}

// notices are what the user was told so far.
func (w *world) notices() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.told...)
}

// program is a server of this test binary, in a mode, as a file has it.
func program(t *testing.T, name, mode string, more ...string) config.MCPServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"command": %q, "env": {"BANYAN_TEST_SERVER": %q}%s}`, self, mode, strings.Join(more, ""))
	return config.MCPServer{Name: name, JSON: []byte(text), Source: config.Source{Scope: config.User, File: "settings.json", Line: 1}}
}

// begin starts servers and waits until all have come to something.
func (w *world) begin(list ...config.MCPServer) {
	w.Helper()
	w.Set(Parse(list, w.project, nil, os.LookupEnv))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.Wait(ctx)
	if ctx.Err() != nil {
		w.Fatalf("the servers are still starting: %+v", w.States())
	}
}

// await waits for a server's state.
func (w *world) await(name, what string, is func(State) bool) State {
	w.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		s, err := w.State(name)
		if err == nil && is(s) {
			return s
		}
		if time.Now().After(end) {
			w.Fatalf("%s is not %s: %+v, %v; told %q", name, what, s, err, w.notices())
		}
	}
}

func (w *world) phase(name string, p Phase) State {
	w.Helper()
	return w.await(name, string(p), func(s State) bool { return s.Phase == p })
}

// call calls a tool of a server by the server's name for it.
func (w *world) call(ctx context.Context, server, name, args string, progress func(tool.View)) tool.Result {
	w.Helper()
	s := w.await(server, "there with "+name, func(s State) bool {
		for _, t := range s.Tools {
			if t.Theirs == name {
				return true
			}
		}
		return false
	})
	if progress == nil {
		progress = func(tool.View) {}
	}
	for _, t := range s.Tools {
		if t.Theirs == name {
			if err := tool.Validate(t.Tool, json.RawMessage(args)); err != nil {
				w.Fatal(err)
			}
			return t.Run(ctx, tool.Input{CallID: "1", Args: json.RawMessage(args), Progress: progress})
		}
	}
	return tool.Result{}
}

// approve approves what a server asks for now.
func (w *world) approve(name string) error {
	s, err := w.State(name)
	if err != nil {
		return err
	}
	return w.Approve(name, s.Asks)
}

// text is a result's text for models.
func text(blocks []llm.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, b.Text)
		case llm.Image:
			parts = append(parts, "<"+b.MIME+">")
		}
	}
	return strings.Join(parts, "|")
}

// memoryTokens keeps logins for a test.
type memoryTokens struct {
	mu   sync.Mutex
	kept map[string]string
}

func (m *memoryTokens) Load(key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key], nil
}

func (m *memoryTokens) Keep(key, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]string{}
	}
	m.kept[key] = text
	return nil
}

func (m *memoryTokens) Forget(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
	return nil
}
