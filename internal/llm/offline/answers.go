package offline

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"banyan/internal/llm"
)

// quoteLines is how much of a result the model repeats in its answer: enough
// for `agent -p`, which shows nothing else.
const quoteLines = 20

// report says what a round of calls gave.
func report(results []llm.Message) string {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteString("\n\n")
		}
		text := strings.TrimRight(r.Text(), "\n")
		lines := strings.Split(text, "\n")
		if text == "" {
			fmt.Fprintf(&b, "Done: `%s` had nothing to say.", r.ToolName)
			continue
		}
		if len(lines) == 1 {
			fmt.Fprintf(&b, "Done. `%s` says: %s", r.ToolName, text)
			continue
		}
		more := ""
		if len(lines) > quoteLines {
			more = fmt.Sprintf("\n\n… and %d more lines.", len(lines)-quoteLines)
			lines = lines[:quoteLines]
		}
		fmt.Fprintf(&b, "`%s` gave this:\n\n%s\n%s\n%s%s", r.ToolName, fence(text), strings.Join(lines, "\n"), fence(text), more)
	}
	return b.String()
}

// fence is a code fence longer than any in the text.
func fence(text string) string {
	f := "```"
	for strings.Contains(text, f) {
		f += "`"
	}
	return f
}

func failed(r llm.Message) string {
	return fmt.Sprintf("That did not work. `%s` says: %s", r.ToolName, strings.TrimSpace(r.Text()))
}

// topic is an answer about the product.
type topic struct {
	pattern *regexp.Regexp
	text    string
}

var topics = sync.OnceValue(func() []topic {
	return []topic{
		{regexp.MustCompile(`(?i)\b(connect|api.?key|keys? for|provider|real model|anthropic|claude|openai|gpt|gemini|ollama|log ?in|/login|/model)\b`), connectText},
		{regexp.MustCompile(`(?i)\b(tree|branch|fork|label|go back|undo|redo|navigate)`), treeText},
		{regexp.MustCompile(`(?i)\b(shortcut|hotkey|keybinding|which keys|keys\b)`), keysText},
		{regexp.MustCompile(`(?i)\b(session|resume|continue|saved?|stored?|where .*file)\b`), sessionText},
		{regexp.MustCompile(`(?i)\b(permission|approve|approval|allow|safe|sandbox)`), permissionText},
	}
})

// answer answers what is not a request for a tool.
func answer(prompt string) string {
	for _, t := range topics() {
		if t.pattern.MatchString(prompt) {
			return t.text
		}
	}
	return helpText()
}

func helpText() string {
	var b strings.Builder
	b.WriteString("I am the **offline** model: a set of rules, not an intelligence. No model provider is configured, so nothing leaves this machine.\n\nI do what plain requests ask, with the real tools:\n\n")
	for _, r := range rules()[1:] {
		fmt.Fprintf(&b, "- `%s`\n", r.example)
	}
	b.WriteString("\nSeveral steps work too: `read go.mod then run go version`.\n\n" + connectText)
	return b.String()
}

// noData is why this model gives up where data are wanted.
const noData = `the offline model is a set of rules; it gives only data that the prompt spells out: finish with {"words": 3}`

const connectText = "To connect a real model, type `/login`, or set a key and start again, for example\n\n" +
	"```sh\nexport ANTHROPIC_API_KEY=…\nagent\n```\n\n" +
	"`ANTHROPIC_BASE_URL` points it at a compatible server. `/model` chooses among what is configured."

const treeText = "A conversation here is a **tree**. Every message is an entry in one append-only file; the conversation that a model sees is the path from a root to the leaf. Going back moves the leaf and deletes nothing; what you say next starts a new branch.\n\n" +
	"- `/tree` (or Esc Esc) shows the whole tree: go anywhere, search, fold, label.\n" +
	"- `/branch` copies the history before one of your messages into a new session file.\n" +
	"- `/label` names where you are.\n"

const keysText = "Enter sends, Ctrl+J makes a new line, Esc interrupts, Ctrl+C twice quits. While I work, Enter steers and Alt+Enter queues a follow-up. Press `?` on an empty line for all keys."

const sessionText = "Every conversation is kept, one line an entry, from your first message on. `agent -c` goes on with the newest one of this folder, `agent --session FILE` with any. `agent session list` shows them. The format is described in `docs/session-format.md`."

const permissionText = "Reading is free. Before I write, edit or run something I ask, and the question shows exactly what would happen. `y` allows it once, `a` allows its kind while this session is open, `n` refuses, Esc refuses and stops. Shift+Tab changes the mode."
