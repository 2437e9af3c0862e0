package highlight

import (
	"embed"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

//go:embed lexers/*.xml
var files embed.FS

// names are what languages are called after a fence, and how files in them end,
// by the file of their rules.
var names = map[string]string{
	"bash":       "bash sh shell zsh ksh console shellsession bashrc zshrc profile",
	"c":          "c h",
	"cpp":        "cpp c++ cc cxx hpp hh hxx",
	"csharp":     "csharp c# cs",
	"css":        "css",
	"dart":       "dart",
	"diff":       "diff patch udiff",
	"dockerfile": "dockerfile docker containerfile",
	"elixir":     "elixir ex exs",
	"go":         "go golang",
	"graphql":    "graphql gql",
	"haskell":    "haskell hs",
	"html":       "html htm xhtml vue svelte",
	"ini":        "ini cfg conf properties editorconfig gitconfig service env",
	"java":       "java",
	"javascript": "javascript js mjs cjs node",
	"json":       "json jsonc json5 jsonl ndjson",
	"jsx":        "jsx react",
	"kotlin":     "kotlin kt kts",
	"lua":        "lua",
	"makefile":   "makefile make mk gnumakefile",
	"markdown":   "markdown md mdx",
	"nix":        "nix",
	"powershell": "powershell ps1 psm1 pwsh",
	"protobuf":   "protobuf proto",
	"python":     "python py pyi python3",
	"r":          "r",
	"ruby":       "ruby rb gemfile rakefile gemspec",
	"rust":       "rust rs",
	"scala":      "scala sc sbt",
	"scss":       "scss",
	"sql":        "sql sqlite postgres postgresql mysql",
	"swift":      "swift",
	"terraform":  "terraform tf hcl tfvars",
	"toml":       "toml",
	"typescript": "typescript ts mts cts tsx",
	"xml":        "xml svg xsd xsl plist csproj",
	"yaml":       "yaml yml",
	"zig":        "zig",
}

var byName = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for lang, all := range names {
		for name := range strings.FieldsSeq(all) {
			m[name] = lang
		}
	}
	return m
})

// Lang is the language that a name after a fence means ("golang", "sh"), empty
// if it is not known.
func Lang(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	return byName()[strings.ToLower(strings.Trim(name, "{}.,"))]
}

// LangOf is the language of a file by its name, empty if it is not known.
func LangOf(file string) string {
	base := strings.ToLower(path.Base(file))
	if lang, ok := byName()[strings.TrimPrefix(base, ".")]; ok {
		return lang
	}
	if stem, _, ok := strings.Cut(base, "."); ok && (stem == "dockerfile" || stem == "makefile") {
		return stem
	}
	return byName()[strings.TrimPrefix(path.Ext(base), ".")]
}

// loaded holds the rules that were needed so far. It is shared by all
// transcripts of the program, and rules are only ever added.
var loaded = struct {
	sync.Mutex
	registry *chroma.LexerRegistry
	lexers   map[string]chroma.Lexer
}{registry: chroma.NewLexerRegistry(), lexers: map[string]chroma.Lexer{}}

// load gives the rules of a language, nil if there are none.
func load(lang string) chroma.Lexer {
	if names[lang] == "" {
		return nil
	}
	loaded.Lock()
	defer loaded.Unlock()
	return loadLocked(lang)
}

// embeds finds the languages whose rules a file of rules uses within its own.
var embeds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<using lexer="([^"]+)"`) })

func loadLocked(lang string) chroma.Lexer {
	if l, ok := loaded.lexers[lang]; ok {
		return l
	}
	loaded.lexers[lang] = nil // a fault is found once
	file := "lexers/" + lang + ".xml"
	data, err := fs.ReadFile(files, file)
	if err != nil {
		return nil
	}
	lexer, err := chroma.NewXMLLexer(files, file)
	if err != nil {
		return nil
	}
	for _, m := range embeds().FindAllStringSubmatch(string(data), -1) {
		loadLocked(Lang(m[1]))
	}
	loaded.lexers[lang] = chroma.Coalesce(loaded.registry.Register(lexer))
	return loaded.lexers[lang]
}
