package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"

	"banyan/internal/tui/theme"
)

// Kind is what a piece of code is.
type Kind uint8

// The kinds.
const (
	Plain Kind = iota
	Keyword
	Type
	Function
	String
	Number
	Comment
	Operator
	Constant
	Variable
	Markup
	Added
	Removed
	Heading
	Strong
)

// Style is how a theme draws the kind.
func (k Kind) Style(th theme.Theme) theme.Style {
	switch k {
	case Keyword:
		return th.Keyword
	case Type:
		return th.Type
	case Function:
		return th.Function
	case String:
		return th.String
	case Number:
		return th.Number
	case Comment:
		return th.Comment
	case Operator:
		return th.Operator
	case Constant:
		return th.Constant
	case Variable:
		return th.Variable
	case Markup:
		return th.Markup
	case Added:
		return th.Success
	case Removed:
		return th.Failure
	case Heading:
		return th.Heading
	case Strong:
		return th.Bold
	}
	return th.Block
}

// Run is a number of bytes of one kind.
type Run struct {
	Len  int
	Kind Kind
}

const (
	maxCode = 50_000 // bytes of code beyond which it is left plain: about 0.1 s of work
	maxLine = 5_000  // bytes of a line, for the rules that look back and forth in one
)

// Lines gives the runs of each line of the code, line feeds not counted. They
// cover every byte. Code in an unknown language, or too much of it, is one run a line.
func Lines(lang, code string) [][]Run {
	if lang == "go" {
		return goLines(code)
	}
	if len(code) > maxCode || longLine(code) {
		return plain(code)
	}
	lexer := load(lang)
	if lexer == nil {
		return plain(code)
	}
	tokens, ok := tokenise(lexer, code)
	if !ok {
		return plain(code)
	}
	b := builder{}
	done := 0
	for _, t := range tokens {
		value := t.Value
		if done+len(value) > len(code) { // the lexer ends the text with a line feed of its own
			value = value[:len(code)-done]
		}
		if code[done:done+len(value)] != value {
			return plain(code) // it changed the text: nothing it says can be placed
		}
		b.add(value, kindOf(t.Type))
		done += len(value)
	}
	b.add(code[done:], Plain)
	return append(b.lines, b.line)
}

// tokenise runs the rules. Rules are data of others; a fault in them leaves the
// code plain.
func tokenise(lexer chroma.Lexer, code string) (tokens []chroma.Token, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	it, err := lexer.Tokenise(nil, code)
	if err != nil {
		return nil, false
	}
	return it.Tokens(), true
}

// builder collects runs by line.
type builder struct {
	lines [][]Run
	line  []Run
}

func (b *builder) add(text string, k Kind) {
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			b.run(len(text), k)
			return
		}
		b.run(i, k)
		b.lines = append(b.lines, b.line)
		b.line = nil
		text = text[i+1:]
	}
}

func (b *builder) run(n int, k Kind) {
	if n == 0 {
		return
	}
	if last := len(b.line) - 1; last >= 0 && b.line[last].Kind == k {
		b.line[last].Len += n
		return
	}
	b.line = append(b.line, Run{n, k})
}

func plain(code string) [][]Run {
	var b builder
	b.add(code, Plain)
	return append(b.lines, b.line)
}

func longLine(code string) bool {
	for len(code) > maxLine {
		i := strings.LastIndexByte(code[:maxLine], '\n')
		if i < 0 {
			return true
		}
		code = code[i+1:]
	}
	return false
}

// kindOf maps chroma's token types to ours.
func kindOf(t chroma.TokenType) Kind {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameBuiltinPseudo:
		return Type
	case chroma.KeywordConstant, chroma.NameConstant, chroma.LiteralStringEscape, chroma.LiteralStringInterpol:
		return Constant
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameBuiltin:
		return Function
	case chroma.NameTag, chroma.NameAttribute, chroma.NameDecorator, chroma.NameProperty, chroma.NameEntity:
		return Markup
	case chroma.NameVariable, chroma.NameVariableClass, chroma.NameVariableGlobal, chroma.NameVariableInstance:
		return Variable
	case chroma.OperatorWord:
		return Keyword
	case chroma.GenericInserted:
		return Added
	case chroma.GenericDeleted:
		return Removed
	case chroma.GenericHeading, chroma.GenericSubheading:
		return Heading
	case chroma.GenericStrong:
		return Strong
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.LiteralDate:
		return Number
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Operator):
		return Operator
	}
	return Plain
}
