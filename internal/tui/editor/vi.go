package editor

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// vi is the state of vi's keys, where the user asked for them. They are the
// subset that a prompt needs: no registers but the kill ring, no search, no
// visual mode, no dot.
type vi struct {
	normal bool
	op     string // an operator that waits for its motion: "d", "c", "y"; or "g", "r"
	count  int    // what was typed before a command; 0 for nothing
}

// Normal says whether keys are vi commands now.
func (m *Model) Normal() bool { return m.vi.normal }

// Escape goes from writing to vi's commands. It says whether it did.
func (m *Model) Escape() bool {
	if !m.opts.Vi || m.vi.normal {
		pending := m.vi.op != "" || m.vi.count > 0
		m.vi.op, m.vi.count = "", 0
		return pending
	}
	m.vi = vi{normal: true}
	if m.caret.col > 0 {
		m.caret = m.previous(m.caret)
	}
	m.undo.seal()
	m.look()
	return true
}

// viKey handles a key in normal mode. It says whether the key means something.
func (m *Model) viKey(msg tea.KeyPressMsg) bool {
	key := msg.String()
	switch {
	case m.vi.op == "r":
		m.vi = vi{normal: true}
		m.viReplace(msg.Text)
		return true
	case len(key) == 1 && key >= "1" && key <= "9", key == "0" && m.vi.count > 0:
		m.vi.count = min(m.vi.count*10+int(key[0]-'0'), 9999)
		return true
	}
	if m.vi.op == "g" {
		key = "g" + key
		m.vi.op = ""
	}
	if key == "w" && m.vi.op == "c" && m.class(m.caret) != 0 {
		key = "e" // a changed word keeps the space after it
	}
	if motion, ok := viMotions[key]; ok {
		m.viMove(motion)
		return true
	}
	if m.vi.op != "" {
		m.viLines(key)
		return true
	}
	if do, ok := viCommands[key]; ok {
		do(m)
		m.viClamp()
		return true
	}
	return msg.Text != "" // letters that mean nothing write nothing either
}

// viMotion is where a motion leads, and what an operator takes with it.
type viMotion struct {
	to func(*Model) pos
	// through: the character there is part of it. lines: whole lines are.
	through, lines bool
}

var viMotions = map[string]viMotion{
	"h": {to: func(m *Model) pos { return m.inLine(m.previous(m.caret)) }}, "left": {to: func(m *Model) pos { return m.inLine(m.previous(m.caret)) }},
	"l": {to: func(m *Model) pos { return m.inLine(m.next(m.caret)) }}, "right": {to: func(m *Model) pos { return m.inLine(m.next(m.caret)) }},
	"w": {to: (*Model).viNextWord}, "b": {to: (*Model).viBack}, "e": {to: (*Model).viWordEnd, through: true},
	"0": {to: func(m *Model) pos { return pos{m.caret.line, 0} }},
	"^": {to: (*Model).viFirst}, "$": {to: func(m *Model) pos { return pos{m.caret.line, len(m.line())} }},
	"j": {to: func(m *Model) pos { return m.viLine(1) }, lines: true}, "k": {to: func(m *Model) pos { return m.viLine(-1) }, lines: true},
	"gg": {to: func(*Model) pos { return pos{} }, lines: true},
	"G":  {to: func(m *Model) pos { return pos{len(m.buf.lines) - 1, 0} }, lines: true},
}

// viMove moves, or lets the operator that waits take what lies between.
func (m *Model) viMove(motion viMotion) {
	op, from := m.vi.op, m.caret
	to := from
	for range max(1, m.vi.count) {
		m.caret = motion.to(m)
		to = m.caret
	}
	m.vi.op, m.vi.count = "", 0
	if op == "" {
		m.viClamp()
		return
	}
	if to.before(from) {
		from, to = to, from
	}
	if motion.lines {
		m.viTakeLines(op, from.line, to.line)
		return
	}
	if motion.through {
		to = m.inLineOf(from.line, m.next(to))
	}
	m.viTake(op, from, to)
}

// viLines is an operator typed twice: whole lines from the caret's on.
func (m *Model) viLines(key string) {
	op, n := m.vi.op, max(1, m.vi.count)
	m.vi.op, m.vi.count = "", 0
	if key == op {
		m.viTakeLines(op, m.caret.line, min(m.caret.line+n, len(m.buf.lines))-1)
	}
}

// viTake lets an operator take a stretch of text.
func (m *Model) viTake(op string, from, to pos) {
	if from != to {
		m.kills = append(m.kills, m.buf.slice(from, to))
	}
	m.caret = from
	if op != "y" {
		m.remove(from, to)
	}
	m.vi.normal = op != "c"
	m.viClamp()
}

