package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// done is what tells that a task of the delegator's was worked on to its end, and
// by what it is known everywhere.
var done = regexp.MustCompile(`done-t[-0-9]*`)

// delegator is a provider whose model gives tasks, three deep: 5, each of which
// gives 3, each of which gives 2, each of which leaves a trace. It answers with
// all that it was told to be done.
type delegator struct {
	t      *testing.T
	mu     sync.Mutex // the handlers and the test
	seen   map[string]bool
	leaves chan string // each leaf that was asked for
}

var width = []int{5, 3, 2, 0}

// ServeHTTP implements [http.Handler].
func (w *delegator) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // killed while it sent
	}
	var d llmtest.Anthropic
	if err := d.Validate(llmtest.Received{Path: r.URL.Path, Header: r.Header, Body: body}); err != nil {
		w.t.Errorf("the provider would refuse the request: %v\n%.2000s", err, body)
	}
	var req struct {
		Messages []struct{ Content []told }
	}
	if err := json.Unmarshal(body, &req); err != nil || len(req.Messages) == 0 || len(req.Messages[0].Content) == 0 {
		w.t.Errorf("no request: %v", err)
		return
	}
	name := req.Messages[0].Content[0].Text
	known := done.FindAllString(string(body), -1)
	w.mu.Lock()
	for _, m := range known {
		w.seen[m] = true
	}
	w.mu.Unlock()
	time.Sleep(3 * time.Millisecond) // so that there are moments to be killed at
	llmtest.Stream(d.Frames(w.reply(name, known, req.Messages[len(req.Messages)-1].Content))...)(rw, r)
}

// told is a block of what the model is told.
type told struct {
	Type    string
	Text    string
	IsError bool `json:"is_error"`
}

// reply is what the model says that works on a task: it gives what it does not
// know to be done, and says that it is done when all is.
func (w *delegator) reply(name string, known []string, last []told) llmtest.Reply {
	var reply llmtest.Reply
	depth := strings.Count(name, "-")
	for i := range width[depth] {
		part := fmt.Sprintf("%s-%d", name, i)
		if !slices.Contains(known, "done-"+part) {
			reply.Parts = append(reply.Parts, call("task", part, `{"description":"part %d","prompt":"%s"}`, i, part))
		}
	}
	if b := last[0]; width[depth] == 0 && (b.Type != "tool_result" || b.IsError) {
		select {
		case w.leaves <- name:
		default:
		}
		reply.Parts = append(reply.Parts, call("write", name, `{"path":"trace%s","content":"x"}`, name))
	}
	if reply.Parts == nil {
		reply.Parts = []llmtest.Part{{Text: "done-" + name + " " + strings.Join(known, " ")}}
	}
	return reply
}

// call is a call with an id of its own.
func call(tool, id, args string, values ...any) llmtest.Part {
	return llmtest.Part{Call: &llmtest.WireCall{ID: fmt.Sprintf("toolu_%s_%d", id, time.Now().UnixNano()), Name: tool, Args: fmt.Sprintf(args, values...)}}
}

// life is one run of the program, and what it said so far.
type life struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	mu  sync.Mutex // the copying goroutine and the test
	out bytes.Buffer
}

func (l *life) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *life) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func (l *life) says(text string) {
	l.t.Helper()
	for end := time.Now().Add(60 * time.Second); !strings.Contains(l.said(), text); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("it does not say %q:\n%s", text, l.said())
		}
	}
}

func (l *life) typed(line string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (h home) live(t *testing.T, url string, args ...string) *life {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, cmd: exec.Command(path, append([]string{"--screen-reader", "--dangerously-skip-permissions"}, args...)...)}
	l.cmd.Dir, l.cmd.Env = h.work, h.env(anthropicEnv(url)...)
	l.cmd.Stdout, l.cmd.Stderr = l, l
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.cmd.Process.Kill(); l.cmd.Wait() })
	return l
}

// A session gives 50 tasks, three deep. It is interrupted in the middle of them;
// they are gone on with, and the program is killed; again, and killed again; and
// in the end the session has all 50 answers. No task was begun anew, and nothing
// that any model was told is missing from the sessions.
func TestTasksKilled(t *testing.T) {
	h := newHome(t)
	w := &delegator{t: t, seen: map[string]bool{}, leaves: make(chan string, 1000)}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	leaves := func(n int) {
		for range n {
			select {
			case <-w.leaves:
			case <-time.After(60 * time.Second):
				t.Fatal("no task asks any more")
			}
		}
	}

	l := h.live(t, server.URL)
	l.says("You:")
	l.typed("t")
	leaves(4)
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	l.says("Notice: interrupted")
	l.typed("/tasks resume")
	leaves(5)
	kill := func() {
		l.cmd.Process.Kill() // SIGKILL
		l.cmd.Wait()
	}
	kill()
	for range times(2, 4, 8) {
		l = h.live(t, server.URL, "-c")
		l.says("Tasks that were interrupted")
		l.typed("/tasks resume")
		leaves(3)
		kill()
	}
	l = h.live(t, server.URL, "-c")
	l.says("Tasks that were interrupted")
	l.typed("/tasks resume")
	l.says("Assistant: done-t ")
	l.typed("/quit")
	if err := l.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	h.checkTasks(t, w)
}

// checkTasks looks whether all is there.
func (h home) checkTasks(t *testing.T, w *delegator) {
	t.Helper()
	roots := h.sessions(t)
	if len(roots) != 1 {
		t.Fatalf("%d sessions are listed", len(roots))
	}
	family, err := session.Family(roots[0], session.Options{})
	if err != nil || len(family) != 51 {
		t.Fatalf("%d sessions of tasks, not 50: %v", len(family)-1, err)
	}
	var all strings.Builder
	torn := 0
	for _, file := range family {
		problems, path := read(t, file)
		for _, p := range problems {
			if p.Kind != "torn-tail" {
				t.Errorf("%s line %d: %s: %s", file, p.Line, p.Kind, p.Text)
			}
			torn++
		}
		all.WriteString(path)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := range w.seen {
		if !strings.Contains(all.String(), m) {
			t.Errorf("%s reached a model and is in no session", m)
		}
	}
	_, path := read(t, roots[0])
	answer := path[strings.LastIndex(path, `"role":"assistant"`):]
	count := map[string]bool{}
	for _, m := range done.FindAllString(answer, -1) {
		count[m] = true
	}
	if len(count) != 51 {
		t.Errorf("the last answer knows of %d of 50 tasks: %v", len(count)-1, count)
	}
	traces, _ := filepath.Glob(filepath.Join(h.work, "tracet-*"))
	if len(traces) != 30 {
		t.Errorf("%d of 30 pieces of work were done", len(traces))
	}
	if _, err := os.Stat(roots[0]); err != nil {
		t.Error(err)
	}
	t.Logf("50 tasks three deep, interrupted once and killed %d times: 50 answers, no task begun anew, %d torn tails, 0 lost", times(2, 4, 8)+1, torn)
}
