package mcp

//lint:file-ignore SA1019 Servers before version 2026-07-28 of the protocol, which are most, use this.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// older adds to our abilities what servers before version 2026-07-28 of the
// protocol use: they ask where we work, and send us their log.
func (r *runner) older(o *sdk.ClientOptions) *sdk.ClientOptions {
	o.Capabilities = &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}
	o.LoggingMessageHandler = func(_ context.Context, req *sdk.LoggingMessageRequest) {
		if text, err := json.Marshal(req.Params.Data); err == nil {
			r.log.line(fmt.Sprintf("%s: %s", req.Params.Level, text[:min(len(text), 2000)]))
		}
	}
	return o
}

// addRoot says where we work.
func (r *runner) addRoot(c *sdk.Client) {
	root := url.URL{Scheme: "file", Path: r.opts.Dir}
	c.AddRoots(&sdk.Root{URI: root.String(), Name: "the working folder"})
}
