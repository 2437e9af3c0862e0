package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tui/inert/inerttest"
)

// escapes are the attacks.
var escapes = inerttest.Attacks()

// label is how an attack is known on the screen: E07.
func label(i int) string { return fmt.Sprintf("E%02d", i) }

// cases are the attacks to try: every one for the proof, some as a test.
func cases() (list []int) {
	for i := 0; i < len(escapes); i += times(6, 1, 1) {
		list = append(list, i)
	}
	return list
}

// text is all attacks, each made by one in a paragraph of its own.
func text(one func(i int) string) string {
	var b strings.Builder
	for _, i := range cases() {
		fmt.Fprintf(&b, "%s\n\n", one(i))
	}
	return b.String()
}

// place is somewhere that text of others is shown.
type place struct {
	name string
	most int // bytes of an attack; 0: all
	// show runs the program until all labels were on the screen.
	show func(t *testing.T, one func(i int) string) *terminal
}

var places = []place{
	{"answer", 1500, func(t *testing.T, one func(int) string) *terminal {
		return said(t, llmtest.Part{Text: text(one)})
	}},
	{"thinking", 1500, func(t *testing.T, one func(int) string) *terminal {
		return said(t, llmtest.Part{Thinking: text(one), Signature: "s"}, llmtest.Part{Text: "done"})
	}},
	{"tool output", 100, func(t *testing.T, one func(int) string) *terminal {
		return called(t, "bash", `{"command":"cat attack.txt"}`, func(h home) { h.write(t, "attack.txt", text(one)) })
	}},
	{"file content", 300, func(t *testing.T, one func(int) string) *terminal {
		return called(t, "read", `{"path":"attack.txt"}`, func(h home) {
			h.write(t, "attack.txt", strings.ReplaceAll(strings.ToValidUTF8(text(one), ""), "\x00", ""))
		})
	}},
	{"file name", 200, func(t *testing.T, one func(int) string) *terminal {
		return called(t, "ls", `{"path":"files"}`, func(h home) {
			for _, i := range cases() {
				h.write(t, "files/"+strings.NewReplacer("/", "|", "\x00", "").Replace(one(i)), "")
			}
		})
	}},
	{"approval", 300, func(t *testing.T, one func(int) string) *terminal {
		args, err := json.Marshal(map[string]string{"command": "echo '" + strings.ReplaceAll(text(one), "'", "") + "'"})
		if err != nil {
			t.Fatal(err)
		}
		tm := ask(t, newHome(t), llmtest.Part{Call: &llmtest.WireCall{ID: "toolu_1", Name: "bash", Args: string(args)}})
		tm.see("May this run?")
		tm.seeLabels()
		return tm
	}},
	{"branch", 24, shownBranch},
	{"model", 100, shownModels},
	{"error", 300, shownErrors},
	{"title", 100, shownTitles},
}

// tall is a screen that shows all attacks at once.
var tall = launch{cols: 200, rows: 500}

// The attacks in all places, in the whole program on a real pseudo-terminal: of
// what is written to the terminal every control sequence is one that the program
// makes when it shows harmless text, and every character is a visible one.
func TestTextIsInert(t *testing.T) {
	written := 0
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			show := func(attack bool) []byte {
				tm := p.show(t, func(i int) string {
					if !attack {
						return label(i) + " harmless"
					}
					e := escapes[i]
					if p.most > 0 {
						e = e[:min(len(e), p.most)]
					}
					// The label at the end is for places where a carriage
					// return takes what is before it away.
					return label(i) + " " + e + " " + label(i)
				})
				tm.cmd.Process.Signal(os.Interrupt)
				tm.end()
				return tm.written()
			}
			known := sequences(show(false))
			raw := show(true)
			written += len(raw)
			for _, bad := range forbidden(raw, known) {
				t.Error(bad)
			}
		})
	}
	t.Logf("%d attacks in %d places: 0 forbidden bytes in %d kB written to the terminal", len(cases()), len(places), written>>10)
}

