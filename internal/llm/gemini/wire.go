package gemini

import "encoding/json"

// The fields that we use of the vendor's types of the same names. Linking
// google.golang.org/genai for them would bring gRPC, OpenCensus and WebSockets:
// 8 MB and a third of the time that the program takes to start. So it is
// linked into the tests only, which hold these types to it in both directions.

// request is the body of generateContent.
type request struct {
	Contents          []*content        `json:"contents"`
	SystemInstruction *content          `json:"systemInstruction,omitempty"`
	Tools             []tool            `json:"tools,omitempty"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
}

type content struct {
	Parts []part `json:"parts,omitempty"`
	Role  string `json:"role,omitempty"`
}

// The roles of a content.
const (
	roleUser  = "user"
	roleModel = "model"
)

type part struct {
	Text             string            `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
}

type blob struct {
	Data     string `json:"data,omitempty"` // base64
	MIMEType string `json:"mimeType,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"` // an object, as it was written
}

type functionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

type tool struct {
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations,omitempty"`
}

type functionDeclaration struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"` // tokens
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`  // MINIMAL, LOW, MEDIUM, HIGH
}

// response is one chunk of an answer.
type response struct {
	Candidates []struct {
		Content       content `json:"content"`
		FinishReason  string  `json:"finishReason"`
		FinishMessage string  `json:"finishMessage"`
		Index         int     `json:"index"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	ResponseID    string         `json:"responseId"`
	UsageMetadata *usageMetadata `json:"usageMetadata"`
	// Error is what comes instead when something fails in the middle.
	Error *struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"error"`
}

// usageMetadata counts tokens. Floats take whatever a server says is a number.
type usageMetadata struct {
	Prompt        float64 `json:"promptTokenCount"`
	ToolUsePrompt float64 `json:"toolUsePromptTokenCount"`
	Cached        float64 `json:"cachedContentTokenCount"`
	Candidates    float64 `json:"candidatesTokenCount"`
	Thoughts      float64 `json:"thoughtsTokenCount"`
}

// The reasons to stop that mean something else than an end.
const (
	finishLength       = "MAX_TOKENS"
	finishMalformed    = "MALFORMED_FUNCTION_CALL"
	finishUnexpected   = "UNEXPECTED_TOOL_CALL"
	finishSafety       = "SAFETY"
	finishRecitation   = "RECITATION"
	finishLanguage     = "LANGUAGE"
	finishBlocklist    = "BLOCKLIST"
	finishProhibited   = "PROHIBITED_CONTENT"
	finishSPII         = "SPII"
	finishImageSafety  = "IMAGE_SAFETY"
	finishImageBanned  = "IMAGE_PROHIBITED_CONTENT"
	finishImageRecited = "IMAGE_RECITATION"
)
