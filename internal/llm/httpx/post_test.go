package httpx

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPost(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	res, err := Post(t.Context(), srv.Client(), srv.URL+"/a?b=c", map[string]string{"n": "<&>"},
		map[string]string{"X-Key": "ours", "X-Other": "1"}, map[string]string{"x-key": "the user's", "User-Agent": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got.Method != "POST" || got.URL.String() != "/a?b=c" || strings.TrimSpace(string(body)) != `{"n":"<&>"}` {
		t.Errorf("%s %s %s", got.Method, got.URL, body)
	}
	for name, want := range map[string]string{
		"X-Key": "the user's", "X-Other": "1", "User-Agent": "mine", "Content-Type": JSON, "Accept": EventStream,
	} {
		if v := got.Header.Values(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
	for _, address := range []string{"http://host:port/v1", "://", "http://a b/"} {
		if _, err := Post(t.Context(), srv.Client(), address, nil); err == nil || !strings.Contains(err.Error(), "the base URL") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := Post(t.Context(), srv.Client(), srv.URL, func() {}); err == nil {
		t.Error("a function was sent as JSON")
	}
}

// One member of another type than was promised takes nothing else with it.
func TestDecode(t *testing.T) {
	type event struct {
		A    string
		N    int
		List []struct{ B string }
		Text Text
	}
	for data, want := range map[string]event{
		`{"a":"x","n":1,"list":[{"b":"y"}],"text":"z"}`: {"x", 1, []struct{ B string }{{"y"}}, "z"},
		`{"a":5,"n":"1","list":{},"text":"z"}`:          {Text: "z"},
		`{"n":1.5,"a":"x"}`:                             {A: "x"},
		`{"list":[{"b":[]},{"b":"y"}],"a":"x"}`:         {A: "x", List: []struct{ B string }{{}, {"y"}}},
		`{"text":{"a": 1}}`:                             {Text: `{"a": 1}`},
		`{"text":12}`:                                   {Text: "12"},
		`{"text":null,"a":null,"list":null}`:            {},
	} {
		var got event
		if err := Decode([]byte(data), &got); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if got.A != want.A || got.N != want.N || got.Text != want.Text || len(got.List) != len(want.List) || len(got.List) > 0 && got.List[len(got.List)-1] != want.List[len(want.List)-1] {
			t.Errorf("%s: %+v, want %+v", data, got, want)
		}
	}
	for _, data := range []string{`[]`, `5`, `"x"`, `{"a":`, `{} {}`, ``} {
		if err := Decode([]byte(data), &event{}); err == nil {
			t.Errorf("%q was read", data)
		}
	}
}
