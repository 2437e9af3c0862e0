package highlight

import (
	"io/fs"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every language of the table has rules that load and know a keyword or two.
func TestEveryLanguageLoads(t *testing.T) {
	for lang := range names {
		if lang != "go" && load(lang) == nil {
			t.Errorf("%s does not load", lang)
		}
	}
	entries, err := fs.ReadDir(files, "lexers")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if names[strings.TrimSuffix(e.Name(), ".xml")] == "" {
			t.Errorf("%s is in no language's row", e.Name())
		}
	}
}

func TestKinds(t *testing.T) {
	tests := []struct{ lang, code, want string }{
		{"go", "func f() string { return \"a\" } // x", "Keyword func|Function f|Type string|Keyword return|String \"a\"|Comment // x"},
		{"golang", "`raw\nstring` + 'x' * 0x1F", "String `raw|String string`|Operator +|String 'x'|Operator *|Number 0x1F"},
		{"python", "def f():\n    return 1", "Keyword def|Function f|Keyword return|Number 1"},
		{"ts", "const a: number = 1", "Keyword const|Type number|Operator =|Number 1"},
		{"json", `{"a": true}`, `Markup "a"|Constant true`},
		{"rust", "let x = 1;", "Keyword let|Operator =|Number 1"},
		{"sh", "echo $HOME # c", "Function echo|Variable $HOME|Comment # c"},
		{"html", "<style>a{color:red}</style>", "Markup style"},
		{"makefile", "all:\n\tgo test", "Function all"},
		{"dockerfile", "RUN go build", "Keyword RUN"},
		{"diff", "+a\n-b", "Added +a|Removed -b"},
		{"nonsense", "func", ""},
	}
	for _, tt := range tests {
		var got []string
		for i, line := range Lines(Lang(tt.lang), tt.code) {
			text := strings.Split(tt.code, "\n")[i]
			for _, r := range line {
				if r.Kind != Plain {
					got = append(got, kindNames[r.Kind]+" "+text[:r.Len])
				}
				text = text[r.Len:]
			}
		}
		if s := strings.Join(got, "|"); !strings.HasPrefix(s, tt.want) || tt.want == "" && s != "" {
			t.Errorf("%s: %q\ngot  %s\nwant %s", tt.lang, tt.code, s, tt.want)
		}
	}
}

var kindNames = map[Kind]string{
	Keyword: "Keyword", Type: "Type", Function: "Function", String: "String", Number: "Number", Comment: "Comment",
	Operator: "Operator", Constant: "Constant", Variable: "Variable", Markup: "Markup", Added: "Added", Removed: "Removed",
	Heading: "Heading", Strong: "Strong",
}

func TestLangOf(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.go": "go", "Makefile": "makefile", "Dockerfile.dev": "dockerfile", ".bashrc": "bash",
		"x.TSX": "typescript", "README.md": "markdown", "noext": "", "a.unknown": "",
	} {
		if got := LangOf(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// Runs cover every byte of every line, whatever the code is.
func TestRunsCover(t *testing.T) {
	langs := make([]string, 0, len(names))
	for l := range names {
		langs = append(langs, l)
	}
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom(langs).Draw(t, "lang")
		code := rapid.StringOf(rapid.SampledFrom([]rune("ab1 \n\t\"'`/*#<>{}()$é界-+=:\\"))).Draw(t, "code")
		lines := Lines(lang, code)
		texts := strings.Split(code, "\n")
		if len(lines) != len(texts) {
			t.Fatalf("%d lines, want %d", len(lines), len(texts))
		}
		for i, line := range lines {
			n := 0
			for _, r := range line {
				n += r.Len
			}
			if n != len(texts[i]) {
				t.Fatalf("line %d: runs of %d bytes for %q", i, n, texts[i])
			}
		}
	})
}

func Benchmark(b *testing.B) {
	code := map[string]string{
		"go":     "func (m *Manager) Append(d Data) (Entry, error) {\n\treturn m.log.Append(\"x\", 12) // why\n}\n\n",
		"python": "def append(self, data: Data) -> Entry:\n    return self.log.append(\"x\", 12)  # why\n\n",
		"ts":     "append(data: Data): Entry {\n  return this.log.append(\"x\", 12); // why\n}\n\n",
		"bash":   "for f in *.go; do\n  gofmt -w \"$f\" || exit 1 # why\ndone\n\n",
		"json":   "{\"append\": {\"data\": [1, 2, true], \"why\": \"x\"}},\n",
		"rust":   "fn append(&mut self, data: Data) -> Result<Entry> {\n    self.log.append(\"x\", 12) // why\n}\n\n",
	}
	for lang, piece := range code {
		text := strings.Repeat(piece, 10_000/len(piece))
		b.Run(lang, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Lines(Lang(lang), text)
			}
		})
	}
}
