package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is a connection to a server.
type link struct {
	session *sdk.ClientSession
	process *process           // nil behind HTTP
	cut     context.CancelFunc // ends what goes over HTTP; nil for a program
	ended   chan struct{}      // closed when the SDK has ended it
	err     error              // what it says of that; read after ended
}

// serve is one life: connect, list, tell, and look again when something has
// changed, until the server ends or ctx is done. The error is why it ended.
func (r *runner) serve(ctx context.Context, reached *bool) error {
	// A time-out would end streams that were opened in time.
	start, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(r.server.StartTime, cancel)
	l, err := r.connect(start)
	if err == nil {
		defer r.hangUp(l)
		if err = r.list(start, l); err != nil {
			err = r.because(l, err)
		}
	}
	if !late.Stop() && ctx.Err() == nil {
		return fmt.Errorf("it was not ready within %v", r.server.StartTime)
	}
	if err != nil {
		return err
	}
	*reached = true
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ended:
			return r.because(l, l.err)
		case <-r.changed:
			if err := r.again(ctx, l); err != nil {
				return r.because(l, err)
			}
		}
	}
}

// again lists what the server offers after it has said that it changed, not more
// than once in a while.
func (r *runner) again(ctx context.Context, l *link) error {
	const pause = 200 * time.Millisecond
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.changed:
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, r.server.StartTime)
	defer cancel()
	return r.list(ctx, l)
}

// connect reaches the server and shakes hands.
func (r *runner) connect(ctx context.Context) (*link, error) {
	l := &link{ended: make(chan struct{})}
	transport, err := r.transport(l)
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "banyan", Title: "Banyan", Version: r.opts.Version}, r.older(r.clientOptions()))
	r.addRoot(client)
	if l.session, err = client.Connect(ctx, transport, nil); err != nil {
		err = r.because(l, err)
		r.hangUp(l)
		return nil, err
	}
	go func() {
		defer close(l.ended)
		l.err = l.session.Wait()
	}()
	return l, nil
}

func (r *runner) transport(l *link) (sdk.Transport, error) {
	if r.server.Transport == Stdio {
		p, err := startProcess(r.server, r.opts.Dir, r.opts.PassEnv, &r.log, r.keepLong)
		if err != nil {
			return nil, err
		}
		l.process = p
		return &sdk.IOTransport{Reader: p, Writer: p, MaxLineLength: 2 * maxFrame}, nil
	}
	u, err := url.Parse(r.server.URL)
	if err != nil {
		return nil, err
	}
	life, cut := context.WithCancel(context.Background())
	l.cut = cut
	web := webClient(life, r.server, u.Host, &r.log, r.keepLong)
	if r.server.Transport == SSE {
		return &sdk.SSEClientTransport{Endpoint: r.server.URL, HTTPClient: web, MaxEventSize: 2 * maxFrame}, nil
	}
	return &sdk.StreamableClientTransport{
		Endpoint: r.server.URL, HTTPClient: web, MaxEventSize: 2 * maxFrame,
		OAuthHandler: r.oauth(nil),
	}, nil
}

func (r *runner) keepLong() (*os.File, error) { return r.opts.keep("mcp-" + r.clean + "-*.json") }

// clientOptions are what we can do for servers: listen. We ask our user nothing
// for them and lend them no model; what is not offered here they are told is not
// there.
func (r *runner) clientOptions() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { r.look() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { r.look() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { r.look() },
		ProgressNotificationHandler: r.progressed,
	}
}

// hangUp ends the connection and the program behind it.
func (r *runner) hangUp(l *link) {
	r.session.Store(nil)
	if l.process != nil {
		_ = l.process.Close() // first: a program that does not answer holds nothing up
	}
	if l.cut != nil {
		defer time.AfterFunc(endTime, l.cut).Stop()
		defer l.cut()
	}
	if l.session != nil {
		_ = l.session.Close() // what is gone cannot complain
		<-l.ended
	}
}

// because is why a life ended, in the words that help: how the program ended
// rather than that a pipe is closed.
func (r *runner) because(l *link, err error) error {
	if l.process == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if why := l.process.filter.why.Load(); why != nil {
		return *why
	}
	if how := l.process.ending(); how != "" {
		return errors.New(how)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("it has closed the connection")
	}
	return err
}

// reason is an error for people, without what the SDK says to programmers.
func reason(err error) string {
	if err == nil {
		return "it has closed the connection"
	}
	text := err.Error()
	for cut := true; cut; { // calling "initialize": sending "initialize": rejected by transport: …
		cut = false
		for _, head := range []string{"calling ", "sending ", `"initialize": `, `"tools/list": `, `"tools/call": `, "rejected by transport: "} {
			if rest, ok := strings.CutPrefix(text, head); ok {
				text, cut = rest, true
			}
		}
	}
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Join(strings.Fields(text), " ")
}

// How much a server may offer.
const (
	maxOffers   = 1000    // tools; likewise prompts and resources
	maxListText = 1 << 20 // bytes of what it says of its tools
)

// list asks what the server offers and publishes it.
func (r *runner) list(ctx context.Context, l *link) error {
	hello := l.session.InitializeResult()
	s := State{Server: r.server, Phase: Ready}
	if hello.ServerInfo != nil {
		s.Program = strings.TrimSpace(hello.ServerInfo.Name + " " + hello.ServerInfo.Version)
	}
	has := hello.Capabilities
	if has == nil {
		has = &sdk.ServerCapabilities{}
	}
	if has.Tools != nil {
		tools, err := take(l.session.Tools(ctx, nil))
		if err != nil {
			return err
		}
		r.log.line(fmt.Sprintf("(%d tools)", len(tools)))
		if err := r.takeTools(&s, tools); err != nil {
			return err
		}
	}
	// What people call by name is left out if it cannot be had.
	if has.Prompts != nil {
		prompts, err := take(l.session.Prompts(ctx, nil))
		r.without("prompts", err)
		s.Prompts = r.prompts(prompts)
	}
	if has.Resources != nil {
		resources, err := take(l.session.Resources(ctx, nil))
		r.without("resources", err)
		for _, x := range resources {
			s.Resources = append(s.Resources, Resource{x.URI, x.Name, x.MIMEType, x.Description})
		}
		if templates, err := take(l.session.ResourceTemplates(ctx, nil)); err == nil {
			for _, x := range templates {
				s.Templates = append(s.Templates, Resource{x.URITemplate, x.Name, x.MIMEType, x.Description})
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := r.state.Load()
	r.session.Store(l.session)
	r.publish(s)
	if before.Phase != Ready || before.pins != s.pins || !slices.Equal(before.Held(), s.Held()) {
		r.opts.Changed(r.server.Name, s.Given())
	}
	return nil
}

func (r *runner) without(what string, err error) {
	if err != nil {
		r.log.line(fmt.Sprintf("(its %s cannot be listed: %v)", what, err))
	}
}

// take collects a list that may be without end.
func take[T any](list func(func(T, error) bool)) ([]T, error) {
	var all []T
	for x, err := range list {
		if err != nil {
			return nil, err
		}
		if all = append(all, x); len(all) > maxOffers {
			return nil, fmt.Errorf("it lists more than %d things", maxOffers)
		}
	}
	return all, nil
}
