package provider

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/openai"
)

// Protocol is how a provider is talked to.
type Protocol string

// The protocols, in the words of models.json.
const (
	Anthropic Protocol = "anthropic"
	Responses Protocol = "responses"
	Chat      Protocol = "chat"
	Gemini    Protocol = "gemini"
)

// API is the protocol's name in messages (llm.Message.API).
func (p Protocol) API() string {
	switch p {
	case Anthropic:
		return anthropic.API
	case Responses:
		return openai.Responses
	case Gemini:
		return gemini.API
	}
	return openai.Chat
}

// Provider is somebody who answers.
type Provider struct {
	Name     string // in references, messages and files
	Title    string // for people
	Protocol Protocol
	BaseURL  string
	// KeyEnv, TokenEnv and BaseEnv are environment variables, the first that
	// is set counts. A token is sent as a bearer token where keys are not.
	KeyEnv, TokenEnv, BaseEnv []string
	// KeyHeader is the header for the key, where it is not the protocol's.
	KeyHeader string
	// Default is the model that is taken when none was chosen; empty for
	// providers that are only used when they are named.
	Default string
	// DefaultEnv names the variable that chooses another default.
	DefaultEnv string
	Compat     openai.Compat
	// Local servers need no key, cost nothing, and are looked for.
	Local bool

	// The following come from models.json.
	key     string // a key, "$VARIABLE" or "!command"
	headers map[string]string
	keyless bool // it was given no key: it wants none, or has it in a header
}

// providers are all that are known without models.json, in the order in which
// they are taken when several have keys.
var providers = []Provider{
	{
		Name: "anthropic", Title: "Anthropic", Protocol: Anthropic, BaseURL: "https://api.anthropic.com",
		KeyEnv: []string{"ANTHROPIC_API_KEY"}, TokenEnv: []string{"ANTHROPIC_AUTH_TOKEN"}, BaseEnv: []string{"ANTHROPIC_BASE_URL"},
		Default: "claude-sonnet-5-5", DefaultEnv: "ANTHROPIC_MODEL",
	},
	{
		Name: "openai", Title: "OpenAI", Protocol: Responses, BaseURL: "https://api.openai.com/v1",
		KeyEnv: []string{"OPENAI_API_KEY"}, BaseEnv: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"},
		Default: "gpt-6.2-sol", Compat: openai.Compat{MaxCompletionTokens: true, CacheKey: true},
	},
	{
		Name: "google", Title: "Google Gemini", Protocol: Gemini, BaseURL: "https://generativelanguage.googleapis.com",
		KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, BaseEnv: []string{"GOOGLE_GEMINI_BASE_URL"},
		Default: "gemini-3.8-flash",
	},
	{
		Name: "openrouter", Title: "OpenRouter", Protocol: Chat, BaseURL: "https://openrouter.ai/api/v1",
		KeyEnv: []string{"OPENROUTER_API_KEY"}, BaseEnv: []string{"OPENROUTER_BASE_URL"},
		Default: "openrouter/auto", Compat: openai.Compat{ReasoningObject: true, KeepReasoning: true},
	},
	{
		Name: "deepseek", Title: "DeepSeek", Protocol: Chat, BaseURL: "https://api.deepseek.com",
		KeyEnv: []string{"DEEPSEEK_API_KEY"}, BaseEnv: []string{"DEEPSEEK_BASE_URL"},
		Default: "deepseek-v4-pro", Compat: openai.Compat{KeepReasoning: true},
	},
	{
		Name: "xai", Title: "xAI", Protocol: Chat, BaseURL: "https://api.x.ai/v1",
		KeyEnv: []string{"XAI_API_KEY"}, BaseEnv: []string{"XAI_BASE_URL"}, Default: "grok-4.5",
	},
	{
		Name: "mistral", Title: "Mistral", Protocol: Chat, BaseURL: "https://api.mistral.ai/v1",
		KeyEnv: []string{"MISTRAL_API_KEY"}, BaseEnv: []string{"MISTRAL_BASE_URL"}, Default: "mistral-medium-latest",
		Compat: openai.Compat{ShortIDs: true, AnswerAfterTool: true, NoStreamOptions: true},
	},
	{
		Name: "groq", Title: "Groq", Protocol: Chat, BaseURL: "https://api.groq.com/openai/v1",
		KeyEnv: []string{"GROQ_API_KEY"}, BaseEnv: []string{"GROQ_BASE_URL"}, Default: "openai/gpt-oss-120b",
	},
	{
		Name: "cerebras", Title: "Cerebras", Protocol: Chat, BaseURL: "https://api.cerebras.ai/v1",
		KeyEnv: []string{"CEREBRAS_API_KEY"}, Default: "gpt-oss-120b",
	},
	{Name: "together", Title: "Together", Protocol: Chat, BaseURL: "https://api.together.xyz/v1", KeyEnv: []string{"TOGETHER_API_KEY"}},
	{Name: "fireworks", Title: "Fireworks", Protocol: Chat, BaseURL: "https://api.fireworks.ai/inference/v1", KeyEnv: []string{"FIREWORKS_API_KEY"}},
	{
		Name: "moonshot", Title: "Moonshot", Protocol: Chat, BaseURL: "https://api.moonshot.ai/v1",
		KeyEnv: []string{"MOONSHOT_API_KEY"}, Compat: openai.Compat{KeepReasoning: true},
	},
	{Name: "zai", Title: "Z.ai", Protocol: Chat, BaseURL: "https://api.z.ai/api/paas/v4", KeyEnv: []string{"ZAI_API_KEY"}},
	{
		Name: "azure", Title: "Azure OpenAI", Protocol: Responses,
		KeyEnv: []string{"AZURE_OPENAI_API_KEY"}, BaseEnv: []string{"AZURE_OPENAI_BASE_URL"}, KeyHeader: "Api-Key",
	},
	{Name: "ollama", Title: "Ollama", Protocol: Chat, BaseURL: "http://127.0.0.1:11434/v1", BaseEnv: []string{"OLLAMA_HOST"}, KeyEnv: []string{"OLLAMA_API_KEY"}, Local: true},
	{Name: "lmstudio", Title: "LM Studio", Protocol: Chat, BaseURL: "http://127.0.0.1:1234/v1", BaseEnv: []string{"LMSTUDIO_BASE_URL"}, Local: true},
	{Name: "llamacpp", Title: "llama.cpp", Protocol: Chat, BaseURL: "http://127.0.0.1:8080/v1", BaseEnv: []string{"LLAMACPP_BASE_URL"}, Local: true},
	{Name: "vllm", Title: "vLLM", Protocol: Chat, BaseURL: "http://127.0.0.1:8000/v1", BaseEnv: []string{"VLLM_BASE_URL"}, KeyEnv: []string{"VLLM_API_KEY"}, Local: true},
}

