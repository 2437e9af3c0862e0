package tool

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestViewsAreStored(t *testing.T) {
	code := 3
	cut := &Cut{Lines: 1, Bytes: 2, Full: "/x"}
	for _, v := range []View{
		Plain{},
		Plain{Text: "a\n\"b\"", Path: "p", Line: 4, Cut: cut},
		Command{},
		Command{Command: "c", Output: "o\x1b", ExitCode: &code, Signal: "s", Millis: 5, Cut: cut},
		Diff{},
		Diff{Path: "p", Diff: "+a\n", Added: 1, Removed: 2, Created: true},
		Listing{},
		Listing{Items: []Item{{Path: "p", Line: 1, Text: "t", Dir: true, Size: 9}}, Total: 7},
		Image{},
		Image{Path: "p", MIME: "image/png", Width: 1, Height: 2},
	} {
		stored := EncodeView(v)
		if !json.Valid(stored) {
			t.Errorf("%#v is stored as %s", v, stored)
		}
		if got := DecodeView(stored); !reflect.DeepEqual(got, v) {
			t.Errorf("%#v comes back as %#v", v, got)
		}
	}
	if EncodeView(nil) != nil {
		t.Error("nil is stored as something")
	}
	for _, bad := range []string{"", "{", "null", "[]", `{"view":"hologram"}`, `{"view":"diff","added":"many"}`, `{"view":7}`} {
		if v := DecodeView(json.RawMessage(bad)); v != nil {
			t.Errorf("%s is read as %#v", bad, v)
		}
	}
}
