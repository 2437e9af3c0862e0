package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
)

const fetchPrompt = `Gets a public web page or file by http or https. HTML comes as Markdown, other text as it is. Long text is cut and kept in a file that is named. Addresses of this machine and of private networks are refused: use a command for those.`

const fetchSchema = `{"type":"object","additionalProperties":false,"required":["url"],"properties":{
"url":{"type":"string","minLength":8,"pattern":"^[hH][tT][tT][pP][sS]?://"}}}`

type fetchArgs struct {
	URL string `json:"url"`
}

// What a fetch may cost.
const (
	maxFetch     = 5 << 20
	maxRedirects = 5
	fetchTime    = 20 * time.Second
)

func (e *Env) fetch() Tool {
	return spec[fetchArgs]{
		name: "fetch", access: Network, prompt: fetchPrompt, schema: fetchSchema,
		run: func(ctx context.Context, a fetchArgs, _ func(View)) Result { return e.runFetch(ctx, a.URL) },
	}.tool()
}

func (e *Env) runFetch(ctx context.Context, address string) Result {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return Fail(fmt.Errorf("%q is not an address to fetch: it must be http or https, with a host and without a password", address))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Fail(err)
	}
	req.Header.Set("User-Agent", "banyan")
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json, */*;q=0.5")
	client := e.fetchClient()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return Fail(fetchError(u, err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFetch+1))
	if err != nil {
		return Fail(fetchError(u, err))
	}
	if len(body) > maxFetch {
		return Fail(fmt.Errorf("%s is larger than %s", u, bytesText(maxFetch)))
	}
	if resp.StatusCode >= 400 {
		return Fail(fmt.Errorf("%s answered %s: %s", resp.Request.URL, resp.Status, clip(strings.Join(strings.Fields(clean(body)), " "), 300)))
	}
	return e.fetched(resp, body)
}

// fetchClient is made for one fetch: it keeps no connections, cookies or
// credentials, and uses no proxy, which would look addresses up for us where we
// cannot see them.
func (e *Env) fetchClient() *http.Client {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if !e.fetchAnywhere {
		dialer.ControlContext = onlyPublic
	}
	return &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return nil
		},
	}
}

var errPrivate = errors.New("an address of this machine or of a private network")

// onlyPublic is called with each address that is about to be connected to, after
// names are resolved: whatever a name says, and however often it changes its
// mind, this is where the bytes would go.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	where, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, errPrivate)
	}
	if !public(where.Addr()) {
		return fmt.Errorf("%s is %w", where.Addr(), errPrivate)
	}
	return nil
}

// notPublic are the networks that no public host is in, besides those that
// netip knows.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT, some clouds' metadata
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("64:ff9b::/96"),    // IPv4 within IPv6, by NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),  // the same, locally
	netip.MustParsePrefix("2002::/16"),       // IPv4 within IPv6, by 6to4
	netip.MustParsePrefix("2001::/32"),       // IPv4 within IPv6, by Teredo
	netip.MustParsePrefix("fec0::/10"),       // site-local
}

func public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, net := range notPublic {
		if net.Contains(ip) {
			return false
		}
	}
	// Addresses that are IPv4 inside IPv6 without a prefix of their own.
	return ip.Is4() || !bytes.HasPrefix(ip.AsSlice(), make([]byte, 12))
}

func fetchError(u *url.URL, err error) error {
	switch {
	case errors.Is(err, errPrivate):
		return fmt.Errorf("%s is refused: it leads to %w", u, errPrivate)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v", u, fetchTime)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return fmt.Errorf("fetching %s: %w", u, err)
}

// fetched makes text of a body by its type.
func (e *Env) fetched(resp *http.Response, body []byte) Result {
	where := resp.Request.URL.String()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	var text string
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		md, err := htmltomarkdown.ConvertString(string(body), converter.WithDomain(resp.Request.URL.Scheme+"://"+resp.Request.URL.Host))
		if err != nil {
			return Fail(fmt.Errorf("reading %s as HTML: %w", where, err))
		}
		text = md
	case isBinary(body):
		return TextResult(fmt.Sprintf("%s is binary: %s, %s.", where, kind, bytesText(int64(len(body)))), nil)
	default:
		text = string(body)
	}
	head := fmt.Sprintf("%s (%s)\n\n", where, kind)
	return KeptResult(head, text, func(text string) (string, error) { return e.keep("page-*.md", text) })
}

// keep writes a text to a private file for the model to look into.
func (e *Env) keep(pattern, text string) (string, error) {
	f, err := os.CreateTemp(e.temp, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}
