package permission

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// decideFetch judges getting a web page.
func (p *Policy) decideFetch(call Call) Verdict {
	var args struct{ URL string }
	u := &url.URL{}
	err := json.Unmarshal(call.Args, &args)
	if err == nil {
		u, err = url.Parse(args.URL)
	}
	if err != nil || u.Hostname() == "" {
		return ask("its address cannot be read")
	}
	host := u.Hostname()
	v, ruled := p.byRules("fetch", func(r Rule) bool { return r.matchesHost(host) })
	switch {
	case ruled && v.Action != Allow:
		return v
	case p.mode == Full:
		return allow("mode full allows it")
	case carriesData(u):
		return ask("the address is long enough to carry data away")
	case ruled:
		return v
	}
	return ask(fmt.Sprintf("it talks to %s", host), session("WebFetch", "domain:"+strings.ToLower(host)))
}

// carriesData tells whether an address may hold more than a question: something
// that was read here, for whoever reads there.
func carriesData(u *url.URL) bool {
	if len(u.RawQuery) > 512 || len(u.Path) > 1024 || len(u.Fragment) > 512 || len(u.Hostname()) > 100 {
		return true
	}
	run := 0
	for _, c := range u.Host + " " + u.Path + " " + u.RawQuery {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '=' || c == '%' {
			run++
		} else {
			run = 0
		}
		if run > 64 { // a word of base64 or hex
			return true
		}
	}
	return false
}
