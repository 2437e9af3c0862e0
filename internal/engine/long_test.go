package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// narrow is a server with a small window that counts more tokens than we
// estimate, refuses what its provider would refuse, and writes summaries that
// name the numbers of all prompts that they stand for.
type narrow struct {
	t       *testing.T
	dice    *rand.Rand
	window  int // tokens, as it is told
	takes   int // tokens, in truth
	refused int // requests that were too large
}

const narrowBytes = 3 // bytes a token

func (n *narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client was killed
	}
	d := llmtest.Anthropic{}
	if err := d.Validate(llmtest.Received{Path: r.URL.Path, Header: r.Header, Body: body}); err != nil {
		n.t.Errorf("the provider would refuse the request: %v", err)
	}
	tokens := len(body) / narrowBytes
	if tokens > n.takes {
		n.refused++
		llmtest.Status(400, "application/json", d.ErrorBody(llmtest.BadRequest, fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, n.takes)))(w, r)
		return
	}
	reply := llmtest.Reply{Usage: llm.Usage{Input: tokens, Output: 20}, Piece: 1000}
	if text := string(body); strings.Contains(text, "You write summaries") {
		reply.Parts = []llmtest.Part{{Text: ranges(numbers(text))}}
	} else if roll := n.dice.IntN(10); roll < 3 {
		args, _ := json.Marshal(map[string]int{"size": []int{10, 100, 500, 1000, 40_000}[n.dice.IntN(5)], "salt": n.dice.Int()})
		reply.Parts = []llmtest.Part{{Call: &llmtest.WireCall{ID: fmt.Sprintf("c%d", n.dice.Uint32()), Name: "look", Args: string(args)}}}
	} else {
		reply.Parts = []llmtest.Part{{Text: strings.Repeat("an answer ", 1+n.dice.IntN(40))}}
	}
	llmtest.Stream(d.Frames(reply)...)(w, r)
}

// Client makes the server a model.
func (n *narrow) Client(url string) narrowModels {
	info := ModelInfo{API: "anthropic-messages", Model: llm.Model{ID: "narrow", Name: "narrow", Context: n.window, Output: 1000, Local: true}}
	return narrowModels{anthropic.New(anthropic.Config{Key: "k", BaseURL: url, Model: func(string) llm.Model { return info.Model }}), info}
}

type narrowModels struct {
	client llm.Client
	info   ModelInfo
}

func (m narrowModels) Client(session.ModelRef) (llm.Client, ModelInfo, error) {
	return m.client, m.info, nil
}

// A prompt has its number as #17#; a summary has ranges of them, as #1-17#.
var numbered = regexp.MustCompile(`#(\d+)(?:-(\d+))?#`)

// numbers are the prompts that a text names or stands for, in its order.
func numbers(text string) []int {
	var all []int
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		to, err := strconv.Atoi(m[2])
		if err != nil {
			to = from
		}
		for i := from; i <= to; i++ {
			all = append(all, i)
		}
	}
	return all
}

func ranges(all []int) string {
	slices.Sort(all)
	var b strings.Builder
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		fmt.Fprintf(&b, "#%d-%d# ", all[i], all[j])
		i = j + 1
	}
	return b.String()
}

// A conversation of 2,000 turns in a small window, over HTTP, with a model that
// takes less than it says, whose program is killed again and again: each prompt is
// in the context or in the summary in the end, exactly once, and no request is
// ever refused in a way that the user sees.
func TestLongConversation(t *testing.T) {
	for i, c := range []struct {
		name          string
		window, takes int
		turns         int
	}{
		{"three quarters of what it says", 12_000, 9000, 2000},
		{"less than half", 17_000, 7500, 200},
		{"all of it, but it is little", 6000, 6000, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() || raced {
				c.turns = 100
			}
			seed := uint64(i + 1)
			server := &narrow{t: t, dice: rand.New(rand.NewPCG(seed, 1)), window: c.window, takes: c.takes}
			converse(t, server, c.turns, rand.New(rand.NewPCG(seed, 2)))
		})
	}
}

