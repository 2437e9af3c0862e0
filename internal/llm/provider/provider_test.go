package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/models"
	"banyan/internal/llm/provider"
)

// env is an environment of just these variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// folder is a configuration folder with these files.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDetect(t *testing.T) {
	offline := map[string]llm.Client{"offline": llmtest.Script()}
	tests := []struct {
		name   string
		config provider.Config
		want   string
	}{
		{"nothing", provider.Config{}, ""},
		{"builtin", provider.Config{Builtin: offline}, "offline/offline"},
		{"a key", provider.Config{Env: env("OPENAI_API_KEY", "k"), Builtin: offline}, "openai/gpt-6.2-sol"},
		{"two keys", provider.Config{Env: env("OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k")}, "anthropic/claude-sonnet-5-5"},
		{"a token", provider.Config{Env: env("ANTHROPIC_AUTH_TOKEN", "t")}, "anthropic/claude-sonnet-5-5"},
		{"a model", provider.Config{Env: env("ANTHROPIC_API_KEY", "k", "ANTHROPIC_MODEL", "claude-x")}, "anthropic/claude-x"},
		{"the other name", provider.Config{Env: env("GOOGLE_API_KEY", "k")}, "google/gemini-3.8-flash"},
		{"a blank key", provider.Config{Env: env("OPENAI_API_KEY", " \n")}, ""},
		{"a kept key", provider.Config{Dir: folder(t, "credentials.json", `{"mistral":{"key":"k"}}`)}, "mistral/mistral-medium-latest"},
		{"one without a default", provider.Config{Env: env("TOGETHER_API_KEY", "k")}, ""},
		{"models.json", provider.Config{Dir: folder(t, "models.json", `{"providers":{"mine":{"baseURL":"http://h/v1","key":"k","models":[{"id":"m"}]}}}`)}, "mine/m"},
		{"a local one of models.json", provider.Config{Dir: folder(t, "models.json", `{"providers":{"mine":{"baseURL":"http://10.0.0.7/v1","models":[{"id":"m"}]}}}`), Builtin: offline}, "mine/m"},
		{"one without a key", provider.Config{Dir: folder(t, "models.json", `{"providers":{"mine":{"baseURL":"https://gate/v1","headers":{"X-Token":"t"},"models":[{"id":"m"}]}}}`), Builtin: offline}, "mine/m"},
		{"offline", provider.Config{Env: env("OPENAI_API_KEY", "k"), Builtin: offline, Offline: true}, "offline/offline"},
	}
	for _, tt := range tests {
		if tt.config.Env == nil {
			tt.config.Env = env()
		}
		ref, ok := provider.Open(tt.config).Detect()
		if got := ref.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, ok, tt.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	tests := []struct{ name, variable, value, want string }{
		{"anthropic", "", "", "https://api.anthropic.com anthropic-messages"},
		{"anthropic", "ANTHROPIC_BASE_URL", "http://proxy:1", "http://proxy:1 anthropic-messages"},
		{"openai", "", "", "https://api.openai.com/v1 openai-responses"},
		{"openai", "OPENAI_BASE_URL", "https://eu.api.openai.com/v1", "https://eu.api.openai.com/v1 openai-responses"},
		{"openai", "OPENAI_API_BASE", "http://litellm/v1", "http://litellm/v1 openai-completions"},
		{"openai", "OPENAI_BASE_URL", "https://notopenai.com/v1", "https://notopenai.com/v1 openai-completions"},
		{"ollama", "", "", "http://127.0.0.1:11434/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", "box", "http://box:11434/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", "box:9", "http://box:9/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", ":9", "http://127.0.0.1:9/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", "https://box/", "https://box:443/v1 openai-completions"},
		{"ollama", "OLLAMA_HOST", "http://[::1]:9/v1/", "http://[::1]:9/v1 openai-completions"},
	}
	for _, tt := range tests {
		p, err := provider.Open(provider.Config{Env: env(tt.variable, tt.value)}).Provider(tt.name)
		if got := strings.TrimRight(p.BaseURL, "/") + " " + p.Protocol.API(); err != nil || got != tt.want {
			t.Errorf("%s with %s=%s: %s, %v; want %s", tt.name, tt.variable, tt.value, got, err, tt.want)
		}
	}
}

