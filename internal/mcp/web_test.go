package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"banyan/internal/config"
	"banyan/internal/tool"
)

// behind is a server behind HTTP, as a file has it.
func behind(name, address, more string) config.MCPServer {
	return config.MCPServer{Name: name, JSON: []byte(fmt.Sprintf(`{"url": %q%s}`, address, more)), Source: config.Source{Scope: config.User}}
}

func streamable() http.Handler {
	s := goodServer()
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

func TestStreamableHTTP(t *testing.T) {
	var mu sync.Mutex
	var without int
	handler := streamable()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "s3cret" {
			mu.Lock()
			without++
			mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	t.Setenv("SERVER_KEY", "s3cret")
	w := newWorld(t)
	w.begin(behind("web", server.URL, `, "headers": {"X-Key": "${SERVER_KEY}"}`))
	s := w.phase("web", Ready)
	if len(s.Tools) != 7 || len(s.Prompts) != 1 {
		t.Errorf("%+v", s)
	}
	if r := w.call(context.Background(), "web", "echo", `{"text":"over HTTP"}`, nil); text(r.Content) != "over HTTP" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := w.call(ctx, "web", "work", `{}`, func(v tool.View) {
		if strings.HasPrefix(v.(tool.Plain).Text, "3 of 10") {
			cancel()
		}
	})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "interrupted") {
		t.Errorf("%+v", r)
	}
	w.call(context.Background(), "web", "grow", `{"text":"newcomer"}`, nil)
	w.await("web", "told of the newcomer", func(s State) bool { return len(s.Held()) == 1 })
	w.Close()
	if without > 0 {
		t.Errorf("%d requests without their header", without)
	}
}

func TestSSE(t *testing.T) {
	s := goodServer()
	server := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil))
	w := newWorld(t)
	w.begin(behind("web", server.URL, `, "type": "sse"`))
	if r := w.call(context.Background(), "web", "echo", `{"text":"by events"}`, nil); text(r.Content) != "by events" {
		t.Errorf("%+v", r)
	}
	w.Close()
	server.Close()
}

func TestBadWebServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not found": {http.NotFound, "Not Found"},
		"fails":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of cheese", 500) }, "Internal Server Error"},
		"not MCP":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") }, ""},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed that the client goes
			<-r.Context().Done()
		}, "not ready within 500ms"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "not ready within 500ms"},
		"wants a login": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "login"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			w := newWorld(t)
			w.begin(behind("web", server.URL, `, "startup_timeout_sec": 0.5`))
			s, err := w.State("web")
			if err != nil || s.Phase != Failed && s.Phase != NeedsLogin || !strings.Contains(s.Why, c.want) || (c.want == "login") != (s.Phase == NeedsLogin) {
				t.Errorf("%+v, %v", s, err)
			}
			if told := w.notices(); len(told) != 1 {
				t.Errorf("told %q", told)
			}
			w.Close()
			server.CloseClientConnections()
			server.Close()
		})
	}
}

func TestHugeAnswerOverHTTP(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m message
				_ = json.NewDecoder(r.Body).Decode(&m)
				reply := func(format string, args ...any) {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, format, args...)
				}
				switch m.Method {
				case "initialize":
					reply(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"0"}}}`, m.ID)
				case "tools/list":
					reply(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}}`, m.ID)
				case "tools/call":
					w.Header().Set("Content-Type", kind)
					if kind != "application/json" {
						fmt.Fprint(w, "event: message\ndata: ")
					}
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
					for range 20 {
						_, _ = io.WriteString(w, strings.Repeat("y", 1<<20))
					}
					fmt.Fprint(w, `"}]}}`+"\n\n")
				default:
					if m.ID == nil {
						w.WriteHeader(http.StatusAccepted)
						return
					}
					reply(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
				}
			}))
			defer server.Close()
			w := newWorld(t)
			w.begin(behind("web", server.URL, ""))
			r := w.call(context.Background(), "web", "go", `{}`, nil)
			if got := text(r.Content); r.Err != nil || !strings.Contains(got, "the result has 21 MB") || !strings.Contains(got, "yyyy") {
				t.Errorf("%.300s, %v", got, r.Err)
			}
			w.Close()
		})
	}
}

