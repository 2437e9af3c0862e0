package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm/llmtest"
)

// slowly plays an answer, a frame at a time with pauses, until the client goes away.
func slowly(pause time.Duration, begun chan<- struct{}, frames []string) llmtest.Play {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		close(begun)
		for _, f := range frames {
			if _, err := w.Write([]byte(f)); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
		}
	}
}

// Esc at any moment of an answer and of the command that it asks for: the screen
// says so, what had come is in the session, no process of the command is left,
// and the provider takes the next request.
func TestEscapeAtAnyMoment(t *testing.T) {
	rounds := times(4, 25, 1000)
	var slowest time.Duration
	partial, commands := 0, 0
	for round := range rounds {
		var d llmtest.Anthropic
		begun := make(chan struct{})
		sleep := fmt.Sprintf("61%06d.%d", rand.IntN(1e6), os.Getpid())
		reply := llmtest.Reply{Piece: 12, Parts: []llmtest.Part{
			{Text: strings.Repeat("some words of an answer. ", 20) + "END"},
			{Call: &llmtest.WireCall{ID: "toolu_1", Name: "bash", Args: fmt.Sprintf(`{"command":"setsid sleep %[1]s & nohup sleep %[1]s & sleep %[1]s"}`, sleep)}},
		}}
		server := llmtest.NewServer(t, d,
			slowly(3*time.Millisecond, begun, d.Frames(reply)),
			llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "the next answer"}}})...))
		h := newHome(t)
		tm := h.launch(t, launch{cols: 100, rows: 30, env: anthropicEnv(server.URL), args: []string{"--dangerously-skip-permissions"}})
		tm.see("Ask, or /")
		tm.send("begin" + enter)
		<-begun
		if round%2 == 0 {
			tm.see("some words")
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // somewhere in the answer
		} else {
			waitFor(t, "the command runs", func() bool { return len(processesWith(sleep)) >= 3 })
			commands++
		}
		before := tm.text()
		pressed := time.Now()
		tm.send(escape)
		tm.notSee("Esc interrupts")
		slowest = max(slowest, time.Since(pressed))
		waitFor(t, "no process of the command is left", func() bool { return len(processesWith(sleep)) == 0 })
		if _, path := read(t, h.sessions(t)[0]); strings.Contains(before, "some words") {
			partial++
			if !strings.Contains(path, "some words") {
				t.Errorf("the partial answer is not in the session:\n%s", path)
			}
		}
		tm.send("go on" + enter)
		tm.see("the next answer")
		tm.send(ctrlD)
		if code := tm.end(); code != exitDone {
			t.Errorf("exit code %d", code)
		}
	}
	t.Logf("Esc at %d moments (%d of them while commands ran): shown within %d ms (slowest), %d of %d partial answers on the disk, 0 processes left, 0 next requests refused",
		rounds, commands, slowest.Milliseconds(), partial, partial)
}

// The program is killed while a command runs that tries to stay: nothing of it
// is left.
func TestNothingSurvivesTheProgram(t *testing.T) {
	ways := []string{
		"sleep %s",
		"sleep %s & sleep %s",
		"setsid sleep %s & sleep %s",
		"nohup sleep %s >/dev/null 2>&1 & sleep %s",
		"(setsid sh -c '(sleep %s &) ; sleep %s' &) ; sleep %s",
		"trap '' TERM HUP INT; sleep %s & wait; sleep %s",
	}
	rounds := times(1, 3, 100)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for n := range rounds * len(ways) {
		sleep := fmt.Sprintf("62%06d.%d", rand.IntN(1e6), os.Getpid())
		way := ways[n%len(ways)]
		command := strings.ReplaceAll(way, "%s", sleep)
		var d llmtest.Anthropic
		server := llmtest.NewServer(t, d, llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{
			{Call: &llmtest.WireCall{ID: "toolu_1", Name: "bash", Args: fmt.Sprintf(`{"command":%q}`, command)}},
		}})...))
		h := newHome(t)
		cmd := exec.Command(path, "-p", "--dangerously-skip-permissions", "go")
		cmd.Dir, cmd.Env = h.work, h.env(anthropicEnv(server.URL)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want := strings.Count(way, "%s")
		if strings.HasPrefix(way, "trap") {
			want = 1
		}
		waitFor(t, "the command runs: "+command, func() bool { return sleeping(sleep) >= want })
		cmd.Process.Kill()
		cmd.Wait()
		waitFor(t, "nothing is left of "+command, func() bool { return len(processesWith(sleep)) == 0 })
	}
	t.Logf("%d kills of the program while %d kinds of commands ran: 0 processes left", rounds*len(ways), len(ways))
}

// processesWith are the processes that have a text in their command line.
func processesWith(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, f)
		}
	}
	return found
}