// TestEveryProtocol asks through the catalog, with settings from models.json.
func TestEveryProtocol(t *testing.T) {
	dialects := map[string]llmtest.Dialect{
		"anthropic": llmtest.Anthropic{}, "responses": llmtest.Responses{}, "chat": llmtest.Chat{}, "gemini": llmtest.Gemini{},
	}
	for protocol, dialect := range dialects {
		reply := llmtest.Reply{Parts: []llmtest.Part{{Text: "hello"}}, Usage: llm.Usage{Input: 1000, Output: 100}}
		srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(reply)...))
		cat := provider.Open(provider.Config{Env: env("MINE_KEY", "sk-mine-1234567890"), Dir: folder(t, "models.json", fmt.Sprintf(
			`{"providers":{"mine":{"protocol":%q,"baseURL":%q,"key":"$MINE_KEY","headers":{"X-Team":"blue","X-Key":"$MINE_KEY"},
			"models":[{"id":"m","price":{"input":1,"output":10}}]}}}`, protocol, srv.URL))})
		client, err := cat.New(models.Ref{Provider: "mine", Model: "m"})
		if err != nil || len(cat.Problems()) > 0 {
			t.Fatal(err, cat.Problems())
		}
		m, _, err := llmtest.Answer(t.Context(), client, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
		if err != nil || m.Text() != "hello" || m.Usage.CostUnknown || m.Usage.Cost.Output != 0.001 {
			t.Errorf("%s: %q, %+v, %v", protocol, m.Text(), m.Usage, err)
		}
		got := srv.Received()[0].Header
		if got.Get("X-Team") != "blue" || got.Get("X-Key") != "sk-mine-1234567890" || !strings.Contains(fmt.Sprint(got["X-Api-Key"], got["Authorization"], got["X-Goog-Api-Key"]), "sk-mine") {
			t.Errorf("%s: headers %v", protocol, got)
		}
		if cat.API("mine") != dialect.Name() {
			t.Errorf("%s: API %s", protocol, cat.API("mine"))
		}
	}
}

func TestNewRefuses(t *testing.T) {
	cat := provider.Open(provider.Config{Env: env("AZURE_OPENAI_API_KEY", "k"), Dir: folder(t, "models.json", `{"providers":{"mine":{"baseURL":"http://h","key":"$MISSING"}}}`)})
	offline := provider.Open(provider.Config{Env: env("ANTHROPIC_API_KEY", "k"), Offline: true})
	tests := []struct {
		cat            *provider.Catalog
		provider, want string
	}{
		{cat, "anthropic", "set ANTHROPIC_API_KEY, or run `agent login anthropic`"},
		{cat, "google", "GEMINI_API_KEY or GOOGLE_API_KEY"},
		{cat, "azure", "AZURE_OPENAI_BASE_URL"},
		{cat, "mine", "MISSING is not set"},
		{cat, "nobody", "no provider is called"},
		{offline, "anthropic", "--offline"},
		{offline, "ollama", "--offline"},
	}
	for _, tt := range tests {
		if _, err := tt.cat.New(models.Ref{Provider: tt.provider, Model: "m"}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.provider, err, tt.want)
		}
	}
	if _, err := offline.List(t.Context(), "anthropic"); err == nil || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("list: %v", err)
	}
	if found := offline.Probe(t.Context()); found != nil {
		t.Errorf("probe: %v", found)
	}
}

func TestCommandKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	counter := filepath.Join(t.TempDir(), "runs")
	dialect := llmtest.Chat{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	tests := []struct{ command, want string }{
		{"echo run >> " + counter + "; echo the-key", ""},
		{"echo nope >&2; exit 3", "nope"},
		{"true", "printed no key"},
		{"echo a; echo b", "one line"},
	}
	for _, tt := range tests {
		cat := provider.Open(provider.Config{Env: env(), Dir: folder(t, "models.json", fmt.Sprintf(`{"providers":{"mine":{"baseURL":%q,"key":%q}}}`, srv.URL, "!"+tt.command))})
		client, err := cat.New(models.Ref{Provider: "mine", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, _, err = llmtest.Answer(t.Context(), client, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
		}
		var e *llm.Error
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.command, err)
		}
	}
	if got := srv.Received()[0].Header.Get("Authorization"); got != "Bearer the-key" {
		t.Errorf("sent %q", got)
	}
	if runs, err := os.ReadFile(counter); err != nil || string(runs) != "run\n" {
		t.Errorf("the command ran %q, %v", runs, err)
	}
}