// viTakeLines lets an operator take whole lines.
func (m *Model) viTakeLines(op string, first, last int) {
	from, to := pos{first, 0}, pos{last, len(m.buf.lines[last].text)}
	m.kills = append(m.kills, m.buf.slice(from, to)+"\n")
	switch {
	case op == "y":
		m.caret = from
	case op == "c":
		m.remove(from, to)
		m.vi.normal = false
	case last+1 < len(m.buf.lines):
		m.remove(from, pos{last + 1, 0})
	case first > 0:
		m.remove(pos{first - 1, len(m.buf.lines[first-1].text)}, to)
		m.caret.col = 0
	default:
		m.remove(from, to)
	}
	m.viClamp()
}

var viCommands = map[string]func(*Model){
	"i": func(m *Model) { m.vi.normal = false },
	"a": func(m *Model) { m.vi.normal = false; m.caret = m.inLine(m.next(m.caret)) },
	"I": func(m *Model) { m.vi.normal = false; m.caret = m.viFirst() },
	"A": func(m *Model) { m.vi.normal = false; m.caret.col = len(m.line()) },
	"o": func(m *Model) { m.vi.normal = false; m.caret.col = len(m.line()); m.newline() },
	"O": func(m *Model) { m.vi.normal = false; m.caret.col = 0; m.newline(); m.caret = m.previous(m.caret) },
	"d": func(m *Model) { m.vi.op = "d" }, "c": func(m *Model) { m.vi.op = "c" }, "y": func(m *Model) { m.vi.op = "y" },
	"g": func(m *Model) { m.vi.op = "g" }, "r": func(m *Model) { m.vi.op = "r" },
	"x": func(m *Model) { m.vi.op = "d"; m.viMove(viMotions["l"]) },
	"s": func(m *Model) { m.vi.op = "c"; m.viMove(viMotions["l"]) },
	"D": func(m *Model) { m.vi.op = "d"; m.viMove(viMotions["$"]) },
	"C": func(m *Model) { m.vi.op = "c"; m.viMove(viMotions["$"]) },
	"S": func(m *Model) { m.vi.op = "c"; m.viLines("c") },
	"p": func(m *Model) { m.viPut(true) }, "P": func(m *Model) { m.viPut(false) },
	"u": func(m *Model) { m.Undo() }, "ctrl+r": func(m *Model) { m.Redo() },
}

// viPut puts the newest kill after or before the caret; lines below or above its line.
func (m *Model) viPut(after bool) {
	n := len(m.kills)
	if n == 0 {
		return
	}
	text, at := m.kills[n-1], m.caret
	lines := strings.HasSuffix(text, "\n")
	switch {
	case lines && after:
		at = pos{m.caret.line, len(m.line())}
		text = "\n" + strings.TrimSuffix(text, "\n")
	case lines:
		at = pos{m.caret.line, 0}
	case after:
		at = m.inLine(m.next(m.caret))
	}
	m.edit(at, at, text, false)
	if lines {
		m.caret = pos{at.line, 0}
		if after {
			m.caret.line++
		}
	}
}

// viReplace exchanges the character under the caret.
func (m *Model) viReplace(text string) {
	if text == "" || m.caret.col == len(m.line()) {
		return
	}
	at := m.caret
	m.edit(at, m.next(at), m.admit(text), false)
	m.caret = at
}

// viClamp keeps the caret on a character in normal mode.
func (m *Model) viClamp() {
	if m.vi.normal && m.caret.col > 0 && m.caret.col >= len(m.line()) {
		m.caret.col = lastCluster(m.line())
	}
}

// inLine keeps a position in the caret's line.
func (m *Model) inLine(p pos) pos { return m.inLineOf(m.caret.line, p) }

func (m *Model) inLineOf(line int, p pos) pos {
	switch {
	case p.line < line:
		return pos{line, 0}
	case p.line > line:
		return pos{line, len(m.buf.lines[line].text)}
	}
	return p
}

func (m *Model) viLine(by int) pos {
	line := max(0, min(m.caret.line+by, len(m.buf.lines)-1))
	return pos{line, m.offset(m.buf.lines[line].text, m.cells(m.line()[:m.caret.col]))}
}

func (m *Model) viFirst() pos {
	text := m.line()
	return pos{m.caret.line, len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))}
}

// class says what a character is: vi's words are runs of one class.
func (m *Model) class(p pos) int {
	switch {
	case m.wordAt(p):
		return 1
	case m.spaceAt(p):
		return 0
	}
	return 2
}

func (m *Model) viNextWord() pos {
	p := m.caret
	for c := m.class(p); c != 0 && m.class(p) == c && p != m.buf.end(); {
		p = m.next(p)
	}
	for m.class(p) == 0 && p != m.buf.end() {
		p = m.next(p)
	}
	return p
}

func (m *Model) viBack() pos {
	p := m.previous(m.caret)
	for m.class(p) == 0 && p != (pos{}) {
		p = m.previous(p)
	}
	for p != (pos{}) && m.class(m.previous(p)) == m.class(p) {
		p = m.previous(p)
	}
	return p
}

func (m *Model) viWordEnd() pos {
	p := m.next(m.caret)
	for m.class(p) == 0 && p != m.buf.end() {
		p = m.next(p)
	}
	for q := m.next(p); q != p && m.class(q) == m.class(p); q = m.next(p) {
		p = q
	}
	return p
}