// sleeping counts the sleeps of a marked length.
func sleeping(length string) (n int) {
	for _, f := range processesWith(length) {
		if line, err := os.ReadFile(f); err == nil && bytes.HasPrefix(line, []byte("sleep\x00")) {
			n++
		}
	}
	return n
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Two windows on one session: the second one is told who has it, from the
// command line and from another session's screen, and writes nothing.
func TestTwoWindows(t *testing.T) {
	rounds := times(1, 5, 50)
	var slowest time.Duration
	for range rounds {
		h := newHome(t)
		first := start(t, h, 100, 30, "--offline")
		first.see("Ask, or /")
		first.send("list ." + enter)
		first.see("Done.")
		first.notSee("Working")
		file := h.sessions(t)[0]
		owner := fmt.Sprintf("pid %d", first.cmd.Process.Pid)

		begun := time.Now()
		_, told, err := h.agent(t, nil, "--offline", "-c", "-p", "words of the second window")
		slowest = max(slowest, time.Since(begun))
		if err == nil || !strings.Contains(told, owner) {
			t.Errorf("the second window was told %q, %v, and not that %s has it", told, err, owner)
		}
		second := start(t, h, 200, 30, "--offline")
		second.see("Ask, or /")
		second.send("/resume" + enter)
		second.see("list .")
		second.send(enter)
		second.see("is open in another process", strconv.Itoa(first.cmd.Process.Pid))
		second.send("not in that file" + enter)
		second.see("not in that file")
		second.notSee("Working")
		first.send("find TODO in ." + enter)
		first.see("find TODO")
		first.notSee("Working")
		for _, tm := range []*terminal{first, second} {
			tm.cmd.Process.Signal(os.Interrupt)
			tm.end()
		}
		problems, path := read(t, file)
		if len(problems) > 0 || !strings.Contains(path, "find TODO") || strings.Contains(path, "words of the second") || strings.Contains(path, "not in that file") {
			t.Errorf("problems %v in\n%s", problems, path)
		}
	}
	t.Logf("%d times two windows: the second told who has the session %d ms after its process began (slowest), 0 of its lines in the file", rounds, slowest.Milliseconds())
}

// planted are secrets as they stand in environments.
var planted = map[string]string{
	"ANTHROPIC_API_KEY": "sk-ant-api03-", "OPENAI_API_KEY": "sk-proj-", "GEMINI_API_KEY": "AIzaSy", "GOOGLE_API_KEY": "AIzaSz",
	"GITHUB_TOKEN": "ghp_", "GH_TOKEN": "gho_", "GITLAB_TOKEN": "glpat-", "BITBUCKET_TOKEN": "ATBB", "AWS_ACCESS_KEY_ID": "AKIA",
	"AWS_SECRET_ACCESS_KEY": "wJalr", "AWS_SESSION_TOKEN": "FwoG", "AZURE_CLIENT_SECRET": "8Q~", "AZURE_STORAGE_KEY": "Eby8v",
	"GOOGLE_APPLICATION_CREDENTIALS_JSON": "{private_key:", "HF_TOKEN": "hf_", "HUGGINGFACE_HUB_TOKEN": "hf2_", "MISTRAL_API_KEY": "mk",
	"GROQ_API_KEY": "gsk_", "XAI_API_KEY": "xai-", "DEEPSEEK_API_KEY": "sk-ds", "OPENROUTER_API_KEY": "sk-or-v1-", "TOGETHER_API_KEY": "tgp_",
	"SLACK_BOT_TOKEN": "xoxb-", "SLACK_WEBHOOK_URL": "https://hooks.slack.example/T0/B0/", "STRIPE_SECRET_KEY": "sk_live_",
	"TWILIO_AUTH_TOKEN": "SK", "SENDGRID_API_KEY": "SG.", "NPM_TOKEN": "npm_", "PYPI_TOKEN": "pypi-AgE", "CARGO_REGISTRY_TOKEN": "cio",
	"DOCKER_PASSWORD": "dckr_pat_", "VAULT_TOKEN": "hvs.", "DIGITALOCEAN_TOKEN": "dop_v1_", "HEROKU_API_KEY": "HRKU-", "DATABASE_URL": "postgres://u:",
	"REDIS_URL": "redis://:", "JWT_SECRET": "eyJhbGciOi", "SSH_PRIVATE_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----", "SENTRY_DSN": "https://k",
	"https_proxy_password": "pw", "MY_COMPANY_THING": "plain-", "TELEGRAM_BOT": "110201543:AAH",
}

// Secrets in the environment are not in what commands get, not in sessions, not
// in exports, and nowhere below the home folder.
func TestKeysStayHome(t *testing.T) {
	h := newHome(t)
	var env, values []string
	for name, form := range planted {
		value := form + "planted" + fmt.Sprintf("%08x", rand.Uint32())
		env, values = append(env, name+"="+value), append(values, value)
	}
	var d llmtest.Anthropic
	server := llmtest.NewServer(t, d,
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Call: &llmtest.WireCall{ID: "toolu_1", Name: "bash", Args: `{"command":"env; cat /proc/self/environ; cat /proc/$PPID/environ"}`}}}})...),
		llmtest.Status(http.StatusUnauthorized, "application/json", d.ErrorBody(llmtest.BadKey, "invalid x-api-key")))
	env = append(env, "ANTHROPIC_BASE_URL="+server.URL)
	out, errs, _ := h.agent(t, env, "-p", "--dangerously-skip-permissions", "what is in the environment?")
	places := map[string][]byte{"standard output": []byte(out), "standard error": []byte(errs)}
	requests := server.Received()
	if len(requests) != 2 || !bytes.Contains(requests[1].Body, []byte("PATH=")) {
		t.Fatalf("the command has not told its environment: %d requests\n%s", len(requests), errs)
	}
	for _, r := range requests {
		places["a request's body"] = append(places["a request's body"], r.Body...)
	}
	export, errs, err := h.agent(t, env, "session", "export", h.sessions(t)[0])
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	places["an export"] = []byte(export)
	files := 0
	err = filepath.WalkDir(h.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		places[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, data := range places {
		for _, v := range values {
			if bytes.Contains(data, []byte(v)) {
				t.Errorf("%s is in %s", v, place)
			}
		}
	}
	t.Logf("%d planted keys: 0 in the environment of commands, %d files, requests, exports and output", len(values), files)
}