// TestEnvironmentKeys are taken as they are: none of them is a command.
func TestEnvironmentKeys(t *testing.T) {
	dialect := llmtest.Chat{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	cat := provider.Open(provider.Config{Env: env("XAI_API_KEY", "!echo no", "XAI_BASE_URL", srv.URL)})
	client, err := cat.New(models.Ref{Provider: "xai", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = llmtest.Answer(t.Context(), client, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
	if got := srv.Received()[0].Header.Get("Authorization"); err != nil || got != "Bearer !echo no" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestExpiredKey: a key that a command gives is asked for again when it is
// refused, once.
func TestExpiredKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	file := filepath.Join(t.TempDir(), "key")
	write := func(key string) {
		if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dialect, valid := llmtest.Chat{}, "first"
	good := llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...)
	srv := llmtest.NewServer(t, dialect, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			llmtest.Status(401, "application/json", dialect.ErrorBody(llmtest.BadKey, "expired"))(w, r)
			return
		}
		good(w, r)
	})
	cat := provider.Open(provider.Config{Env: env(), Dir: folder(t, "models.json", fmt.Sprintf(`{"providers":{"mine":{"baseURL":%q,"key":%q}}}`, srv.URL, "!cat "+file))})
	client, err := cat.New(models.Ref{Provider: "mine", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(requests int, ok bool) {
		t.Helper()
		before := len(srv.Received())
		_, _, err := llmtest.Answer(t.Context(), client, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
		if n := len(srv.Received()) - before; (err == nil) != ok || n != requests {
			t.Errorf("%d requests, %v", n, err)
		}
	}
	write("first")
	ask(1, true)
	write("second")
	ask(1, true)
	valid = "second"
	ask(2, true)
	ask(1, true)
	valid = "third"
	ask(2, false)
	ask(2, false)
}

func TestCredentials(t *testing.T) {
	keyring.MockInit()
	path := filepath.Join(t.TempDir(), "new", "credentials.json")
	c, err := provider.LoadCredentials(path)
	if err != nil || c.Has("openai") {
		t.Fatal(err)
	}
	if err := errors.Join(c.Set("openai", "sk-in-the-file", false), c.Set("google", "sk-in-the-ring", true)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "sk-in-the-file") || strings.Contains(string(data), "sk-in-the-ring") {
		t.Errorf("%s, %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	dialect := llmtest.Gemini{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	cat := provider.Open(provider.Config{Env: env("GOOGLE_GEMINI_BASE_URL", srv.URL), Dir: filepath.Dir(path)})
	client, err := cat.New(models.Ref{Provider: "google", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := llmtest.Answer(t.Context(), client, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}}); err != nil {
		t.Fatal(err)
	}
	if got := srv.Received()[0].Header.Get("X-Goog-Api-Key"); got != "sk-in-the-ring" {
		t.Errorf("sent %q", got)
	}
	if err := errors.Join(cat.Credentials().Remove("google"), cat.Credentials().Remove("openai")); err != nil {
		t.Error(err)
	}
	if cat.Credentials().Remove("openai") == nil {
		t.Error("removed twice")
	}
	if _, err := keyring.Get("banyan", "google"); err == nil {
		t.Error("the keyring still has the key")
	}
	one, _ := provider.LoadCredentials(path)
	two, _ := provider.LoadCredentials(path)
	if err := errors.Join(one.Set("xai", "k", false), two.Set("groq", "k", false), one.Remove("xai"), two.Remove("groq")); err != nil {
		t.Errorf("two programs: %v", err)
	}
	again, err := provider.LoadCredentials(path)
	if err != nil || again.Has("google") || again.Has("openai") {
		t.Errorf("after removing: %v", err)
	}
	if err := provider.Open(provider.Config{Env: env()}).Credentials().Set("xai", "k", false); err == nil {
		t.Error("a key was kept nowhere")
	}
	broken := provider.Open(provider.Config{Env: env(), Dir: folder(t, "credentials.json", `{"openai": "sk-secret`)})
	if p := fmt.Sprint(broken.Problems()); !strings.Contains(p, "credentials.json is not JSON") || strings.Contains(p, "sk-secret") {
		t.Errorf("broken file: %s", p)
	}
	if err := broken.Credentials().Set("xai", "k", false); err == nil {
		t.Error("a file that cannot be read was replaced")
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if p := fmt.Sprint(provider.Open(provider.Config{Env: env(), Dir: filepath.Dir(path)}).Problems()); !strings.Contains(p, "chmod 600") {
			t.Errorf("a file that others can read: %s", p)
		}
	}
}

func TestProbe(t *testing.T) {
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	ollama := serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"qwen3:8b"}]}`)
		default:
			fmt.Fprint(w, `{"model_info":{"qwen.context_length":40960}}`)
		}
	})
	vllm := serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"id":"big","max_model_len":32768}]}`)
	})
	page := serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>somebody's web site</html>")
	})
	cat := provider.Open(provider.Config{
		Env: env("OLLAMA_HOST", ollama, "VLLM_BASE_URL", vllm, "LLAMACPP_BASE_URL", page, "LMSTUDIO_BASE_URL", "http://127.0.0.1:1/v1"),
	})
	if _, ok := cat.Detect(); ok {
		t.Error("something was detected before the probe")
	}
	found := cat.Probe(t.Context())
	if len(found) != 2 || found[0].Provider != "ollama" || found[1].Provider != "vllm" {
		t.Fatalf("%+v", found)
	}
	with := cat.With(found...)
	if ref, ok := with.Detect(); !ok || ref.String() != "ollama/qwen3:8b" {
		t.Errorf("detected %s", ref)
	}
	if m := with.Model("ollama", "qwen3:8b"); m.Context != 40960 || !m.Local || m.Cost(llm.Usage{Input: 5}).CostUnknown {
		t.Errorf("%+v", m)
	}
	if ref, err := with.Resolve("big"); err != nil || ref.Provider != "vllm" {
		t.Errorf("%s, %v", ref, err)
	}
	if with.Configured("lmstudio") || !with.Configured("vllm") || cat.Configured("vllm") {
		t.Error("configured")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := cat.Probe(ctx); len(found) > 0 {
		t.Errorf("after the end: %v", found)
	}
}