// KeyVariables are the environment variables that hold keys: no child of ours
// should have them.
func KeyVariables() []string {
	var names []string
	for _, p := range providers {
		names = append(append(names, p.KeyEnv...), p.TokenEnv...)
	}
	return names
}

// resolve takes the address from the environment.
func (p Provider) resolve(env func(string) string) Provider {
	for _, name := range p.BaseEnv {
		value := strings.TrimSpace(env(name))
		if value == "" {
			continue
		}
		if p.Name == "ollama" {
			value = ollamaURL(value)
		}
		p.BaseURL = value
		// Whoever stands in for OpenAI speaks the older protocol, most likely;
		// models.json can say otherwise.
		if p.Name == "openai" && !official(value, ".openai.com") {
			p.Protocol, p.Compat = Chat, openai.Compat{}
		}
		break
	}
	if p.DefaultEnv != "" {
		if value := strings.TrimSpace(env(p.DefaultEnv)); value != "" {
			p.Default = value
		}
	}
	return p
}

// private says whether an address is of this computer or of a network of the
// user's own.
func private(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast())
}

// official says whether an address is of a domain.
func official(address, domain string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.HasSuffix("."+u.Hostname(), domain)
}

// ollamaURL reads OLLAMA_HOST, which may lack scheme and port, and which names
// the address to listen on: every address means this computer.
func ollamaURL(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		if port == "" {
			port = "11434"
		}
	}
	u.Host = net.JoinHostPort(name, port)
	if path := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(path, "/v1") {
		u.Path = path + "/v1"
	}
	return u.String()
}
