package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/models"
)

// TestEmbedded: the table that comes with the program is whole and makes sense.
func TestEmbedded(t *testing.T) {
	table := models.Embedded()
	if _, err := time.Parse(time.DateOnly, table.Date); err != nil {
		t.Errorf("date: %v", err)
	}
	n := 0
	for m := range table.All() {
		n++
		at := m.Provider + "/" + m.ID
		if m.Name == "" {
			t.Errorf("%s has no name", at)
		}
		if m.Output > m.Context {
			t.Errorf("%s: output %d > context %d", at, m.Output, m.Context)
		}
		if (m.Reasoning == "") != (len(m.Levels) == 0) {
			t.Errorf("%s: reasoning %q, levels %q", at, m.Reasoning, m.Levels)
		}
		if p := m.Price; p != nil && (p.Output < p.Input || p.CacheRead > p.Input || p.Above != nil && (p.Above.Tokens == 0 || p.Above.Input < p.Input)) {
			t.Errorf("%s: price %+v", at, *p)
		}
		if got, ok := table.Find(m.Provider, m.ID); !ok || got.ID != m.ID {
			t.Errorf("%s is not found", at)
		}
	}
	if n < 30 {
		t.Errorf("only %d models", n)
	}
}

func TestFind(t *testing.T) {
	table := models.Embedded()
	for id, known := range map[string]bool{
		"claude-sonnet-4-5": true, "claude-sonnet-4-5-20250929": true, "claude-sonnet-4-5@20250929": true,
		"claude-sonnet-4-5-2025-09-29": true, "claude-sonnet-4-5-fast": false, "nothing": false, "": false,
	} {
		m, ok := table.Find("anthropic", id)
		if ok != known || m.ID != id || (m.Context > 0) != known {
			t.Errorf("%q: %v %+v", id, ok, m)
		}
	}
	if _, ok := table.Find("openai", "claude-sonnet-4-5"); ok {
		t.Error("a model of another provider")
	}
}

