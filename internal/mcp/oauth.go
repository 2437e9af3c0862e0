package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Tokens keeps logins, as texts that are secret, by a key.
type Tokens interface {
	Load(key string) (text string, err error) // empty: there is none
	Keep(key, text string) error
	Forget(key string) error
}

// errLogin says that a server wants a login that we do not have, or have no more.
var errLogin = errors.New("it wants a login")

// tokenKey is by what a login is kept: the server's address, so that another
// server of the same name never gets it.
func tokenKey(s Server) string { return "mcp " + s.URL }

// kept is what is kept of a login: all that is needed to renew it.
type kept struct {
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	TokenURL     string           `json:"tokenUrl"`
	Style        oauth2.AuthStyle `json:"style"`
	Token        *oauth2.Token    `json:"token"`
}

// login is how requests are authorized: with the token that is kept, renewed
// when it is old. Where that does not do, it asks, if there is somebody to ask.
type login struct {
	runner *runner
	// ask does the whole flow with the user; nil outside of [Host.Login].
	ask *auth.AuthorizationCodeHandler

	mu     sync.Mutex // requests come side by side
	source *renewing  // one for all of them: a token is renewed once
}

// oauth is the handler of a connection. A server of which the file says how to
// authorize needs none.
func (r *runner) oauth(ask *auth.AuthorizationCodeHandler) auth.OAuthHandler {
	for name := range r.server.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return nil
		}
	}
	return &login{runner: r, ask: ask}
}

// TokenSource implements [auth.OAuthHandler]. It is asked with each request.
func (l *login) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if l.ask != nil {
		return l.ask.TokenSource(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source == nil {
		k, err := l.runner.kept()
		if err != nil || k.Token == nil {
			return nil, err
		}
		l.source = &renewing{runner: l.runner}
		l.source.use(k)
	}
	return l.source, nil
}

// Authorize implements [auth.OAuthHandler].
func (l *login) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if l.ask != nil {
		return l.ask.Authorize(ctx, req, resp)
	}
	resp.Body.Close()
	return errLogin
}

// kept is the login that is kept of the server; without a token if there is none.
func (r *runner) kept() (k kept, err error) {
	if r.opts.Tokens == nil {
		return k, nil
	}
	text, err := r.opts.Tokens.Load(tokenKey(r.server))
	if err != nil || text == "" {
		return k, err
	}
	if json.Unmarshal([]byte(text), &k) != nil {
		return kept{}, nil // as good as none; the decoder's error would quote it
	}
	return k, nil
}

func (r *runner) keepLogin(k kept) error {
	if r.opts.Tokens == nil {
		return errors.New("there is no place to keep it")
	}
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return r.opts.Tokens.Keep(tokenKey(r.server), string(text))
}

// renewing keeps each token that comes in the place of an old one.
type renewing struct {
	runner *runner

	mu     sync.Mutex
	last   kept
	source oauth2.TokenSource
}

func (s *renewing) use(k kept) {
	cfg := &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: k.Style}}
	s.last, s.source = k, cfg.TokenSource(context.Background(), k.Token)
}

// Token implements [oauth2.TokenSource].
func (s *renewing) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.source.Token()
	if err != nil {
		// Another window may have renewed it.
		if k, again := s.runner.kept(); again == nil && k.Token != nil && k.Token.AccessToken != s.last.Token.AccessToken {
			s.use(k)
			t, err = s.source.Token()
		}
	}
	if err != nil {
		// What the server answered may quote what it was sent.
		return nil, fmt.Errorf("%w again: the one that is kept could not be renewed", errLogin)
	}
	if t.AccessToken != s.last.Token.AccessToken {
		s.last.Token = t
		if err := s.runner.keepLogin(s.last); err != nil {
			s.runner.log.line(fmt.Sprintf("(the renewed login could not be kept: %v)", err))
		}
	}
	return t, nil
}

// login does the flow with the user, by connecting once.
func (r *runner) login(ctx context.Context, show func(address string)) error {
	if r.server.Transport != HTTP || r.server.Problem != "" {
		return errors.New("only servers behind HTTP have logins")
	}
	back, err := listenForCode(r.server.OAuth.CallbackPort)
	if err != nil {
		return err
	}
	defer back.close()
	u, err := url.Parse(r.server.URL)
	if err != nil {
		return err
	}
	life, cut := context.WithCancel(ctx)
	defer cut()
	ask, err := auth.NewAuthorizationCodeHandler(r.codeHandler(back, show, webClient(life, Server{CallTime: askTime}, "", &r.log, r.keepLong)))
	if err != nil {
		return err
	}
	handler := r.oauth(ask)
	if handler == nil {
		return errors.New("its file has an Authorization header already")
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "banyan", Title: "Banyan", Version: r.opts.Version}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: r.server.URL, HTTPClient: webClient(life, r.server, u.Host, &r.log, r.keepLong), OAuthHandler: handler, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return errors.New(reason(err))
	}
	_ = session.Close()
	if source, err := ask.TokenSource(ctx); err == nil && source == nil {
		return errors.New("it asks for none")
	}
	return nil
}

// codeHandler says to the SDK's flow who we are and how the user is asked.
func (r *runner) codeHandler(back *redirect, show func(string), client *http.Client) *auth.AuthorizationCodeHandlerConfig {
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if u, err := url.Parse(args.URL); err == nil {
				back.state.Store(u.Query().Get("state"))
			}
			show(args.URL)
			return back.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			k := kept{cfg.ClientID, cfg.ClientSecret, cfg.Endpoint.TokenURL, cfg.Endpoint.AuthStyle, token}
			source := &renewing{runner: r}
			source.use(k)
			return source, r.keepLogin(k)
		},
	}
	if id := r.server.OAuth.ClientID; id != "" {
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if secret := r.server.OAuth.ClientSecret; secret != "" {
			cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
		return cfg
	}
	cfg.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "Banyan", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}}
	return cfg
}

// redirect is where the user's browser brings the code: a server on this machine
// for one request.
type redirect struct {
	url    string
	server *http.Server
	state  atomic.Value // string: what it must bring along; any page can call us
	got    chan *auth.AuthorizationResult
	ended  chan struct{}
}

func listenForCode(port int) (*redirect, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the answer of the browser: %w", err)
	}
	r := &redirect{
		url: "http://" + listener.Addr().String() + "/callback",
		got: make(chan *auth.AuthorizationResult, 1), ended: make(chan struct{}),
	}
	r.server = &http.Server{Handler: http.HandlerFunc(r.callback), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.ended)
		_ = r.server.Serve(listener) // until close
	}()
	return r, nil
}

func (r *redirect) callback(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/callback" {
		http.NotFound(w, req)
		return
	}
	q := req.URL.Query()
	if q.Get("code") == "" && q.Get("error") == "" || q.Get("state") == "" || q.Get("state") != r.state.Load() {
		http.Error(w, "This is not the answer that is waited for.", http.StatusBadRequest)
		return
	}
	select {
	case r.got <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
	default: // there is one already
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "Thank you. You can close this page and go back to the terminal.")
}

// wait gives what the browser brought.
func (r *redirect) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case got := <-r.got:
		if got.Code == "" {
			return nil, errors.New("the login was refused")
		}
		return got, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *redirect) close() {
	// What the browser is being told is let through.
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	<-r.ended
}
