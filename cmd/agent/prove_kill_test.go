package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/llm/llmtest"
)

// marker is what prompts, answers and commands are known by.
var marker = regexp.MustCompile(`(?:prompt|answer|trace)-\d{6}`)

// witness is a provider that remembers what reached it, refuses what the real
// one would refuse, and asks for commands that leave traces.
type witness struct {
	t        *testing.T
	mu       sync.Mutex // the handlers and the test
	seen     map[string]bool
	requests int
	answers  int
	came     chan time.Time // when the first request since requested came
}

// ServeHTTP implements [http.Handler].
func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // killed while it sent
	}
	var d llmtest.Anthropic
	if err := d.Validate(llmtest.Received{Path: r.URL.Path, Header: r.Header, Body: body}); err != nil {
		w.t.Errorf("the provider would refuse the request: %v\n%.2000s", err, body)
	}
	w.mu.Lock()
	if w.requests++; w.requests == 1 {
		w.came <- time.Now()
	}
	w.answers++
	n := w.answers
	for _, m := range marker.FindAll(body, -1) {
		w.seen[string(m)] = true
	}
	w.mu.Unlock()
	size := int(100 * math.Pow(2000, rand.Float64())) // 100 B to 200 kB
	reply := llmtest.Reply{Piece: 4000, Parts: []llmtest.Part{
		{Text: fmt.Sprintf("answer-%06d %s", n, strings.Repeat("word ", size/5))},
	}}
	if !answersCalls(body) {
		args := fmt.Sprintf(`{"command":"echo trace-%06d >> ran.txt"}`, n)
		reply.Parts = append(reply.Parts, llmtest.Part{Call: &llmtest.WireCall{ID: fmt.Sprintf("toolu_%d", n), Name: "bash", Args: args}})
	}
	llmtest.Stream(d.Frames(reply)...)(rw, r)
}

// answersCalls says whether a request ends in results of calls.
func answersCalls(body []byte) bool {
	var req struct {
		Messages []struct{ Content json.RawMessage }
	}
	return json.Unmarshal(body, &req) == nil && len(req.Messages) > 0 &&
		bytes.Contains(req.Messages[len(req.Messages)-1].Content, []byte(`"tool_result"`))
}

// requested is how many requests came since it was last asked.
func (w *witness) requested() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.requests
	w.requests = 0
	select {
	case <-w.came:
	default:
	}
	return n
}

// talk is one conversation of many short lives.
type talk struct {
	home
	w       *witness
	url     string
	prompts int
}

func newTalk(t *testing.T) *talk {
	w := &witness{t: t, seen: map[string]bool{}, came: make(chan time.Time, 1)}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return &talk{home: newHome(t), w: w, url: server.URL}
}

// run goes on with the conversation. Unless the life is zero the program is
// killed when it is over, counted from its start or from its first request;
// killed says that it did not end before that.
func (c *talk) run(t *testing.T, life time.Duration, fromRequest bool) (killed bool) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c.prompts++
	prompt := fmt.Sprintf("prompt-%06d %s", c.prompts, strings.Repeat("p", rand.IntN(30_000)))
	cmd := exec.Command(path, "-c", "-p", "--dangerously-skip-permissions", prompt)
	cmd.Dir, cmd.Env = c.work, c.env(anthropicEnv(c.url)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	if fromRequest {
		select {
		case <-c.w.came:
		case <-ended:
		}
	}
	if life > 0 {
		select {
		case <-time.After(life):
			cmd.Process.Kill()
		case <-ended:
		}
	}
	<-ended
	if !cmd.ProcessState.Exited() {
		return true
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("run %d ended with %d: %s", c.prompts, code, errs.String())
	}
	return false
}