// authority is an authorization server with a resource behind it: tokens work
// once each, so that they must be renewed.
type authority struct {
	*httptest.Server
	mu         sync.Mutex
	challenge  string
	registered int
	issued     []string // access tokens
	seconds    int      // that a token lasts
	revoked    bool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{seconds: 3600}
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	handler := streamable()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !a.valid(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, a.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		say(w, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		say(w, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var m map[string]any
		_ = json.NewDecoder(r.Body).Decode(&m)
		a.mu.Lock()
		a.registered++
		a.mu.Unlock()
		m["client_id"] = "client-1"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(m)
	})
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		token, ok := a.token(r)
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			say(w, map[string]string{"error": "invalid_grant"})
			return
		}
		say(w, token)
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Server.Close)
	return a
}

func (a *authority) valid(token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return token != "" && len(a.issued) > 0 && token == a.issued[len(a.issued)-1]
}

// authorize is where the user's browser is sent; this user says yes at once.
func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	a.challenge = q.Get("code_challenge")
	a.mu.Unlock()
	back := url.Values{"code": {"code-1"}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(r *http.Request) (map[string]any, bool) {
	_ = r.ParseForm()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if r.Form.Get("code") != "code-1" || base64.RawURLEncoding.EncodeToString(sum[:]) != a.challenge || r.Form.Get("resource") == "" {
			return nil, false
		}
	case "refresh_token":
		if a.revoked || r.Form.Get("refresh_token") != fmt.Sprintf("renew-%d", len(a.issued)) || r.Form.Get("client_id") != "client-1" {
			return nil, false
		}
	}
	a.issued = append(a.issued, fmt.Sprintf("access-%d", len(a.issued)+1))
	return map[string]any{
		"access_token": a.issued[len(a.issued)-1], "token_type": "Bearer", "expires_in": a.seconds, "refresh_token": fmt.Sprintf("renew-%d", len(a.issued)),
	}, true
}

// The whole flow over loopback: no login, the browser, the token that is kept and
// renewed, and its end. The browser is an HTTP client here.
func TestOAuth(t *testing.T) {
	a := newAuthority(t)
	a.seconds = 1 // too old as soon as it is there
	w := newWorld(t)
	c := behind("web", a.URL+"/mcp", "")
	w.begin(c)
	w.phase("web", NeedsLogin)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	browser := func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		// A page that guesses where we listen gets nothing.
		if resp, err := http.Get(u.Query().Get("redirect_uri") + "?code=evil&state=guessed"); err != nil || resp.StatusCode != 400 {
			t.Errorf("%v, %v", resp, err)
		}
		resp, err := http.Get(address)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("the browser: %v, %v", resp, err)
		}
	}
	if err := w.Login(ctx, "web", browser); err != nil {
		t.Fatal(err)
	}
	w.phase("web", Ready)
	for range 2 {
		time.Sleep(20 * time.Millisecond)
		if r := w.call(ctx, "web", "echo", `{"text":"logged in"}`, nil); text(r.Content) != "logged in" {
			t.Fatalf("%+v", r)
		}
	}
	a.mu.Lock()
	if a.registered != 1 || len(a.issued) < 2 {
		t.Errorf("%d registrations, tokens %v", a.registered, a.issued)
	}
	a.seconds = 3600
	a.mu.Unlock()

	// The program is started again: what is kept does, and was renewed.
	w.host(Options{})
	w.begin(c)
	w.phase("web", Ready)
	for _, secret := range []string{"access-", "renew-"} {
		if log, _ := w.Log("web"); strings.Contains(log+fmt.Sprint(w.notices()), secret) {
			t.Errorf("%s is in the log or in a notice", secret)
		}
	}

	// The server takes it back.
	a.mu.Lock()
	a.revoked = true
	a.issued = append(a.issued, "another")
	a.mu.Unlock()
	w.host(Options{})
	w.begin(c)
	w.phase("web", NeedsLogin)
	if err := w.Logout("web"); err != nil {
		t.Fatal(err)
	}
	if w.tokens.kept[tokenKey(Server{URL: a.URL + "/mcp"})] != "" {
		t.Error("it is still kept")
	}
	w.Close()
}

func TestOfflineStartsNothingElsewhere(t *testing.T) {
	w := newWorld(t)
	w.host(Options{Offline: true})
	w.begin(behind("web", "http://127.0.0.1:1", ""), program(t, "here", "good"))
	w.phase("web", Skipped)
	w.phase("here", Ready)
}