func TestResolve(t *testing.T) {
	known := func(p string) bool {
		return strings.Contains(" anthropic openai google deepseek xai mistral openrouter ollama ", " "+p+" ")
	}
	table := models.Embedded().With([]llm.Model{
		{Provider: "openrouter", ID: "anthropic/claude-sonnet-5-5"},
		{Provider: "ollama", ID: "qwen3:8b"},
		{Provider: "ollama", ID: "qwen3:32b"},
	})
	tests := []struct {
		text, usable, want string // want is a reference, or "?" and what the error must say
	}{
		{"anthropic/claude-opus-5-5", "", "anthropic/claude-opus-5-5"},
		{"anthropic/claude-opus-5-5:high", "", "anthropic/claude-opus-5-5:high"},
		{"anthropic/opus", "", "anthropic/claude-opus-5-5"},
		{"opus:low", "anthropic", "anthropic/claude-opus-5-5:low"},
		{"Opus", "", "anthropic/claude-opus-5-5"},
		{"claude opus 4.6", "", "anthropic/claude-opus-4-6"},
		{"haiku-4", "", "anthropic/claude-haiku-4-5"},
		{"gpt-5", "", "openai/gpt-5"},
		{"sonnet-5-5", "anthropic", "anthropic/claude-sonnet-5-5"},
		{"sonnet-5-5", "openrouter", "openrouter/anthropic/claude-sonnet-5-5"},
		{"openrouter/anthropic/claude-sonnet-5-5", "", "openrouter/anthropic/claude-sonnet-5-5"},
		{"qwen3:8b", "", "ollama/qwen3:8b"},
		{"ollama/qwen3:8b:off", "", "ollama/qwen3:8b:off"},
		{"ollama/llama9:1b", "", "ollama/llama9:1b"},
		{"anthropic/claude-next-9", "", "anthropic/claude-next-9"},
		{" gpt-6-luna ", "", "openai/gpt-6-luna"},
		{"qwen3", "", "?ollama/qwen3:8b, ollama/qwen3:32b"},
		{"gpt-5.6", "", "?openai/gpt-5.6-sol, openai/gpt-5.6-terra, openai/gpt-5.6-luna"},
		{"gpt-7", "", "?"},
		{"claude-opus-99", "", "?claude-opus-5-5"},
		{"zzz", "", "?no model is called"},
		{"", "", "?"},
		{"anthropic/", "", "?anthropic/claude"},
		{"no-such-provider/x", "", "?no model is called"},
	}
	for _, tt := range tests {
		ref, err := table.Resolve(tt.text, known, func(p string) bool { return tt.usable == p })
		want, wrong := strings.CutPrefix(tt.want, "?")
		switch {
		case wrong && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, %v; want an error with %q", tt.text, ref, err, want)
		case !wrong && (err != nil || ref.String() != want):
			t.Errorf("%q: %v, %v; want %s", tt.text, ref, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	text := `// mine
{
  "providers": {
    "mine": { // a server
      "protocol": "chat", "baseURL": "http://10.0.0.7/v1", "key": "$MINE", "headers": {"X": "y"},
      "models": [
        {"id": "good", "context": 1000, "levels": ["low", "lots"], "price": {"input": 1, "output": 2}},
        {"id": "odd", "context": "many",
         "images": 1, "kontext": 5, "Output": 7},
        {"name": "no id"},
        {"id": "cheap", "price": {"input": -1, "output": 2}},
        7
      ]
    },
    "anthropic": [{"id": "claude-opus-5-5", "output": 5}],
    "bad": {"protocol": "morse"},
    "worse": 3
  },
  "extra": true
}`
	servers, problems := models.Parse("models.json", []byte(text))
	var got []string
	for _, p := range problems {
		got = append(got, p.Error())
	}
	want := []string{
		"models.json:7: providers.mine.models[0].levels[1]: must be one of off, minimal, low, medium, high, xhigh",
		"models.json:8: providers.mine.models[1].context: must be a number of tokens",
		"models.json:9: providers.mine.models[1].images: must be true or false",
		"models.json:9: providers.mine.models[1].kontext: is not a field here; there are context, ",
		"models.json:9: providers.mine.models[1].Output: is spelled output",
		"models.json:10: providers.mine.models[2]: has no id",
		"models.json:11: providers.mine.models[3].price.input: must be a price in USD per million tokens",
		"models.json:12: providers.mine.models[4]: must be an object",
		"models.json:12: providers.mine.models[4]: has no id",
		"models.json:16: providers.bad.protocol: must be one of anthropic, responses, chat, gemini",
		"models.json:17: providers.worse: must be an object",
		"models.json:19: extra: is not a field here; there are $schema, date, providers",
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("problems:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	mine := servers[0]
	if mine.Protocol != "chat" || mine.Key != "$MINE" || mine.Headers["X"] != "y" || len(mine.Models) != 3 {
		t.Errorf("%+v", mine)
	}
	if m := mine.Models[0]; m.Context != 1000 || len(m.Levels) != 1 || m.Price == nil || m.Provider != "mine" {
		t.Errorf("%+v", m)
	}
	if m := mine.Models[2]; m.Price != nil {
		t.Errorf("half a price: %+v", m.Price)
	}
	table := models.Embedded().With(servers[1].Models)
	if m, _ := table.Find("anthropic", "claude-opus-5-5"); m.Output != 5 || m.Context != 1000000 || m.Price == nil {
		t.Errorf("merged: %+v", m)
	}
}

// TestParseBroken: wherever a file is cut, something is said and nothing panics.
func TestParseBroken(t *testing.T) {
	text := `{"providers": {"p": {"models": [{"id": "a", "price": {"input": 1}}]}}}`
	for at := range len(text) {
		if _, problems := models.Parse("m", []byte(text[:at])); len(problems) == 0 {
			t.Errorf("%q is taken", text[:at])
		}
	}
	_, problems := models.Parse("m", []byte("{\n\"providers\": {\n  \"p\": }\n}"))
	if len(problems) == 0 || problems[0].Line != 3 {
		t.Errorf("%v", problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"providers": {"p": {"protocol": "chat", "models": [{"id": "a", "levels": ["off"], "price": {"above": {"tokens": 1}}}]}}}`))
	f.Add([]byte(`// x
{"providers": {"p": [{}]}, }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, problems := models.Parse("m", data)
		for _, p := range problems {
			if p.Line < 1 || p.Text == "" {
				t.Errorf("%+v", p)
			}
		}
		for _, s := range servers {
			for _, m := range s.Models {
				if m.ID == "" || m.Context < 0 || m.Output < 0 {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}

func TestMeter(t *testing.T) {
	script := llmtest.Script(llmtest.Text("ok"), llmtest.Text("ok"))
	client := models.Meter(script, func(id string) llm.Model {
		m, _ := models.Embedded().Find("openai", id)
		return m
	})
	known, _, err := llmtest.Answer(t.Context(), client, llm.Request{Model: "gpt-5"})
	if want := (100*1.25 + 10*10) / 1e6; err != nil || known.Usage.CostUnknown || known.Usage.Cost.Total < want-1e-12 || known.Usage.Cost.Total > want+1e-12 {
		t.Errorf("%+v, %v", known.Usage, err)
	}
	if unknown, _, _ := llmtest.Answer(t.Context(), client, llm.Request{Model: "x"}); !unknown.Usage.CostUnknown {
		t.Errorf("%+v", unknown.Usage)
	}
}

// TestMeterOfSilence: a server that says nothing of usage is not for free.
func TestMeterOfSilence(t *testing.T) {
	silent := []llm.Event{llm.TextDelta{Text: "ok"}, llm.Done{Reason: llm.StopEnd}}
	for _, local := range []bool{false, true} {
		client := models.Meter(
			llmtest.Script(llmtest.Events(silent...), llmtest.Fail(errors.New("cut"), silent[0]), llmtest.Fail(errors.New("refused"))),
			func(id string) llm.Model { return llm.Model{ID: id, Local: local, Price: &llm.Price{Input: 1}} })
		for _, unknown := range []bool{!local, !local, false} {
			if m, _, err := llmtest.Answer(t.Context(), client, llm.Request{}); m.Usage.CostUnknown != unknown {
				t.Errorf("local %v: %+v, %v", local, m.Usage, err)
			}
		}
	}
}

func TestList(t *testing.T) {
	answers := map[string]string{
		"/openrouter/models": `{"data":[{"id":"a/b","name":"A: B","context_length":1000,"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.000001","completion":"0.000002","input_cache_read":"0.0000001"}},{"id":"auto","pricing":{"prompt":"-1","completion":"-1"}}]}`,
		"/vllm/models":       `{"object":"list","data":[{"id":"qwen","object":"model","max_model_len":32768}]}`,
		"/groq/models":       `{"data":[{"id":"llama","context_window":131072,"max_completion_tokens":8192}]}`,
		"/google/models":     `{"models":[{"name":"models/gemini-x","displayName":"Gemini X","inputTokenLimit":1000,"outputTokenLimit":10,"supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}`,
		"/anthropic/models":  `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":1000,"max_tokens":100}]}`,
		"/together/models":   `{"data":[{"id":"c","type":"chat"},{"id":"i","type":"image"}]}`,
		"/llama/models":      `{"data":[{"id":"m.gguf","meta":{"n_ctx_train":4096}}]}`,
		"/openai/models":     `{"data":[{"id":"gpt-9","object":"model"},{"id":"text-embedding-3-large"},{"id":"whisper-1"},{"id":"tts-1"},{"id":"gpt-image-1"},{"id":"omni-moderation-latest"},{"id":"gpt-realtime"},{"id":"gpt-4o-transcribe"}]}`,
		"/empty/models":      `{"data":[]}`,
		"/html/models":       `<html>`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			t.Error("no key")
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer srv.Close()
	tests := map[string]string{
		"openrouter": "[a/b|A: B|1000|0|true|1 auto||0|0|false|-1]", "vllm": "[qwen||32768|0|false|-1]",
		"groq": "[llama||131072|8192|false|-1]", "google": "[gemini-x|Gemini X|1000|10|false|-1]",
		"anthropic": "[claude-x|Claude X|1000|100|false|-1]", "together": "[c||0|0|false|-1]", "llama": "[m.gguf||4096|0|false|-1]",
		"openai": "[gpt-9||0|0|false|-1]", "empty": "[]", "html": "error",
	}
	for name, want := range tests {
		list, err := models.Lister{HTTP: srv.Client(), Provider: name, BaseURL: srv.URL + "/" + name + "/", Header: http.Header{"X-Key": {"k"}}}.List(t.Context())
		var got []string
		for _, m := range list {
			price := -1.0
			if m.Price != nil {
				price = m.Price.Input
			}
			got = append(got, fmt.Sprintf("%s|%s|%d|%d|%v|%.0f", m.ID, m.Name, m.Context, m.Output, m.Images, price))
		}
		if text := fmt.Sprint(got); err == nil && text != want || err != nil && want != "error" {
			t.Errorf("%s: %s, %v; want %s", name, text, err, want)
		}
	}
}

func TestOllama(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"made:8b"},{"name":"set:8b"},{"name":"runs:8b"},{"name":"gone"},{"name":"nomic"}]}`)
		case "/api/ps":
			fmt.Fprint(w, `{"models":[{"name":"runs:8b","context_length":4096}]}`)
		case "/api/show":
			var asked struct{ Model string }
			_ = json.NewDecoder(r.Body).Decode(&asked)
			switch asked.Model {
			case "gone":
				http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
			case "nomic":
				fmt.Fprint(w, `{"capabilities":["embedding"]}`)
			case "set:8b":
				fmt.Fprint(w, `{"parameters":"stop \"x\"\nnum_ctx    8192\n","model_info":{"llama.context_length":131072}}`)
			default:
				fmt.Fprint(w, `{"parameters":"","model_info":{"general.architecture":"llama","llama.context_length":131072},"capabilities":["completion","tools","vision"]}`)
			}
		}
	}))
	defer srv.Close()
	list, err := models.Lister{HTTP: srv.Client(), Provider: "ollama", BaseURL: srv.URL + "/v1"}.Ollama(t.Context())
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%s|%d|%v|%v", m.ID, m.Context, m.Images, m.Local))
	}
	want := "[made:8b|131072|true|true set:8b|8192|false|true runs:8b|4096|true|true gone|0|false|true]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
}
