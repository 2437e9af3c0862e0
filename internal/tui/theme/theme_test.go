package theme

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Every shipped theme says something about every meaning, in every profile,
// and without colours there are none.
func TestShippedThemes(t *testing.T) {
	plainOnPurpose := map[string]bool{"Text": true}
	for _, name := range Names() {
		for _, p := range []Profile{NoColor, ANSI16, ANSI256, TrueColor} {
			th, err := Load(name, p)
			if err != nil {
				t.Fatal(err)
			}
			v := reflect.ValueOf(th)
			for i := range v.NumField() {
				s, ok := v.Field(i).Interface().(Style)
				if !ok {
					continue
				}
				field := v.Type().Field(i).Name
				if p == TrueColor && s == (Style{}) && !plainOnPurpose[field] && name != "ansi16" {
					t.Errorf("%s says nothing of %s", name, field)
				}
				if p == NoColor && (s.Fg != (Color{}) || s.Bg != (Color{})) {
					t.Errorf("%s has a colour in %s without colours", name, field)
				}
				if p == ANSI16 && (s.Fg.kind == rgb || s.Bg.kind == rgb || s.Fg.r > 15 || s.Bg.r > 15) {
					t.Errorf("%s has more than 16 colours in %s", name, field)
				}
			}
		}
	}
	if got := strings.Join(Names(), " "); got != "ansi16 contrast daltonised dark light" {
		t.Errorf("shipped: %s", got)
	}
}

func TestPaint(t *testing.T) {
	tests := []struct {
		style string
		p     Profile
		want  string
	}{
		{"default", TrueColor, "x"},
		{"bold", TrueColor, "\x1b[1mx\x1b[m"},
		{"#102030 on 4", TrueColor, "\x1b[38;2;16;32;48;44mx\x1b[m"},
		{"9 italic", ANSI16, "\x1b[3;91mx\x1b[m"},
		{"#ff0000", ANSI16, "\x1b[91mx\x1b[m"},
		{"#ff0000", ANSI256, "\x1b[38;5;196mx\x1b[m"},
		{"#ff0000 strike underline", NoColor, "\x1b[4;9mx\x1b[m"},
		{"#102030|22", TrueColor, "\x1b[38;2;16;32;48mx\x1b[m"},
		{"#102030|22", ANSI256, "\x1b[38;5;22mx\x1b[m"},
		{"ink", TrueColor, "\x1b[38;2;1;2;3mx\x1b[m"},
	}
	for _, tt := range tests {
		s, err := parseStyle(tt.style, tt.p, map[string]string{"ink": "#010203"})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Paint("x"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.style, got, tt.want)
		}
	}
}

// Greys stay greys where there are 256 colours.
func TestGreysStayGrey(t *testing.T) {
	for text, want := range map[string]string{
		"#8b93a1": "\x1b[38;5;246m", "#6a7280": "\x1b[38;5;243m", "#7fc48d": "\x1b[38;5;114m", "#20252e": "\x1b[38;5;235m",
	} {
		s, err := parseStyle(text, ANSI256, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Open(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestUserTheme(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"extends":"light","colors":{"red":"#010101"},"styles":{"heading":"red bold"}}`)
	th, err := Load(path, TrueColor)
	if err != nil {
		t.Fatal(err)
	}
	if got := th.Heading.Open(); got != "\x1b[1;38;2;1;1;1m" {
		t.Errorf("heading is %q", got)
	}
	if got := th.Failure.Open(); got != "\x1b[38;2;1;1;1m" || th.Dark {
		t.Errorf("the rest is not that of light with the new red: %q", got)
	}
	bad := map[string]string{
		`{"styles":{"headline":"red"}}`:    `no style "headline"`,
		`{"styles":{"heading":"reddish"}}`: `"reddish" is not a colour`,
		`{"colors":{"bold":"#000000"}}`:    `cannot be called "bold"`,
		`{"extends":"none"}`:               "shipped are ansi16",
		`{"style":{}}`:                     "unknown field",
		`{`:                                "unexpected EOF",
	}
	for text, want := range bad {
		write(text)
		th, err := Load(path, TrueColor)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
		if th.Name != DefaultName {
			t.Errorf("%s: no theme to draw with", text)
		}
	}
}
