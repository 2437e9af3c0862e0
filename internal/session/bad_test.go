package session_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"banyan/internal/session"
	"banyan/internal/store"
)

// msg is a user's line.
func msg(id, parent, text string) string {
	p := "null"
	if parent != "" {
		p = fmt.Sprintf("%q", parent)
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-11-20T07:00:00.000Z","message":{"role":"user","content":%q}}`, id, p, text)
}

// chain is n user's lines, each below the one before.
func chain(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf("%08x", i-1)
		}
		lines[i] = msg(fmt.Sprintf("%08x", i), parent, fmt.Sprint("text ", i))
	}
	return lines
}

func file(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func withHeader(h string, lines ...string) string { return file(append([]string{h}, lines...)...) }

// bad is a file that something is wrong with: what opening and verifying give.
type bad struct {
	name     string
	text     string
	refused  bool     // opening fails
	readOnly bool     // it cannot be written
	entries  int      // in the tree, if opened
	context  int      // items at the leaf
	kinds    []string // kinds of problems that verify names, sorted, each once
}

// badFiles is the list of bad session files, numbered as in the fault plan.
func badFiles() []bad {
	c3 := chain(3)
	u := func(body string) string {
		return `{"type":"message","id":"x","parentId":"00000002","timestamp":"2026-11-20T07:00:00.000Z",` + body + `}`
	}
	call := func(id, parent, callID string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-11-20T07:00:00.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"n","arguments":{}}],"stopReason":"toolUse"}}`, id, parent, callID)
	}
	result := func(id, parent, callID string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-11-20T07:00:00.000Z","message":{"role":"toolResult","toolCallId":%q,"toolName":"n","content":[]}}`, id, parent, callID)
	}
	compaction := func(id, parent, kept string) string {
		return fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,"timestamp":"2026-11-20T07:00:00.000Z","summary":"s","firstKeptEntryId":%q,"tokensBefore":1}`, id, parent, kept)
	}
	timed := func(ts string) string {
		return `{"type":"message","id":"x","parentId":"00000002","timestamp":` + ts + `,"message":{"role":"user","content":"t"}}`
	}
	torn := withHeader(header, c3...)
	return []bad{
		{name: "1 empty", refused: true, kinds: []string{"not-a-session"}},
		{name: "2 only a line end", text: "\n", refused: true, kinds: []string{"not-a-session"}},
		{name: "3 only a BOM", text: "\ufeff", refused: true, kinds: []string{"not-a-session"}},
		{name: "4 header only", text: file(header)},
		{name: "5 header without line end", text: header},
		{name: "6 torn at the first byte", text: torn + c3[0][:1], entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "6 torn in the head", text: torn + c3[0][:30], entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "6 torn in a string", text: torn + c3[0][:len(c3[0])-6], entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "6 torn before the last brace", text: torn + c3[0][:len(c3[0])-1], entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "7 no last line end", text: strings.TrimSuffix(torn, "\n"), entries: 3, context: 3},
		{name: "8 cut inside a rune", text: torn + "{\"type\":\"é"[:10], entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "9 cut inside an escape", text: torn + `{"type":"\uD8`, entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "10 no header", text: file(c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header"}},
		{name: "11 header not first", text: file(c3[0], header, c3[1]), readOnly: true, entries: 2, context: 2, kinds: []string{"header", "second-header"}},
		{name: "12 two headers", text: withHeader(header, c3[0], header, c3[1]), entries: 2, context: 2, kinds: []string{"second-header"}},
		{name: "13 header cut at its front", text: withHeader(header[9:], c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header", "unreadable-line"}},
		{name: "14 version 0", text: withHeader(strings.Replace(header, ":3,", ":0,", 1), c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header"}},
		{name: "15 version as a string", text: withHeader(strings.Replace(header, ":3,", `:"3",`, 1), c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header"}},
		{name: "16 version 99", text: withHeader(strings.Replace(header, ":3,", ":99,", 1), c3...), readOnly: true, entries: 3, context: 3},
		{name: "17 version -1", text: withHeader(strings.Replace(header, ":3,", ":-1,", 1), c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header"}},
		{name: "18 version 1e400", text: withHeader(strings.Replace(header, ":3,", ":1e400,", 1), c3...), readOnly: true, entries: 3, context: 3},
		{name: "19 header without id", text: withHeader(strings.Replace(header, `"id":"the-session",`, "", 1), c3...), readOnly: true, entries: 3, context: 3, kinds: []string{"header"}},
		{name: "20 no cwd", text: withHeader(strings.Replace(header, `,"cwd":"/w"`, "", 1), c3...), entries: 3, context: 3},
		{name: "21 cwd with NUL and ESC", text: withHeader(strings.Replace(header, `"/w"`, `"/\u0000\u001b[31m"`, 1), c3...), entries: 3, context: 3},
		{name: "24 version 1 with ids", text: withHeader(strings.Replace(header, `"version":3,`, "", 1), c3...), entries: 3, context: 3},
		{name: "25 null", text: withHeader(header, c3[0], "null", c3[1]), entries: 2, context: 2, kinds: []string{"unreadable-line"}},
		{name: "26 number", text: withHeader(header, c3[0], "42", c3[1]), entries: 2, context: 2, kinds: []string{"unreadable-line"}},
		{name: "27 string", text: withHeader(header, c3[0], `"x"`, c3[1]), entries: 2, context: 2, kinds: []string{"unreadable-line"}},
		{name: "28 array", text: withHeader(header, c3[0], "[]", c3[1]), entries: 2, context: 2, kinds: []string{"unreadable-line"}},
		{name: "29 empty object", text: withHeader(header, c3[0], "{}", c3[1]), entries: 2, context: 2, kinds: []string{"no-id"}},
		{name: "30 true", text: withHeader(header, c3[0], "true", c3[1]), entries: 2, context: 2, kinds: []string{"unreadable-line"}},
		{name: "31 message without message", text: torn + file(u(`"x":1`)), entries: 4, context: 3, kinds: []string{"undecodable"}},
		{name: "32 message null", text: torn + file(u(`"message":null`)), entries: 4, context: 3, kinds: []string{"undecodable"}},
		{name: "33 content a number", text: torn + file(u(`"message":{"role":"user","content":7}`)), entries: 4, context: 3, kinds: []string{"undecodable"}},
		{name: "33 content null", text: torn + file(u(`"message":{"role":"user","content":null}`)), entries: 4, context: 4},
		{name: "33 content too deep", text: torn + file(u(`"message":{"role":"user","content":`+strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)+`}`)), entries: 4, context: 3, kinds: []string{"unreadable-line"}},
		{name: "34 unknown type", text: torn + file(`{"type":"new","id":"x","parentId":"00000002","timestamp":"2026-11-20T07:00:00.000Z"}`), entries: 4, context: 3},
		{name: "35 unknown role", text: torn + file(u(`"message":{"role":"oracle"}`)), entries: 4, context: 3},
		{name: "36 no id", text: torn + file(`{"type":"message","parentId":"00000002","message":{"role":"user","content":"x"}}`), entries: 3, context: 3, kinds: []string{"no-id"}},
		{name: "37 empty id", text: torn + file(msg("", "00000002", "x")), entries: 3, context: 3, kinds: []string{"no-id"}},
		{name: "38 id a number", text: torn + file(`{"type":"message","id":7,"parentId":"00000002","message":{"role":"user","content":"x"}}`), entries: 3, context: 3, kinds: []string{"no-id"}},
		{name: "39 id of 1 MB", text: torn + file(msg(strings.Repeat("i", 1<<20), "00000002", "x")), entries: 4, context: 4},
		{name: "40 id with ESC and RTL", text: torn + file(strings.Replace(msg("@", "00000002", "x"), "@", `\u001b[31m\u202e`, 1)), entries: 4, context: 4},
		{name: "41 duplicate id", text: torn + file(msg("00000000", "00000002", "x"), msg("x", "00000000", "y")), entries: 5, context: 5, kinds: []string{"duplicate-id"}},
		{name: "41 the same line twice", text: torn + file(c3[2], msg("x", "00000002", "y")), entries: 4, context: 4, kinds: []string{"repeated-line"}},
		{name: "42 id of the header", text: torn + file(msg("the-session", "00000002", "x")), entries: 4, context: 4},
		{name: "43 duplicate key", text: torn + file(`{"type":"message","id":"x","id":"y","parentId":"00000002","timestamp":"2026-11-20T07:00:00.000Z","message":{"role":"user","content":"t"}}`), entries: 4, context: 4},
		{name: "44 keys in capitals", text: torn + file(`{"type":"message","ID":"x","ParentId":"00000002","message":{"role":"user","content":"t"}}`), entries: 3, context: 3, kinds: []string{"no-id"}},
		{name: "45 unknown parent", text: torn + file(msg("x", "nobody", "t")), entries: 4, context: 1, kinds: []string{"orphan"}},
		{name: "46 parent later", text: torn + file(msg("x", "y", "t"), msg("y", "00000002", "t")), entries: 5, context: 4, kinds: []string{"orphan"}},
		{name: "47 own parent", text: torn + file(msg("x", "x", "t")), entries: 4, context: 1, kinds: []string{"orphan"}},
		{name: "48 cycle of 2", text: torn + file(msg("x", "y", "t"), msg("y", "x", "t")), entries: 5, context: 2, kinds: []string{"orphan"}},
		{name: "49 cycle of 1,000", text: withHeader(header, append([]string{msg("00000000", "000003e7", "t")}, chain(1000)[1:]...)...), entries: 1000, context: 1000, kinds: []string{"orphan"}},
		{name: "50 all orphans", text: withHeader(header, msg("a", "z", "t"), msg("b", "y", "t"), msg("c", "x", "t")), entries: 3, context: 1, kinds: []string{"orphan"}},
		{name: "51 1,000 roots", text: withHeader(header, roots(1000)...), entries: 1000, context: 1},
		{name: "54 label of nothing", text: torn + file(`{"type":"label","id":"l","parentId":"00000002","timestamp":"2026-11-20T07:00:00.000Z","targetId":"nobody","label":"x"}`), entries: 4, context: 3, kinds: []string{"label-target"}},
		{name: "55 first kept missing", text: torn + file(compaction("c", "00000002", "nobody")), entries: 4, context: 1, kinds: []string{"first-kept"}},
		{name: "56 first kept after", text: torn + file(compaction("c", "00000002", "d"), msg("d", "c", "t")), entries: 5, context: 2, kinds: []string{"first-kept"}},
		{name: "57 crossing compactions", text: torn + file(compaction("c", "00000002", "00000002"), compaction("d", "c", "00000001")), entries: 5, context: 3},
		{name: "58 branch summary from the root", text: withHeader(header, `{"type":"branch_summary","id":"b","parentId":null,"timestamp":"2026-11-20T07:00:00.000Z","fromId":"root","summary":"s"}`), entries: 1, context: 1},
		{name: "59 result without call", text: torn + file(result("r", "00000002", "1")), entries: 4, context: 4, kinds: []string{"tool-pairing"}},
		{name: "59 call without result", text: torn + file(call("a", "00000002", "1"), msg("x", "a", "t"), call("b", "x", "2")), entries: 6, context: 6, kinds: []string{"tool-pairing"}},
		{name: "59 two results", text: torn + file(call("a", "00000002", "1"), result("r", "a", "1"), result("s", "r", "1")), entries: 6, context: 6, kinds: []string{"tool-pairing"}},
		{name: "59 result before call", text: torn + file(result("r", "00000002", "1"), call("a", "r", "1")), entries: 5, context: 5, kinds: []string{"tool-pairing"}},
		{name: "60 byte FF", text: torn + file(msg("x", "00000002", "a")) + strings.Replace(msg("y", "x", "@"), "@", "\xff", 1) + "\n", entries: 5, context: 5, kinds: []string{"utf-8"}},
		{name: "60 overlong", text: torn + strings.Replace(msg("y", "00000002", "@"), "@", "\xc0\xaf", 1) + "\n", entries: 4, context: 4, kinds: []string{"utf-8"}},
		{name: "60 surrogate", text: torn + strings.Replace(msg("y", "00000002", "@"), "@", `\ud800`, 1) + "\n", entries: 4, context: 4},
		{name: "61 NULs in the middle", text: withHeader(header, c3[0]) + strings.Repeat("\x00", 4096) + "\n" + file(c3[1:]...), entries: 3, context: 3, kinds: []string{"unreadable-line"}},
		{name: "62 NULs at the end", text: torn + strings.Repeat("\x00", 4096), entries: 3, context: 3, kinds: []string{"torn-tail"}},
		{name: "63 CRLF", text: strings.ReplaceAll(torn, "\n", "\r\n"), entries: 3, context: 3},
		{name: "64 CR only", text: strings.ReplaceAll(torn, "\n", "\r"), refused: true, kinds: []string{"not-a-session"}},
		{name: "65 BOM", text: "\ufeff" + torn, entries: 3, context: 3},
		{name: "65 BOM in the middle", text: withHeader(header, c3[0]) + "\ufeff" + file(c3[1:]...), entries: 2, context: 2, kinds: []string{"recovered", "unreadable-line"}},
		{name: "65 UTF-16", text: utf16le(torn), refused: true, kinds: []string{"not-a-session"}},
		{name: "67 random bytes", text: noise(64 << 10), refused: true, kinds: []string{"not-a-session"}},
		{name: "67 gzip", text: gzipped(torn), refused: true, kinds: []string{"not-a-session"}},
		{name: "67 PNG", text: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + noise(1000), refused: true, kinds: []string{"not-a-session"}},
		{name: "67 SQLite", text: "SQLite format 3\x00" + noise(4080), refused: true, kinds: []string{"not-a-session"}},
		{name: "67 ELF", text: "\x7fELF\x02\x01\x01" + noise(5000), refused: true, kinds: []string{"not-a-session"}},
		{name: "68 two lines glued", text: withHeader(header, c3[0], c3[1]+c3[2], msg("x", "00000002", "t")), entries: 3, context: 2, kinds: []string{"recovered", "unreadable-line"}},
		{name: "70 no timestamp", text: torn + file(`{"type":"message","id":"x","parentId":"00000002","message":{"role":"user","content":"t"}}`), entries: 4, context: 4, kinds: []string{"timestamp"}},
		{name: "70 1970", text: torn + file(timed(`"1970-01-01T00:00:00.000Z"`)), entries: 4, context: 4},
		{name: "70 9999", text: torn + file(timed(`"9999-12-31T23:59:59.999Z"`)), entries: 4, context: 4},
		{name: "70 no date", text: torn + file(timed(`"yesterday"`)), entries: 4, context: 4, kinds: []string{"timestamp"}},
		{name: "70 a number", text: torn + file(timed("12")), entries: 4, context: 4, kinds: []string{"timestamp"}},
	}
}

func roots(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = msg(fmt.Sprint("r", i), "", "t")
	}
	return lines
}

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

// noise is bytes without any order, the same each time.
func noise(n int) string {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return string(b)
}

// TestBadFiles: each is opened or refused with a reason, verify names what is
// wrong, a mended copy is right, and no byte of the file is changed.
func TestBadFiles(t *testing.T) {
	for _, tt := range badFiles() {
		t.Run(tt.name, func(t *testing.T) {
			path := writeBytes(t, []byte(tt.text))
			m, err := session.Open(path, testOptions())
			if tt.refused {
				checkRefused(t, path, err)
			} else if err != nil {
				t.Fatal(err)
			} else {
				checkOpened(t, m, tt)
			}
			problems, err := session.Verify(path, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := problemKinds(problems); !slices.Equal(got, tt.kinds) {
				t.Errorf("verify names %v, want %v: %v", got, tt.kinds, problems)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Line > 1+strings.Count(tt.text, "\n") || p.Text == "" {
					t.Errorf("a problem without place or text: %+v", p)
				}
			}
			if now, _ := os.ReadFile(path); string(now) != tt.text {
				t.Errorf("the file was changed")
			}
			if !tt.refused {
				checkRepair(t, path, tt)
			}
			if others, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*torn*")); len(others) > 0 {
				t.Errorf("files were made: %v", others)
			}
		})
	}
}

func problemKinds(problems []session.Problem) []string {
	var kinds []string
	for _, p := range problems {
		kinds = append(kinds, p.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func checkRefused(t *testing.T, path string, err error) {
	t.Helper()
	no, ok := errors.AsType[*session.NotSessionError](err)
	if !ok || no.Path != path || no.Reason == "" || no.Hint == "" {
		t.Errorf("refused with %#v", err)
	}
}

func checkOpened(t *testing.T, m *session.Manager, tt bad) {
	t.Helper()
	s := m.Snapshot()
	if s.Len() != tt.entries || (s.ReadOnly() != "") != tt.readOnly {
		t.Errorf("%d entries, read-only %q; want %d, %v", s.Len(), s.ReadOnly(), tt.entries, tt.readOnly)
	}
	c, err := s.Context(s.Leaf())
	if err != nil || len(c.Items) != tt.context {
		t.Errorf("context of %d items (%v), want %d", len(c.Items), err, tt.context)
	}
	if err := acceptable(c.Messages()); err != nil {
		t.Error(err)
	}
	if tt.readOnly {
		if _, err := m.Append(user("x")); err == nil {
			t.Error("a read-only session took an entry")
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// checkRepair: the copy has the same conversation and nothing that stands in
// its way; what models are sent of it is the same.
func checkRepair(t *testing.T, path string, tt bad) {
	t.Helper()
	made, err := session.Repair(path, "", testOptions())
	if strings.Contains(tt.name, "version 99") || strings.Contains(tt.name, "1e400") {
		if err == nil {
			t.Error("a newer version was repaired")
		}
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	was, is := look(t, path), open(t, made.Path).Snapshot()
	if is.ReadOnly() != "" {
		t.Errorf("the copy is read-only: %s", is.ReadOnly())
	}
	if got, want := texts(t, is, is.Leaf()), texts(t, was, was.Leaf()); !slices.Equal(got, want) {
		t.Errorf("the copy's context\n got %.300q\nwant %.300q", got, want)
	}
	for _, p := range is.Problems() {
		if p.Kind != "label-target" {
			t.Errorf("the copy has the problem %+v", p)
		}
	}
}

// TestErrorsArePrintable: what a file says does not reach a terminal raw.
func TestErrorsArePrintable(t *testing.T) {
	evil := `\u001b]0;x\u0007\u202e`
	s := look(t, write(t, header, strings.ReplaceAll(msg("@1", "@0", "x"), "@", evil), strings.ReplaceAll(msg("@2", "@1", "x"), "@", evil)))
	_, err := s.Resolve("\x1b]0")
	texts := []string{err.Error()}
	for _, p := range s.Problems() {
		texts = append(texts, p.Text)
	}
	if len(texts) != 2 {
		t.Errorf("texts %q", texts)
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("raw: %q", text)
		}
	}
}

// TestBadPlaces are the entries of list A that are no text: they are answered at
// once, and listing passes over them.
func TestBadPlaces(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name+".jsonl") }
	good := withHeader(header, chain(3)...)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("good"), []byte(good), 0o600))
	must(os.WriteFile(at("wide"), []byte(good), 0o666))
	must(syscall.Mkfifo(at("fifo"), 0o600))
	must(os.Mkdir(at("folder"), 0o700))
	must(os.Symlink("/dev/zero", at("zero")))
	must(os.Symlink("/nowhere", at("dangling")))
	must(os.Symlink("/etc/passwd", at("passwd")))
	must(os.Symlink(at("good"), at("link")))
	socket, err := net.Listen("unix", at("socket"))
	must(err)
	defer socket.Close()

	for _, name := range []string{"fifo", "folder", "zero", "socket"} {
		if _, err := session.Open(at(name), testOptions()); err == nil || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"dangling", "passwd", "missing"} {
		if _, err := session.Open(at(name), testOptions()); err == nil || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	link := open(t, at("link"))
	if link.Snapshot().Len() != 3 || link.Snapshot().ReadOnly() == "" {
		t.Errorf("through a link: %d entries, read-only %q", link.Snapshot().Len(), link.Snapshot().ReadOnly())
	}
	files, err := session.List(store.Files{Dir: dir}, "", "")
	must(err)
	var names []string
	for _, f := range files {
		if f.Err == "" {
			names = append(names, strings.TrimSuffix(filepath.Base(f.Path), ".jsonl"))
		}
	}
	slices.Sort(names)
	if want := []string{"good", "link", "wide"}; !slices.Equal(names, want) {
		t.Errorf("listed %v, want %v", names, want)
	}
}

// TestPermissions: a file that may not be read is an error, one that may not be
// written is read-only. Root may do both, so as root there is nothing to see.
func TestPermissions(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read and write everything")
	}
	path := write(t, append([]string{header}, chain(3)...)...)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if m := open(t, path); m.Snapshot().ReadOnly() == "" {
		t.Error("a file that may not be written is not read-only")
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Open(path, testOptions()); err == nil || !strings.Contains(err.Error(), "permissions") {
		t.Error(err)
	}
}

// TestEveryLineDamaged: whatever happens to one line of 200, at least 199
// entries of the conversation are left, below one root.
func TestEveryLineDamaged(t *testing.T) {
	lines := append([]string{header}, chain(200)...)
	damages := map[string]func(string) string{
		"gone to NULs": func(s string) string { return strings.Repeat("\x00", len(s)) },
		"cut":          func(s string) string { return s[:len(s)/2] },
		"cut in front": func(s string) string { return s[len(s)/2:] },
		"no brace":     func(s string) string { return s[:len(s)-1] },
		"garbage":      func(s string) string { return noise(len(s)) },
		"bad middle":   func(s string) string { return s[:len(s)-20] + "\x00\"{[" + s[len(s)-16:] },
		"no id":        func(s string) string { return strings.Replace(s, `"id"`, `"ix"`, 1) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			for i := range lines {
				broken := slices.Clone(lines)
				broken[i] = strings.ReplaceAll(damage(broken[i]), "\n", " ")
				path := write(t, broken...)
				s := look(t, path)
				c, err := s.Context(s.Leaf())
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Items) < 199 {
					t.Errorf("line %d: %d messages left", i+1, len(c.Items))
				}
				if i%10 > 0 {
					continue
				}
				if problems, _ := session.Verify(path, session.Options{}); len(problems) == 0 {
					t.Errorf("line %d: nothing is reported", i+1)
				}
			}
		})
	}
}

// TestHugeLine: a line of 100 MB is indexed without being decoded.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	text := withHeader(header, chain(2)...) + msg("x", "00000001", strings.Repeat("a", 100<<20)) + "\n" + msg("y", "x", "after") + "\n"
	path := writeBytes(t, []byte(text))
	start := time.Now()
	s := look(t, path)
	t.Logf("opened in %v", time.Since(start))
	if s.Len() != 4 || len(s.Problems()) > 0 {
		t.Errorf("%d entries, problems %v", s.Len(), s.Problems())
	}
}

// TestManyProblems: a file that is mostly garbage has a bounded list.
func TestManyProblems(t *testing.T) {
	lines := []string{header}
	for range 5000 {
		lines = append(lines, "garbage", "")
	}
	s := look(t, write(t, append(lines, chain(1)...)...))
	problems := s.Problems()
	if len(problems) != 1001 || problems[1000].Kind != "more" || problems[999].Line != 2000 {
		t.Errorf("%d problems, last %+v", len(problems), problems[len(problems)-1])
	}
}

// TestDeepAndWide: a chain of a million entries and a node of 100,000 children.
func TestDeepAndWide(t *testing.T) {
	deep := 1_000_000
	if testing.Short() {
		deep = 50_000
	}
	const wide = 100_000
	var b bytes.Buffer
	b.WriteString(header + "\n")
	parent := "null"
	for i := range deep {
		fmt.Fprintf(&b, `{"type":"custom","id":"%08x","parentId":%s,"timestamp":"2026-11-20T07:00:00.000Z","customType":"x"}`+"\n", i, parent)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	for i := range wide {
		fmt.Fprintf(&b, `{"type":"custom","id":"w%d","parentId":"00000000","timestamp":"2026-11-20T07:00:00.000Z","customType":"x"}`+"\n", i)
	}
	s := look(t, writeBytes(t, b.Bytes()))
	last := session.ID(fmt.Sprintf("%08x", deep-1))
	if path := s.PathIDs(last); len(path) != deep || path[0] != "00000000" {
		t.Errorf("a path of %d entries, want %d", len(path), deep)
	}
	if kids := s.Children("00000000"); len(kids) != wide+1 || kids[1] != "w0" || kids[wide] != "w99999" {
		t.Errorf("%d children, want %d", len(kids), wide+1)
	}
	c, err := s.Context(last)
	if err != nil || len(c.Items) != 0 || len(s.Problems()) > 0 {
		t.Errorf("context %v, %v, problems %v", c, err, s.Problems())
	}
	rows := 0
	for row, err := range s.Rows() {
		if err != nil || row.Depth > deep {
			t.Fatal(row, err)
		}
		if rows++; rows == 1000 {
			break
		}
	}
}