func TestFallback(t *testing.T) {
	dialect := llmtest.Anthropic{}
	srv := llmtest.NewServer(t, dialect, llmtest.Status(529, "application/json", dialect.ErrorBody(llmtest.Overloaded, "busy")))
	builtin := llmtest.Script(llmtest.Text("from here"))
	cat := provider.Open(provider.Config{
		Env: env("ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", srv.URL), Retry: llm.Policy{Tries: 1},
		Builtin: map[string]llm.Client{"offline": builtin},
	})
	client, err := cat.New(models.Ref{Provider: "anthropic", Model: "claude-x"}, models.Ref{Provider: "offline", Model: "offline"})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := llmtest.Answer(t.Context(), client, llm.Request{Model: "claude-x", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
	if err != nil || m.Text() != "from here" || m.Provider != "offline" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestCheck(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-Api-Key") != "sk-ant-good" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key %s"}}`, r.Header.Get("X-Api-Key"))
			return
		}
		fmt.Fprint(w, `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X"}]}`)
	}))
	defer srv.Close()
	cat := provider.Open(provider.Config{Env: env("ANTHROPIC_BASE_URL", srv.URL)})
	if err := cat.Check(t.Context(), "anthropic", "sk-ant-good"); err != nil {
		t.Error(err)
	}
	err := cat.Check(t.Context(), "anthropic", "hunter2-bad")
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "agent login") || !strings.Contains(err.Error(), "HTTP 401") {
		t.Errorf("a bad key: %v", err)
	}
}

// TestWhoIsLocal: only what runs on a computer of the user costs nothing.
func TestWhoIsLocal(t *testing.T) {
	for settings, local := range map[string]bool{
		`{"baseURL":"http://127.0.0.1:9/v1"}`:                true,
		`{"baseURL":"http://localhost:9/v1"}`:                true,
		`{"baseURL":"http://192.168.1.7/v1"}`:                true,
		`{"baseURL":"http://[::1]:9/v1"}`:                    true,
		`{"baseURL":"http://box/v1","local":true,"key":"k"}`: true,
		`{"baseURL":"http://192.168.1.7/v1","key":"k"}`:      false,
		`{"baseURL":"https://gate/v1","headers":{"X":"y"}}`:  false,
		`{"baseURL":"https://localhost.example/v1"}`:         false,
	} {
		cat := provider.Open(provider.Config{Env: env(), Dir: folder(t, "models.json", `{"providers":{"mine":`+settings+`}}`)})
		cost := cat.Model("mine", "m").Cost(llm.Usage{Input: 1000})
		if cost.CostUnknown == local {
			t.Errorf("%s: %+v", settings, cost)
		}
		if _, err := cat.New(models.Ref{Provider: "mine", Model: "m"}); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestKeyVariables(t *testing.T) {
	got := " " + strings.Join(provider.KeyVariables(), " ") + " "
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		if !strings.Contains(got, " "+name+" ") {
			t.Errorf("%s is not among %s", name, got)
		}
	}
}
