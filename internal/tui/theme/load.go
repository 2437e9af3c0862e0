package theme

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

//go:embed themes/*.json
var shipped embed.FS

// DefaultName is the theme for a background that is dark or not known to be light.
const DefaultName = "dark"

// file is a theme as it is written.
type file struct {
	// Extends names a shipped theme for what this one does not say.
	Extends string            `json:"extends"`
	Dark    *bool             `json:"dark"`
	Colors  map[string]string `json:"colors"` // names for colours
	Styles  map[string]string `json:"styles"` // by field of Theme
}

// Names are the shipped themes, sorted.
func Names() []string {
	entries, err := fs.ReadDir(shipped, "themes")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load reads a theme: a shipped one by name, or the user's by the path of its
// file, which ends in .json. An empty name is [DefaultName]. Where there are but
// sixteen colours every shipped theme is the one made for them, because only the
// terminal's user knows how these look. With an error comes the default theme,
// so that there is always something to draw with.
func Load(name string, p Profile) (Theme, error) {
	if name == "" {
		name = DefaultName
	}
	t, err := load(name, p)
	if err != nil {
		t, _ = load(DefaultName, p)
		return t, fmt.Errorf("theme %s: %w", name, err)
	}
	return t, nil
}

// Must is a shipped theme. It is for tests and for what cannot fail.
func Must(name string, p Profile) Theme {
	t, err := Load(name, p)
	if err != nil {
		panic(err)
	}
	return t
}

func load(name string, p Profile) (Theme, error) {
	f, err := read(name)
	if err != nil {
		return Theme{}, err
	}
	if p == ANSI16 && filepath.Ext(name) != ".json" {
		dark := f.Dark
		if f, err = readShipped("ansi16"); err != nil {
			return Theme{}, err
		}
		f.Dark = dark
	}
	for f.Extends != "" {
		base, err := readShipped(f.Extends)
		if err != nil {
			return Theme{}, err
		}
		f = base.overlaid(f)
	}
	for color := range f.Colors {
		if _, ok := attrNames[color]; ok || color == "on" || color == "default" {
			return Theme{}, fmt.Errorf("a colour cannot be called %q: the word means something else in a style", color)
		}
	}
	t := Theme{Name: name, Dark: f.Dark == nil || *f.Dark, Profile: p}
	fields := reflect.ValueOf(&t).Elem()
	for key, text := range f.Styles {
		field := fields.FieldByName(fieldName(key))
		if !field.IsValid() || field.Type() != reflect.TypeFor[Style]() {
			return Theme{}, fmt.Errorf("there is no style %q", key)
		}
		s, err := parseStyle(text, p, f.Colors)
		if err != nil {
			return Theme{}, fmt.Errorf("style %q: %w", key, err)
		}
		field.Set(reflect.ValueOf(s))
	}
	return t, nil
}

// read finds and decodes a theme file.
func read(name string) (file, error) {
	if filepath.Ext(name) != ".json" {
		return readShipped(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	return decode(data)
}

func readShipped(name string) (file, error) {
	data, err := shipped.ReadFile("themes/" + name + ".json")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return file{}, fmt.Errorf("there is none of that name; shipped are %s; a theme of your own is named by its file, ending in .json", strings.Join(Names(), ", "))
	}
	if err != nil {
		return file{}, err
	}
	return decode(data)
}

func decode(data []byte) (file, error) {
	var f file
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return file{}, err
	}
	return f, nil
}

// overlaid is f with what g says put over it; it extends what f does.
func (f file) overlaid(g file) file {
	f.Colors = merged(f.Colors, g.Colors)
	f.Styles = merged(f.Styles, g.Styles)
	if g.Dark != nil {
		f.Dark = g.Dark
	}
	return f
}

func merged(below, above map[string]string) map[string]string {
	m := make(map[string]string, len(below)+len(above))
	for k, v := range below {
		m[k] = v
	}
	for k, v := range above {
		m[k] = v
	}
	return m
}

// fieldName turns "added-word" into "AddedWord". What is not in that form
// names no field.
func fieldName(key string) string {
	var b strings.Builder
	for _, word := range strings.Split(key, "-") {
		for i, r := range word {
			if i == 0 {
				r = unicode.ToUpper(r)
			}
			b.WriteRune(r)
		}
	}
	if b.String() == "Url" {
		return "URL"
	}
	return b.String()
}