func (h home) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(h.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// seeLabels waits until all labels are on the screen.
func (tm *terminal) seeLabels() {
	tm.t.Helper()
	for _, i := range cases() {
		tm.see(label(i))
	}
}

// ask starts a chat with a provider that gives one answer, and says "done" from
// then on.
func ask(t *testing.T, h home, parts ...llmtest.Part) *terminal {
	t.Helper()
	var d llmtest.Anthropic
	server := llmtest.NewServer(t, d,
		llmtest.Stream(d.Frames(llmtest.Reply{Piece: 3, Parts: parts})...),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "done"}}})...))
	l := tall
	l.env = anthropicEnv(server.URL)
	l.args = []string{"go"}
	return h.launch(t, l)
}

func said(t *testing.T, parts ...llmtest.Part) *terminal {
	tm := ask(t, newHome(t), parts...)
	tm.send("\x14") // Ctrl+T: thinking is shown
	tm.seeLabels()
	return tm
}

func called(t *testing.T, name, args string, prepare func(home)) *terminal {
	h := newHome(t)
	prepare(h)
	var d llmtest.Anthropic
	server := llmtest.NewServer(t, d,
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Call: &llmtest.WireCall{ID: "toolu_1", Name: name, Args: args}}}})...),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "all of it was read"}}})...))
	l := tall
	l.env = anthropicEnv(server.URL)
	l.args = []string{"--dangerously-skip-permissions", "go"}
	tm := h.launch(t, l)
	tm.see("all of it was read")
	tm.send("\x0f") // Ctrl+O: results are shown whole
	tm.seeLabels()
	return tm
}

// shownBranch checks out one branch after the other; the screen looks for the
// branch's name after each turn.
func shownBranch(t *testing.T, one func(int) string) *terminal {
	h := newHome(t)
	h.write(t, ".git/HEAD", "ref: refs/heads/main\n")
	tm := h.launch(t, launch{cols: 200, rows: 40, args: []string{"--offline"}})
	tm.see("main")
	for _, i := range cases() {
		h.write(t, ".git/HEAD", "ref: refs/heads/"+one(i)+"\n")
		tm.send("list ." + enter)
		tm.see(label(i))
	}
	return tm
}

