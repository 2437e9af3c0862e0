package tool

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
)

func TestFetch(t *testing.T) {
	mux := http.NewServeMux()
	serve := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		})
	}
	serve("/page", "text/html; charset=utf-8", `<html><head><title>T</title><script>bad()</script></head><body><h1>Head</h1><p>Some <b>bold</b> <a href="/x">link</a></p></body></html>`)
	serve("/plain", "text/plain", "one\x1b[31m two\n")
	serve("/json", "application/json", `{"a":1}`)
	serve("/binary", "application/octet-stream", "\x00\x01\x02")
	serve("/long", "text/plain", strings.Repeat("line\n", 5000))
	serve("/huge", "text/plain", strings.Repeat("x", maxFetch+1))
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/json", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/gone", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no such page", http.StatusNotFound) })
	server := httptest.NewServer(mux)
	defer server.Close()
	b := newBench(t)
	b.env.fetchAnywhere = true
	get := func(path string) string { return b.text("fetch", args{"url": server.URL + path}) }

	if got := get("/page"); !strings.Contains(got, "# Head\n\nSome **bold** [link]("+server.URL+"/x)") || strings.Contains(got, "bad()") {
		t.Errorf("got %q", got)
	}
	for path, want := range map[string]string{
		"/plain":  "/plain (text/plain)\n\none two\n",
		"/json":   "/json (application/json)\n\n{\"a\":1}",
		"/moved":  "/json (application/json)\n\n{\"a\":1}",
		"/binary": "/binary is binary: application/octet-stream, 3 B.",
	} {
		if got := get(path); got != server.URL+want {
			t.Errorf("%s: got %q", path, got)
		}
	}
	r := b.call("fetch", args{"url": server.URL + "/long"})
	v := r.View.(Plain)
	if v.Cut == nil || v.Cut.Lines != 5000 || !strings.Contains(textOf(r), v.Cut.Full) {
		t.Fatalf("cut %+v", v.Cut)
	}
	if data, err := os.ReadFile(v.Cut.Full); err != nil || len(data) != 25000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	b.fails("fetch", args{"url": server.URL + "/gone"}, "404", "no such page")
	b.fails("fetch", args{"url": server.URL + "/loop"}, "redirects")
	b.fails("fetch", args{"url": server.URL + "/huge"}, "larger")
	for _, bad := range []string{"file:///etc/passwd", "ftp://host/x", "javascript:x", "http://", "https://user:pass@host/"} {
		b.fails("fetch", args{"url": bad}, "")
	}
}

// Nothing of this machine is reached, whatever it is called. (A redirect dials
// through the same gate.)
func TestFetchRefusesPrivateAddresses(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	b := newBench(t)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.2.3"} {
		b.fails("fetch", args{"url": "http://" + host + ":" + port + "/"}, "refused")
	}
	if reached {
		t.Error("the server was reached")
	}
}

func TestPublic(t *testing.T) {
	for _, ip := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "255.255.255.255", "224.0.0.1",
		"::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::7f00:1", "fec0::1", "198.18.0.1",
	} {
		if public(netip.MustParseAddr(ip)) {
			t.Errorf("%s counts as public", ip)
		}
	}
	for _, ip := range []string{"1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111"} {
		if !public(netip.MustParseAddr(ip)) {
			t.Errorf("%s counts as private", ip)
		}
	}
}
