package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// times is how often a proof is repeated: a few by default, and what KILLS says
// for `make prove`.
func times(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	return few
}

// witness is a provider that remembers which prompts reached it, and asks for a
// command that leaves a trace.
type witness struct {
	mu      sync.Mutex
	reached map[string]bool
	calls   int
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // killed while it sent
	}
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		return
	}
	last := string(req.Messages[len(req.Messages)-1].Content)
	w.mu.Lock()
	w.calls++
	n := w.calls
	for _, m := range req.Messages {
		if _, after, ok := strings.Cut(string(m.Content), "prompt-"); ok && m.Role == "user" {
			w.reached["prompt-"+after[:6]] = true
		}
	}
	w.mu.Unlock()
	var d llmtest.Anthropic
	reply := llmtest.Reply{Piece: 2000, Parts: []llmtest.Part{{Text: strings.Repeat("word ", rand.IntN(8000))}, {Text: "."}}}
	if !strings.Contains(last, "tool_result") {
		reply.Parts = append(reply.Parts, llmtest.Part{Call: &llmtest.WireCall{ID: fmt.Sprintf("toolu_%d", n), Name: "bash", Args: fmt.Sprintf(`{"command":"echo trace-%06d >> ran.txt"}`, n)}})
	}
	llmtest.Stream(d.Frames(reply)...)(rw, r)
}

// The program is killed at random moments, again and again, and goes on with
// the same session. Whatever reached the provider is in the file, whatever a
// tool did is in the file as a call, and every file can be read and goes on.
func TestKilledAtAnyMoment(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	w := &witness{reached: map[string]bool{}}
	server := httptest.NewServer(w)
	defer server.Close()
	kills, torn := times(t, 20), 0
	for i := range kills {
		cmd := exec.Command(path, "-c", "-p", "--dangerously-skip-permissions", fmt.Sprintf("prompt-%06d %s", i, strings.Repeat("p", rand.IntN(30_000))))
		cmd.Dir, cmd.Env = h.work, h.env(anthropicEnv(server.URL)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if i%20 == 19 || i == kills-1 {
			torn += w.check(t, h)
		}
		if i%50 == 49 { // a long conversation costs more each time, and proves no more
			os.Rename(h.dir, fmt.Sprintf("%s-%d", h.dir, i))
			os.Remove(filepath.Join(h.work, "ran.txt"))
			w.mu.Lock()
			w.reached = map[string]bool{}
			w.mu.Unlock()
		}
	}
	t.Logf("killed %d times: 0 acknowledged entries lost, %d torn tails seen, all files readable", kills, torn)
}

// check reads all sessions and says how many had a torn tail.
func (w *witness) check(t *testing.T, h home) (torn int) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan/sessions/*/*.jsonl"))
	var all strings.Builder
	for _, f := range files {
		m, err := session.Open(f, session.Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("%s cannot be opened: %v", f, err)
		}
		for _, p := range m.Snapshot().Problems() {
			if p.Kind != "torn-tail" {
				t.Errorf("%s line %d: %s %s", f, p.Line, p.Kind, p.Text)
			}
			torn++
		}
		m.Close()
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for prompt := range w.reached {
		if !strings.Contains(all.String(), prompt) {
			t.Errorf("%s reached the provider and is not in a session", prompt)
		}
	}
	ran, _ := os.ReadFile(filepath.Join(h.work, "ran.txt"))
	for _, trace := range strings.Fields(string(ran)) {
		if !strings.Contains(all.String(), trace) {
			t.Errorf("%s was run and is not in a session", trace)
		}
	}
	return torn
}
