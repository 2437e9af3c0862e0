package permission

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is a simple command of a shell command whose words are all known.
type command struct {
	words []string
	// globs tells, for each word, whether an unquoted * ? or [ in it may
	// become other words.
	globs []bool
}

// commandText is a command as one line in which each word is one word again.
func commandText(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil { // a NUL byte: it cannot be in a command
			q = fmt.Sprintf("%q", w)
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " ")
}

// parseShell parses as the very shell does that will run it.
func parseShell(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// understand takes a shell command apart into simple commands. It fails, with
// the reason, for all that it does not know to be simple: what is not on the
// list is refused.
func understand(text string) ([]command, error) {
	for _, r := range text {
		switch {
		case r < ' ' && r != '\t':
			return nil, errors.New("it has several lines or control characters")
		case r > '~':
			return nil, errors.New("it has characters that are not plain ASCII")
		}
	}
	file, err := parseShell(text)
	if err != nil {
		return nil, fmt.Errorf("it is not well formed: %w", err)
	}
	if len(file.Stmts) == 0 {
		return nil, errors.New("it is empty")
	}
	var commands []command
	for _, stmt := range file.Stmts {
		more, err := simple(stmt)
		if err != nil {
			return nil, err
		}
		if commands = append(commands, more...); len(commands) > maxCommands {
			return nil, fmt.Errorf("it has more than %d commands", maxCommands)
		}
	}
	return commands, nil
}

// maxCommands is how many commands are judged one by one; more are asked for.
const maxCommands = 200

// simple takes a statement apart. The tree of && || | is walked with a list of
// its own: its depth is up to whoever wrote the command.
func simple(stmt *syntax.Stmt) ([]command, error) {
	var commands []command
	for todo := []*syntax.Stmt{stmt}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.Background || s.Coprocess || s.Disown {
			return nil, errors.New("it leaves a command running in the background")
		}
		if s.Negated {
			return nil, errors.New("it has a ! before a command")
		}
		for _, r := range s.Redirs {
			if !harmlessRedirect(r) {
				return nil, errors.New("it redirects input or output")
			}
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && c.Op != syntax.Pipe {
				return nil, fmt.Errorf("it has a %s", c.Op)
			}
			todo = append(todo, c.Y, c.X)
		case *syntax.CallExpr:
			cmd, err := plain(c)
			if err != nil {
				return nil, err
			}
			commands = append(commands, cmd)
		default:
			return nil, errors.New("it is more than commands joined by && || ; and |")
		}
	}
	return commands, nil
}

// harmlessRedirect tells whether a redirection only throws output away or joins
// the error output to it: 2>&1, >/dev/null, 2>/dev/null, &>/dev/null,
// </dev/null. They touch no file, and commands are full of them.
func harmlessRedirect(r *syntax.Redirect) bool {
	if r.Hdoc != nil || r.Word == nil || r.N != nil && r.N.Value != "1" && r.N.Value != "2" && r.N.Value != "0" {
		return false
	}
	switch target := r.Word.Lit(); r.Op {
	case syntax.DplOut:
		return target == "1" || target == "2"
	case syntax.RdrOut, syntax.RdrAll, syntax.RdrIn:
		return target == "/dev/null"
	}
	return false
}

// plain reads a command whose words are literal.
func plain(c *syntax.CallExpr) (command, error) {
	var cmd command
	if len(c.Assigns) > 0 {
		return cmd, errors.New("it sets variables")
	}
	for i, word := range c.Args {
		text, glob, err := plainWord(word)
		if err != nil {
			return cmd, err
		}
		// The name of a program is one bare word: nothing to be misread.
		if i == 0 && (word.Lit() == "" || glob || strings.Trim(text, programChars) != "") {
			return cmd, fmt.Errorf("the program's name, %s, is not a plain word", text)
		}
		cmd.words = append(cmd.words, text)
		cmd.globs = append(cmd.globs, glob)
	}
	return cmd, nil
}

const programChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/"

// plainWord is a word's text, if nothing in it is expanded but, perhaps, a file
// name pattern.
func plainWord(word *syntax.Word) (text string, glob bool, err error) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i := strings.IndexAny(p.Value, "\\{}$`"); i >= 0 {
				return "", false, fmt.Errorf("it has a %q outside of quotes", p.Value[i])
			}
			if strings.HasPrefix(p.Value, "~") || strings.Contains(p.Value, "=~") || strings.Contains(p.Value, ":~") {
				return "", false, errors.New("it has a ~ that stands for a folder")
			}
			glob = glob || strings.ContainsAny(p.Value, "*?[")
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false, errors.New("it has a $'…'")
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false, errors.New(`it has a $"…"`)
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false, errors.New("it has a variable or a command in quotes")
				}
				if hasEscape(lit.Value) {
					return "", false, errors.New("it has a backslash in double quotes")
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false, errors.New("it has a variable, a command or a pattern in a word")
		}
	}
	return b.String(), glob, nil
}

// hasEscape tells whether a text in double quotes has a backslash that the shell
// takes away.
func hasEscape(text string) bool {
	for i := range len(text) {
		if text[i] == '\\' && (i+1 == len(text) || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			return true
		}
	}
	return false
}

// mentioned are all commands that a shell command may run, as far as can be
// seen, wherever they stand: in substitutions, functions, behind wrappers, in
// strings that are handed to a shell. It is for rules that deny and ask, which
// must not be got round by writing the same thing in another way; what cannot
// be seen is not understood either, and asks.
func mentioned(text string) [][]string {
	var found [][]string
	seen := map[string]bool{}
	for texts := []string{text}; len(texts) > 0; {
		file, err := parseShell(texts[0])
		texts = texts[1:]
		if err != nil {
			continue
		}
		syntax.Walk(file, func(node syntax.Node) bool {
			if r, ok := node.(*syntax.Redirect); ok && r.Word != nil { // the file counts, whatever the command
				found = append(found, []string{"", looseWord(r.Word)})
			}
			call, ok := node.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			words := make([]string, len(call.Args))
			for i, w := range call.Args {
				words[i] = looseWord(w)
			}
			found = append(found, unwrap(words)...)
			for _, w := range words[1:] {
				if isWrapper(baseName(words[0])) && strings.ContainsAny(w, " \t\n") && !seen[w] {
					seen[w] = true
					texts = append(texts, w)
				}
			}
			return true
		})
	}
	return found
}

// looseWord is what a word most likely is, without its quotes and backslashes.
func looseWord(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}

// unwrap is a command, also by its program's bare name, and every command that
// it may run if it is a wrapper: which of a wrapper's words begins the inner
// command is not worked out, each may.
func unwrap(words []string) [][]string {
	commands := [][]string{words}
	name := baseName(words[0])
	if name != words[0] {
		commands = append(commands, append([]string{name}, words[1:]...))
	}
	if !isWrapper(name) {
		return commands
	}
	for i := 1; i < len(words); i++ {
		commands = append(commands, words[i:])
		if inner := baseName(words[i]); inner != words[i] {
			commands = append(commands, append([]string{inner}, words[i+1:]...))
		}
	}
	return commands
}

func baseName(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }
