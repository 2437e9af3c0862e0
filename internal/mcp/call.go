package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"banyan/internal/tool"
)

// caller is the function of one of the server's tools.
func (r *runner) caller(name string) func(context.Context, tool.Input) tool.Result {
	return func(ctx context.Context, in tool.Input) tool.Result {
		session := r.session.Load()
		if session == nil {
			s := r.state.Load()
			return tool.Fail(fmt.Errorf("the MCP server %s is not there: it is %s. %s", r.server.Name, s.Phase, s.Why))
		}
		return r.call(ctx, session, name, in)
	}
}

// called is how a call ended.
type called struct {
	result *sdk.CallToolResult
	err    error
}

// call calls a tool and follows its progress. When ctx is done, the server is
// told, and nobody waits for it.
func (r *runner) call(ctx context.Context, session *sdk.ClientSession, name string, in tool.Input) tool.Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	params := &sdk.CallToolParams{Name: name, Arguments: in.Args}
	token := "banyan-" + strconv.FormatInt(r.tokens.Add(1), 10)
	params.SetProgressToken(token)
	news := make(chan *sdk.ProgressNotificationParams, 1)
	r.progress.Store(token, news)
	defer r.progress.Delete(token)
	done := make(chan called, 1)
	go func() {
		result, err := session.CallTool(ctx, params)
		done <- called{result, err}
	}()
	limit := time.NewTimer(r.server.CallTime)
	defer limit.Stop()
	for {
		select {
		case c := <-done:
			return r.called(c)
		case p := <-news:
			limit.Reset(r.server.CallTime)
			in.Progress(tool.Plain{Text: progressText(p)})
		case <-limit.C:
			return tool.Fail(fmt.Errorf("the MCP server %s has not answered within %v; it was told that nobody waits any more", r.server.Name, r.server.CallTime))
		case <-ctx.Done():
			return tool.Fail(fmt.Errorf("interrupted: the MCP server %s was told to stop", r.server.Name))
		}
	}
}

// progressed hands a server's news to the call that it is about. The newest
// counts; what is about no call is dropped.
func (r *runner) progressed(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	to, ok := r.progress.Load(fmt.Sprint(req.Params.ProgressToken))
	if !ok {
		return
	}
	news := to.(chan *sdk.ProgressNotificationParams)
	select {
	case news <- req.Params:
		return
	default:
	}
	select {
	case <-news:
	default:
	}
	select {
	case news <- req.Params:
	default:
	}
}

// progressText is "3 of 10 (30%): reading".
func progressText(p *sdk.ProgressNotificationParams) string {
	text := strconv.FormatFloat(p.Progress, 'f', -1, 64)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %s (%.0f%%)", strconv.FormatFloat(p.Total, 'f', -1, 64), 100*min(1, max(0, p.Progress/p.Total)))
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// called makes a result of how a call ended.
func (r *runner) called(c called) tool.Result {
	var wire *jsonrpc.Error
	switch {
	case c.err == nil:
		return r.result(c.result)
	case errors.As(c.err, &wire) && wire.Code == codeTooLong:
		if long, ok := longOf(json.RawMessage(wire.Data)); ok {
			return tool.LongResult(long.Head, long.Bytes, long.Path, long.Kept)
		}
	case errors.As(c.err, &wire):
		return tool.Fail(fmt.Errorf("the MCP server %s: %s", r.server.Name, wire.Message))
	}
	return tool.Fail(fmt.Errorf("calling the MCP server %s: %s", r.server.Name, reason(c.err)))
}
