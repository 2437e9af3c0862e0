package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain runs this binary as a server where a test asks for one.
func TestMain(m *testing.M) {
	mode := os.Getenv("BANYAN_TEST_SERVER")
	if mode == "" {
		os.Exit(m.Run())
	}
	name, arg, _ := strings.Cut(mode, " ")
	run, ok := programs[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "there is no mode "+name)
		os.Exit(2)
	}
	if err := run(arg); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// programs are the servers that this binary can be: a good one, and those that
// do one thing wrong.
var programs = map[string]func(arg string) error{
	"good": good,
	"exits": func(string) error {
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		os.Exit(3)
		return nil
	},
	"silent": func(string) error { _, err := io.Copy(io.Discard, os.Stdin); return err },
	// deaf does not even end when its input does.
	"deaf":    func(string) error { select {} },
	"garbage": garbage,
	"flood":   func(string) error { return repeat(os.Stdout, "this is not the protocol, again and again and again\n") },
	"notifies": func(string) error {
		return after(func() {
			_ = repeat(os.Stdout, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`+"\n")
		})
	},
	"stderr":  func(string) error { go func() { _ = repeat(os.Stderr, "noise\n") }(); return good("") },
	"huge":    huge,
	"twice":   twice,
	"changes": changes,
	"once":    once,
	"legacy":  legacy,
}

func repeat(to io.Writer, text string) error {
	text = strings.Repeat(text, 1000)
	for {
		if _, err := io.WriteString(to, text); err != nil {
			return err
		}
	}
}

func good(string) error { return goodServer().Run(context.Background(), &sdk.StdioTransport{}) }

type nothing struct{}

// goodServer does all that a server may do, as it should.
func goodServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1.2"}, nil)
	type word struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "says it again", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in word) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "show it all!", Description: "every kind of content"},
		func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, map[string]int, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.TextContent{Text: "a \x1b[31mred\x1b[0m text"},
				&sdk.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG")},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF")},
				&sdk.ResourceLink{URI: "memo://1", Name: "memo"},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "memo://2", Text: "inside"}},
			}}, map[string]int{"n": 7}, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("it cannot be done")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "work"}, work)
	sdk.AddTool(s, &sdk.Tool{Name: "about"}, func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, any, error) {
		wd, _ := os.Getwd()
		text := fmt.Sprintf("in %s\n%s", wd, strings.Join(os.Environ(), "\n"))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "crash"}, func(context.Context, *sdk.CallToolRequest, nothing) (*sdk.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "a fault")
		os.Exit(5)
		return nil, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "grow"}, func(_ context.Context, _ *sdk.CallToolRequest, in word) (*sdk.CallToolResult, any, error) {
		sdk.AddTool(s, &sdk.Tool{Name: in.Text, Description: "came later"}, work)
		return &sdk.CallToolResult{}, nil, nil
	})
	addOffers(s)
	return s
}

// work takes its time, tells how far it is, and stops when it is told to.
func work(ctx context.Context, req *sdk.CallToolRequest, _ nothing) (*sdk.CallToolResult, any, error) {
	for i := range 3 {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 10, Message: "working",
		})
	}
	<-ctx.Done()
	if path := os.Getenv("STOPPED"); path != "" {
		_ = os.WriteFile(path, []byte("told to stop"), 0o600)
	}
	return nil, nil, ctx.Err()
}

func addOffers(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{Name: "greet", Description: "a greeting", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf("Greet %s %s.", req.Params.Arguments["who"], req.Params.Arguments["how"])}},
				{Role: "assistant", Content: &sdk.TextContent{Text: "Hello!"}},
			}}, nil
		})
	s.AddResource(&sdk.Resource{URI: "memo://today", Name: "today", MIMEType: "text/plain"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, Text: "buy milk"}}}, nil
		})
}

// message is what servers without the SDK read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// hello answers the first words of a client; false for anything else.
func hello(m message) bool {
	switch m.Method {
	case "initialize":
		answer(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"0"}}`)
	case "tools/list":
		answer(m.ID, `{"tools":[{"name":"go","description":"does it","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		return false
	default:
		if m.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no %s"}}`+"\n", m.ID, m.Method)
		}
	}
	return true
}

func answer(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

// each reads messages.
func each(do func(message)) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m message
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return err
		}
		do(m)
	}
	return in.Err()
}

// after is a server that does something when it has been asked for its tools.
func after(do func()) error {
	return each(func(m message) {
		hello(m)
		if m.Method == "tools/list" {
			do()
		}
	})
}

// garbage prints what is no message between what is.
func garbage(string) error {
	return each(func(m message) {
		fmt.Println("starting up ...\n{\"level\":\"info\"}\n[]\n\x1b[2J{not json}\n" + `{"jsonrpc":"2.0","id":99999,"result":{}}`)
		if !hello(m) {
			answer(m.ID, `{"content":[{"type":"text","text":"all the same"}]}`)
		}
	})
}

// huge answers with 100 MB.
func huge(string) error {
	return each(func(m message) {
		if hello(m) {
			return
		}
		fmt.Printf(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"begin `)
		for range 100 {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Printf(` end, \"id\": 5"}]},"id":%s}`+"\n", m.ID)
	})
}

// twice answers each call twice, and calls that nobody made.
func twice(string) error {
	return each(func(m message) {
		if hello(m) {
			return
		}
		for i := range 2 {
			answer(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"answer %d"}]}`, i+1))
		}
		answer(json.RawMessage(`12345`), `{}`)
		answer(json.RawMessage(`"other"`), `{"content":[]}`)
	})
}

// changes says of its tool what a file says.
func changes(file string) error {
	say := func() string { text, _ := os.ReadFile(file); return strings.TrimSpace(string(text)) }
	return each(func(m message) {
		switch m.Method {
		case "tools/list":
			var tools []string
			for i, line := range strings.Split(say(), "\n") {
				tools = append(tools, fmt.Sprintf(`{"name":"tool%d","description":%q,"inputSchema":{"type":"object"}}`, i, line))
			}
			answer(m.ID, `{"tools":[`+strings.Join(tools, ",")+`]}`)
		case "tools/call":
			answer(m.ID, `{"content":[]}`)
			time.Sleep(10 * time.Millisecond)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		default:
			hello(m)
		}
	})
}

// once ends after it was ready, each time.
func once(string) error {
	return after(func() { time.Sleep(50 * time.Millisecond); fmt.Fprintln(os.Stderr, "that was it"); os.Exit(0) })
}

// legacy asks, when it is called, where the client works, for a picture of its
// user's mind, and to be lent its model; its answer is what it was told.
func legacy(string) error {
	var call json.RawMessage
	var told []string
	return each(func(m message) {
		switch {
		case m.Method == "tools/call":
			call = m.ID
			fmt.Println(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
			fmt.Println(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"your password?","requestedSchema":{"type":"object","properties":{}}}}`)
			fmt.Println(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
		case m.Method == "" && call != nil:
			what := string(m.Result)
			if m.Error != nil {
				what = "refused"
			}
			if told = append(told, fmt.Sprintf("%s: %s", m.ID, what)); len(told) == 3 {
				slices.Sort(told)
				text, _ := json.Marshal(strings.Join(told, "\n"))
				answer(call, `{"content":[{"type":"text","text":`+string(text)+`}]}`)
			}
		default:
			hello(m)
		}
	})
}