// shownModels names models.
func shownModels(t *testing.T, one func(int) string) *terminal {
	h := newHome(t)
	type model struct {
		ID string `json:"id"`
	}
	var models []model
	for _, i := range cases() {
		models = append(models, model{one(i)})
	}
	data, err := json.Marshal(map[string]any{"providers": map[string]any{"mine": map[string]any{
		"protocol": "chat", "baseURL": "http://127.0.0.1:1/v1", "key": "k", "models": models,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(h.dir, ".config", "banyan")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "models.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	tm := h.launch(t, tall)
	tm.see("Ask, or /")
	tm.send("/model" + enter)
	tm.walk()
	return tm
}

// walk goes through a list until all labels were on the screen.
func (tm *terminal) walk() {
	tm.t.Helper()
	for _, i := range cases() {
		tm.see(label(i))
		tm.send("\x1b[B")
	}
}

// shownErrors lets the provider refuse one prompt after the other.
func shownErrors(t *testing.T, one func(int) string) *terminal {
	var d llmtest.Anthropic
	var plays []llmtest.Play
	for _, i := range cases() {
		plays = append(plays, llmtest.Status(http.StatusBadRequest, "application/json", d.ErrorBody(llmtest.BadRequest, one(i))))
	}
	server := llmtest.NewServer(t, d, plays...)
	tm := newHome(t).launch(t, launch{cols: 200, rows: 40, env: anthropicEnv(server.URL)})
	tm.see("Ask, or /")
	for _, i := range cases() {
		tm.send("go" + enter)
		tm.see(label(i))
	}
	return tm
}

// shownTitles names sessions.
func shownTitles(t *testing.T, one func(int) string) *terminal {
	h := newHome(t)
	dir := session.Dir(filepath.Join(h.dir, ".local/share/banyan/sessions"), h.work)
	for _, i := range slices.Backward(cases()) {
		m, err := session.New(dir, h.work, session.Options{})
		if err == nil {
			_, err = m.AppendAll(session.Info{Name: one(i)}, session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: one(i)}}}})
		}
		if err == nil {
			err = m.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l := tall
	l.args = []string{"-c"}
	tm := h.launch(t, l)
	tm.see(label(cases()[0]))
	tm.send("/resume" + enter)
	tm.walk()
	return tm
}

// sequences are the control sequences in what was written, and how often.
func sequences(raw []byte) map[string]int {
	found := map[string]int{}
	for seq, control := range split(raw) {
		if control {
			found[seq]++
		}
	}
	return found
}

// split cuts what was written into control sequences and the text between.
func split(raw []byte) func(yield func(seq string, control bool) bool) {
	return func(yield func(string, bool) bool) {
		state := byte(0)
		for len(raw) > 0 {
			seq, width, n, next := ansi.DecodeSequence(raw, state, nil)
			if !yield(string(seq), width == 0 && (seq[0] < ' ' || seq[0] == 0x7f || seq[0] >= 0x80 && seq[0] < 0xa0)) {
				return
			}
			raw, state = raw[n:], next
		}
	}
}

var (
	moves    = regexp.MustCompile(`^(?:\x1b\[([0-9]*)(?:;([0-9]*))?[A-HJKPX@LMSTdr]|\x1bM|[\r\n\t\x08])$`)
	styles   = regexp.MustCompile(`^\x1b\[([0-9;:]*)m$`)
	ours     = regexp.MustCompile(`^(?:\x1b\]2;[ -~]{0,80}\a|\x1b\]9;4;[0-9](;[0-9]+)?\a|\x1b\]8;;(?:https?://[!-~]+)?\a)$`)
	toggles  = regexp.MustCompile(`^\x1b\[\?(25|2026)[hl]$`)
	noStyles = []string{"5", "6", "8"} // blink, conceal
)

// forbidden says what of the bytes that were written the program does not write
// when the text that it shows is harmless.
func forbidden(raw []byte, known map[string]int) (bad []string) {
	var attacks strings.Builder
	for _, e := range escapes {
		attacks.WriteString(e)
		attacks.WriteString("\x18") // CAN ends what is not ended
	}
	theirs := sequences([]byte(attacks.String()))
	found := sequences(raw)
	for _, seq := range slices.Sorted(maps.Keys(found)) {
		switch {
		case theirs[seq] > 0 && known[seq] == 0 && !moves.MatchString(seq), !within(seq, tall.rows):
			bad = append(bad, fmt.Sprintf("%.60q is of an attack", seq))
		case moves.MatchString(seq), toggles.MatchString(seq) && known[seq] > 0, ours.MatchString(seq), plain(seq):
		case found[seq] > known[seq]:
			bad = append(bad, fmt.Sprintf("%.60q is written %d times, with harmless text %d times", seq, found[seq], known[seq]))
		}
	}
	marks := 0
	for seq, control := range split(raw) {
		if control {
			continue
		}
		if !utf8.ValidString(seq) {
			bad = append(bad, fmt.Sprintf("%.60q is not UTF-8", seq))
		}
		for _, r := range seq {
			if unicode.In(r, unicode.Mn, unicode.Me) {
				if marks++; marks > 8 {
					return append(bad, "a pile of marks")
				}
				continue
			}
			marks = 0
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 || r == 0x3164 || r == 0x115f {
				bad = append(bad, fmt.Sprintf("%U in %.60q", r, seq))
			}
		}
	}
	return bad
}

// within says whether a movement stays on the screen.
func within(seq string, most int) bool {
	m := moves.FindStringSubmatch(seq)
	for _, n := range m[min(1, len(m)):] {
		if v, _ := strconv.Atoi(n); v > most {
			return false
		}
	}
	return true
}

// plain says whether a sequence is a style that hides nothing.
func plain(seq string) bool {
	m := styles.FindStringSubmatch(seq)
	if m == nil || len(m[1]) > 60 {
		return false
	}
	params := strings.Split(m[1], ";")
	for i := 0; i < len(params); i++ {
		p := params[i]
		if (p == "38" || p == "48" || p == "58") && i+1 < len(params) { // a colour follows
			i += map[string]int{"5": 2, "2": 4}[params[i+1]]
			continue
		}
		if n, _ := strconv.Atoi(p); slices.Contains(noStyles, p) || n >= 30 && n <= 37 || n >= 40 && n <= 47 || n >= 90 {
			return false
		}
	}
	return true
}
