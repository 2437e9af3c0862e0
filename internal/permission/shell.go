package permission

import (
	"errors"
	"fmt"
	"slices"
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
// must not be got round by writing the same thing in another way. whole is false
// if there is more that cannot be seen: then no such rule can be said not to
// match.
func mentioned(text string) (found [][]string, whole bool) {
	m := mention{texts: []script{{text, true}}, whole: true}
	for len(m.texts) > 0 {
		m.script, m.texts = m.texts[0], m.texts[1:]
		file, err := parseShell(m.text)
		if err != nil { // bash runs the lines before the one that is wrong
			m.unseen()
			continue
		}
		syntax.Walk(file, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Redirect: // the file counts, whatever the command
				if n.Word != nil {
					m.found = append(m.found, []string{"", looseWord(n.Word)})
				}
			case *syntax.Stmt:
				if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
					m.command(call, n.Redirs)
				}
			}
			return true
		})
	}
	return m.found, m.whole
}

// mention is what mentioned has found so far, and texts that it has yet to look
// into.
type mention struct {
	script // that is looked into now
	found  [][]string
	texts  []script
	size   int // of the texts that were added, so that there is an end
	whole  bool
}

// script is a text that something may run.
type script struct {
	text  string
	shell bool // it is a shell that runs it; else it is of some other language, and only may look like a shell's
}

func (m *mention) unseen() { m.whole = m.whole && !m.shell }

func (m *mention) command(call *syntax.CallExpr, redirs []*syntax.Redirect) {
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		words[i] = looseWord(w)
	}
	m.found = append(m.found, unwrap(words)...)
	if !static(call.Args[0]) {
		m.unseen()
	}
	name := baseName(words[0])
	if !isWrapper(name) {
		return
	}
	for i, w := range call.Args[1:] {
		if !static(w) {
			m.unseen()
		}
		m.look(name, words[i+1])
	}
	for _, r := range redirs {
		switch {
		case r.Hdoc != nil:
			m.look(name, looseWord(r.Hdoc))
		case r.Op == syntax.WordHdoc:
			m.look(name, looseWord(r.Word))
		}
	}
}

// look notes a text that is handed to a program which may run it.
func (m *mention) look(program, text string) {
	if !strings.ContainsAny(text, " \t\n;|&") {
		return
	}
	if m.size += len(text); m.size > maxCommand {
		m.whole = false
		return
	}
	m.texts = append(m.texts, script{text, m.shell && slices.Contains(shells, program)})
}

// shells are the programs that run texts as a shell does.
var shells = []string{"bash", "sh", "dash", "zsh", "ksh", "eval", "ash", "mksh", "env", "sudo", "su", "ssh", "trap"}

// static tells whether a word is what it says: nothing in it is expanded.
func static(word *syntax.Word) bool {
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[") || strings.Contains(p.Value, "{") && strings.Contains(p.Value, "}") {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if _, ok := inner.(*syntax.Lit); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
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