func converse(t *testing.T, server *narrow, turns int, dice *rand.Rand) {
	hs := httptest.NewServer(server)
	defer hs.Close()
	w := &world{t: t, dir: fastDir(t)}
	look := w.tool("look", tool.Read)
	look.Schema = json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer"},"salt":{"type":"integer"}}}`)
	look.Run = func(_ context.Context, in tool.Input) tool.Result {
		var a struct{ Size int }
		_ = json.Unmarshal(in.Args, &a)
		return tool.TextResult(strings.Repeat("0123456789abcde\n", a.Size/16+1), nil)
	}
	begin := func(open func() (*session.Manager, error)) {
		w.start(Config{Open: open, Models: server.Client(hs.URL), Tools: []tool.Tool{look}, System: "be brief"})
	}
	begin(nil)
	kills, compactions := 0, map[CompactionReason]int{}
	for i := range turns {
		w.seen = w.seen[:0]
		prompt := fmt.Sprintf("#%d# %s", i+1, strings.Repeat("please ", dice.IntN(100)))
		w.engine.Send(Submit{Text: prompt})
		killAt := -1
		if dice.IntN(20) == 0 {
			killAt = 2 + dice.IntN(30) // events later
		}
		for n := 0; ; n++ {
			if n == killAt {
				kills++
				path := w.kill()
				begin(func() (*session.Manager, error) { return session.Open(path, session.Options{}) })
				if !slices.Contains(w.promptNumbers(), i+1) { // it was not taken yet: it is sent again
					w.engine.Send(Submit{Text: prompt})
					killAt = -1
					continue
				}
				break
			}
			ev, _ := w.next()
			if n, ok := ev.(Notice); ok && n.Level == Failure {
				t.Fatalf("turn %d: %s", i+1, n.Text)
			}
			if c, ok := ev.(CompactionEnded); ok {
				if c.Err != nil || c.After >= c.Before {
					t.Fatalf("turn %d: a compaction of %d tokens left %d: %v", i+1, c.Before, c.After, c.Err)
				}
				compactions[c.Reason]++
			}
			if f, ok := ev.(Finished); ok {
				if f.Err != nil {
					t.Fatalf("turn %d: %v", i+1, f.Err)
				}
				break
			}
		}
	}
	w.eachOnce(turns)
	t.Logf("%d turns, %d entries, killed %d times, compactions %v, %d requests were too large", turns, w.snap.Len(), kills, compactions, server.refused)
	if compactions[CompactThreshold] < turns/50 || kills == 0 && turns > 100 {
		t.Error("too little happened for this to mean anything")
	}
	w.sameOnDisk()
}

// fastDir is a folder in memory where there is one: what this test shows does not
// depend on the disk, and it waits for a disk 6,000 times.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "banyan-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// kill ends the program as death does: what is on the disk at this moment is what
// there is, and a last line may be half of one.
func (w *world) kill() (path string) {
	w.t.Helper()
	path = w.snap.Path()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	w.close()
	if err := os.WriteFile(path, append(data, `{"type":"message","id":"0`...), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// eachOnce checks that the context has, or stands for, each prompt exactly once.
func (w *world) eachOnce(turns int) {
	w.t.Helper()
	times := map[int]int{}
	for _, n := range w.promptNumbers() {
		times[n]++
	}
	for i := range turns {
		if n := times[i+1]; n != 1 {
			w.t.Errorf("prompt %d is in the context %d times", i+1, n)
		}
	}
}

// promptNumbers are the prompts that the context at the leaf has, or stands for.
func (w *world) promptNumbers() []int {
	c, err := w.snap.Context(w.snap.Leaf())
	if err != nil {
		w.t.Fatal(err)
	}
	var all []int
	for _, m := range c.Messages() {
		if m.Role == llm.User {
			all = append(all, numbers(m.Text())...)
		}
	}
	return all
}
