package models

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"banyan/internal/llm"
)

// Lister asks a server which models it has. HTTP must make errors of answers
// that are not JSON (see the package httpx).
type Lister struct {
	HTTP     *http.Client
	Provider string
	BaseURL  string // as for requests, such as http://127.0.0.1:11434/v1
	Header   http.Header
	Local    bool
}

// List asks an OpenAI-compatible server, or Anthropic, or Google: /models. What
// a server says beyond the names, context windows and prices among it, is taken.
func (l Lister) List(ctx context.Context) ([]llm.Model, error) {
	var body struct {
		Data   []listed `json:"data"`
		Models []listed `json:"models"` // Google
	}
	if err := l.ask(ctx, http.MethodGet, strings.TrimRight(l.BaseURL, "/")+"/models", nil, &body); err != nil {
		return nil, err
	}
	var out []llm.Model
	for _, m := range append(body.Data, body.Models...) {
		if model := m.model(); model.ID != "" && !m.other() {
			model.Provider, model.Local = l.Provider, l.Local
			out = append(out, model)
		}
	}
	return out, nil
}

// listed is a model as servers list it: what each of them calls things.
type listed struct {
	ID   string `json:"id"`
	Name string `json:"name"` // Google: models/…, others: for people

	DisplayName  string   `json:"display_name"`               // Anthropic
	DisplayName2 string   `json:"displayName"`                // Google
	Context      int      `json:"context_length"`             // OpenRouter, Together
	MaxModelLen  int      `json:"max_model_len"`              // vLLM
	Window       int      `json:"context_window"`             // Groq
	Loaded       int      `json:"max_context_length"`         // Mistral, LM Studio
	MaxInput     int      `json:"max_input_tokens"`           // Anthropic
	MaxTokens    int      `json:"max_tokens"`                 // Anthropic
	InputLimit   int      `json:"inputTokenLimit"`            // Google
	OutputLimit  int      `json:"outputTokenLimit"`           // Google
	Completion   int      `json:"max_completion_tokens"`      // Groq
	Methods      []string `json:"supportedGenerationMethods"` // Google
	Kind         string   `json:"type"`                       // Together: chat, image, …
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"` // OpenRouter
	Meta struct {
		Trained int `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp
	Pricing struct {
		Prompt, Completion json.Number
		Read               json.Number `json:"input_cache_read"`
		Write              json.Number `json:"input_cache_write"`
	} `json:"pricing"` // OpenRouter: USD per token
}

func (m listed) model() llm.Model {
	out := llm.Model{ID: m.ID, Name: m.Name}
	if id, google := strings.CutPrefix(m.Name, "models/"); google && m.ID == "" {
		out.ID, out.Name = id, m.DisplayName2
	}
	if m.DisplayName != "" {
		out.Name = m.DisplayName
	}
	out.Context = max(m.Context, m.MaxModelLen, m.Window, m.Loaded, m.InputLimit, m.MaxInput, m.Meta.Trained)
	out.Output = max(m.Completion, m.OutputLimit, m.MaxTokens)
	out.Images = slices.Contains(m.Architecture.Input, "image")
	out.Price = m.price()
	return out
}

// silent are names of models that are not to talk to, where a server does not
// say what its models are for.
var silent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)embed|whisper|\btts\b|-tts|dall-e|moderation|gpt-image|-audio|-realtime|transcribe|rerank|-guard\b|\bsora\b|imagen|\bveo\b`)
})

// other says that it is no model to talk to.
func (m listed) other() bool {
	if silent().MatchString(m.ID + " " + m.Name) {
		return true
	}
	return m.Methods != nil && !slices.Contains(m.Methods, "generateContent") ||
		m.Kind != "" && m.Kind != "chat" && m.Kind != "language" && m.Kind != "model" && m.Kind != "llm" && m.Kind != "vlm"
}

// price is OpenRouter's, from USD per token. Negative numbers mean that it depends.
func (m listed) price() *llm.Price {
	prompt, err1 := m.Pricing.Prompt.Float64()
	completion, err2 := m.Pricing.Completion.Float64()
	if err1 != nil || err2 != nil || prompt < 0 || completion < 0 {
		return nil
	}
	read, _ := m.Pricing.Read.Float64()
	write, _ := m.Pricing.Write.Float64()
	return &llm.Price{Input: prompt * 1e6, Output: completion * 1e6, CacheRead: read * 1e6, CacheWrite: write * 1e6}
}

// Ollama asks an Ollama server, which says more in its own protocol: /api/tags
// for the names, /api/ps for what is loaded, /api/show for the rest. The context
// of a model is that of the loaded one, else what its Modelfile gives it
// (num_ctx), else what it was made for. Ollama cuts longer prompts silently.
func (l Lister) Ollama(ctx context.Context) ([]llm.Model, error) {
	base := strings.TrimSuffix(strings.TrimRight(l.BaseURL, "/"), "/v1")
	var tags struct {
		Models []struct{ Name string }
	}
	if err := l.ask(ctx, http.MethodGet, base+"/api/tags", nil, &tags); err != nil {
		return nil, err
	}
	var loaded struct {
		Models []struct {
			Name    string
			Context int `json:"context_length"`
		}
	}
	_ = l.ask(ctx, http.MethodGet, base+"/api/ps", nil, &loaded) // older servers do not know it
	var out []llm.Model
	for _, tag := range tags.Models {
		m := llm.Model{Provider: l.Provider, ID: tag.Name, Local: true}
		for _, run := range loaded.Models {
			if run.Name == tag.Name {
				m.Context = run.Context
			}
		}
		var show shown
		if err := l.ask(ctx, http.MethodPost, base+"/api/show", map[string]string{"model": tag.Name}, &show); err == nil {
			show.describe(&m)
		}
		if show.Capabilities != nil && !slices.Contains(show.Capabilities, "completion") {
			continue
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out = append(out, m)
	}
	return out, nil
}

// shown is what Ollama says of a model.
type shown struct {
	Parameters   string         // lines of the Modelfile
	Info         map[string]any `json:"model_info"`
	Capabilities []string
}

func (s shown) describe(m *llm.Model) {
	m.Images = slices.Contains(s.Capabilities, "vision")
	if m.Context > 0 {
		return
	}
	for key, v := range s.Info {
		if n, ok := v.(float64); ok && strings.HasSuffix(key, ".context_length") {
			m.Context = int(n)
		}
	}
	for line := range strings.Lines(s.Parameters) {
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "num_ctx %d", &n); err == nil && n > 0 {
			m.Context = n
		}
	}
}

// ask sends a request and reads the JSON that comes back.
func (l Lister) ask(ctx context.Context, method, url string, body, into any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, &sent)
	if err != nil {
		return fmt.Errorf("asking %s for its models: %w", l.Provider, err)
	}
	if l.Header != nil {
		req.Header = l.Header.Clone()
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := l.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, 32<<20)).Decode(into); err != nil {
		return fmt.Errorf("reading the list of models of %s at %s: %w", l.Provider, req.URL.Host, err)
	}
	return nil
}