// The program is killed at random moments, again and again, and goes on with the
// same session. After each kill: the file opens with no damage but a torn last
// line, and whatever had reached the provider or had been run by a tool is on
// the path that the next run goes on from.
func TestKilledAtAnyMoment(t *testing.T) {
	const lives = 25 // of a conversation: a longer one costs more and proves no more
	kills := times(15, 150, 10_000)
	var c *talk
	var asks, answers time.Duration // how long a run takes here and now, until it asks and after that
	killed, torn, acknowledged := 0, 0, 0
	when := map[int]int{} // by the number of requests that had come
	for i := 0; killed < kills; i++ {
		if i%lives == 0 {
			c = newTalk(t)
			c.run(t, 0, false)
			c.w.requested()
			begun := time.Now()
			c.run(t, 0, false)
			asks = (<-c.w.came).Sub(begun)
			answers = time.Since(begun) - asks
			c.w.requested()
		}
		life := asks
		if i%4 > 0 { // most kills where the most is at stake
			life = answers
		}
		if c.run(t, 1+rand.N(life), i%4 > 0) {
			killed++
			when[c.w.requested()]++
		}
		torn += c.check(t)
		if i%lives == lives-1 || killed == kills {
			c.run(t, 0, false)
			c.check(t)
			acknowledged += len(c.w.seen)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d kills (%d before a request, %d in or after the first, %d later): 0 of %d acknowledged prompts, answers and calls lost, %d torn tails, 0 unreadable files, 0 refused requests",
		killed, when[0], when[1], killed-when[0]-when[1], acknowledged, torn)
}

// check looks whether all that was acknowledged is on the paths of the
// sessions, and says how many of these had a torn tail.
func (c *talk) check(t *testing.T) (torn int) {
	t.Helper()
	var all strings.Builder
	for _, f := range c.sessions(t) {
		problems, path := read(t, f)
		for _, p := range problems {
			if p.Kind != "torn-tail" {
				t.Errorf("%s line %d: %s: %s", f, p.Line, p.Kind, p.Text)
			}
			torn++
		}
		all.WriteString(path)
	}
	there := map[string]bool{}
	for _, m := range marker.FindAllString(all.String(), -1) {
		there[m] = true
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	for m := range c.w.seen {
		if !there[m] {
			t.Errorf("%s reached the provider and is not in the session", m)
		}
	}
	ran, _ := os.ReadFile(filepath.Join(c.work, "ran.txt")) // none before the first command
	for _, m := range strings.Fields(string(ran)) {
		if !there[m] {
			t.Errorf("%s was run and is not in the session", m)
		}
	}
	return torn
}

// A file of version 1 is appended to and the program is killed meanwhile: the
// file is the old one, byte for byte, or the migrated one with the old one
// beside it, and never anything between.
func TestMigrationKilled(t *testing.T) {
	kills := times(10, 60, 1000)
	h := newHome(t)
	old := versionOne(h.work, 4000)
	dir := filepath.Join(h.dir, "sessions")
	file := filepath.Join(dir, "2025-11-20T07-00-00-000Z_old.jsonl")
	reset := func() {
		os.RemoveAll(dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	append1 := func(life time.Duration) (killed bool) {
		cmd := exec.Command(path, "--offline", "-p", "--session", file, "list .")
		cmd.Dir, cmd.Env = h.work, h.env()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if life > 0 {
			death := time.AfterFunc(life, func() { cmd.Process.Kill() })
			defer death.Stop()
		}
		cmd.Wait()
		return !cmd.ProcessState.Exited()
	}
	reset()
	append1(0)
	reset()
	begun := time.Now()
	append1(0)
	full := time.Since(begun)
	if got, _ := os.ReadFile(file); bytes.Equal(got, old) {
		t.Fatal("a run that is not killed migrates nothing")
	}
	stayed, migrated := 0, 0
	for killed := 0; killed < kills; {
		reset()
		if append1(time.Duration(1 + rand.Int64N(int64(full)))) {
			killed++
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(got, old) {
			stayed++
			continue
		}
		migrated++
		backup, err := os.ReadFile(file + ".v1.bak")
		if err != nil || !bytes.Equal(backup, old) {
			t.Errorf("the file is migrated and the old one is not beside it: %v", err)
		}
		if problems, entries := read(t, file); len(problems) > 0 && problems[0].Kind != "torn-tail" || strings.Count(entries, "\n") < 4000 {
			t.Fatalf("the migrated file has %d entries on its path, problems %v", strings.Count(entries, "\n"), problems)
		}
	}
	t.Logf("%d kills of a migration (%d kB): %d old files unchanged, %d migrated whole with the original beside them, 0 between", kills, len(old)>>10, stayed, migrated)
}

// versionOne is a session of n entries in the format of version 1.
func versionOne(cwd string, n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":"session","id":"old","timestamp":"2025-11-20T07:00:00.000Z","cwd":%q}`+"\n", cwd)
	for i := range n {
		message := fmt.Sprintf(`{"role":"user","content":"question %d %s"}`, i, strings.Repeat("q", 200))
		if i%2 == 1 {
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"answer %d %s"}],"provider":"p","model":"m","stopReason":"stop"}`, i, strings.Repeat("a", 400))
		}
		fmt.Fprintf(&b, `{"type":"message","timestamp":"2025-11-20T07:00:01.000Z","message":%s}`+"\n", message)
	}
	return b.Bytes()
}
