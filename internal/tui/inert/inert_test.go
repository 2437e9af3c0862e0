package inert

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// checkInert fails if text could do anything to a terminal but be seen.
func checkInert(t interface {
	Helper()
	Errorf(string, ...any)
}, in, out string, oneLine bool,
) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%q gives what is not UTF-8: %q", in, out)
	}
	marks := 0
	for _, r := range out {
		switch {
		case r == '\n' && !oneLine, r == '\t' && !oneLine:
		case unicode.IsControl(r):
			t.Errorf("%q gives control %U in %q", in, r, out)
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
			t.Errorf("%q gives bidi control %U", in, r)
		case r >= 0xE0000 && r <= 0xE0FFF, r == 0x200B, r == 0x2060, r == 0xFEFF, r == 0xAD, r == 0x2028, r == 0x2029:
			t.Errorf("%q gives hidden %U", in, r)
		}
		if unicode.In(r, unicode.Mn, unicode.Me) && (r < 0xFE00 || r > 0xFE0F) {
			if marks++; marks > maxMarks {
				t.Errorf("%.40q gives a pile of marks", in)
				return
			}
		} else {
			marks = 0
		}
	}
	again := Text(out)
	if oneLine {
		again = Line(out)
	}
	if again != out {
		t.Errorf("%q is not left alone the second time: %q, then %q", in, out, again)
	}
}

// payloads are what is known to be done to terminals, and what becomes of it.
var payloads = []struct{ name, in, want string }{
	{"OSC 52 BEL", "\x1b]52;c;aGk=\a", "␛]52;c;aGk=␇"},
	{"OSC 52 ST", "\x1b]52;c;aGk=\x1b\\", "␛]52;c;aGk=␛\\"},
	{"OSC 52 C1 ST", "\x1b]52;c;aGk=\u009c", "␛]52;c;aGk=⟨U+009C⟩"},
	{"OSC 52 read", "\x1b]52;c;?\a", "␛]52;c;?␇"},
	{"title 0", "\x1b]0;pwned\a", "␛]0;pwned␇"},
	{"title 1", "\x1b]1;pwned\a", "␛]1;pwned␇"},
	{"title 2", "\x1b]2;pwned\a", "␛]2;pwned␇"},
	{"palette query", "\x1b]4;1;?\a", "␛]4;1;?␇"},
	{"colour query", "\x1b]10;?\a\x1b]11;?\a\x1b]12;?\a", "␛]10;?␇␛]11;?␇␛]12;?␇"},
	{"OSC 7", "\x1b]7;file:///etc\a", "␛]7;file:///etc␇"},
	{"OSC 8 http", "\x1b]8;;http://a\x1b\\b\x1b]8;;\x1b\\", "␛]8;;http://a␛\\b␛]8;;␛\\"},
	{"OSC 8 file", "\x1b]8;;file:///etc/passwd\x1b\\b", "␛]8;;file:///etc/passwd␛\\b"},
	{"OSC 8 javascript", "\x1b]8;;javascript:1\x1b\\b", "␛]8;;javascript:1␛\\b"},
	{"OSC 8 long", "\x1b]8;;" + strings.Repeat("a", 10_000), "␛]8;;" + strings.Repeat("a", 10_000)},
	{"OSC 9", "\x1b]9;hi\a", "␛]9;hi␇"},
	{"OSC 50", "\x1b]50;?\a", "␛]50;?␇"},
	{"OSC 133", "\x1b]133;A\a", "␛]133;A␇"},
	{"OSC 777", "\x1b]777;notify;a;b\a", "␛]777;notify;a;b␇"},
	{"OSC 1337 File", "\x1b]1337;File=inline=1:AA\a", "␛]1337;File=inline=1:AA␇"},
	{"OSC 1337 SetUserVar", "\x1b]1337;SetUserVar=a=b\a", "␛]1337;SetUserVar=a=b␇"},
	{"OSC 1337 Copy", "\x1b]1337;Copy=:AA\a", "␛]1337;Copy=:AA␇"},
	{"OSC 5522", "\x1b]5522;type=read\a", "␛]5522;type=read␇"},
	{"DCS sixel", "\x1bPq#0;2;0;0;0\x1b\\", "␛Pq#0;2;0;0;0␛\\"},
	{"DECRQSS", "\x1bP$q\"p\x1b\\", "␛P$q\"p␛\\"},
	{"XTGETTCAP", "\x1bP+q544e\x1b\\", "␛P+q544e␛\\"},
	{"tmux pass-through", "\x1bPtmux;\x1b\x1b]52;c;aGk=\a\x1b\\", "␛Ptmux;␛␛]52;c;aGk=␇␛\\"},
	{"DCS without end", "\x1bPq\nnext", "␛Pq\nnext"},
	{"kitty graphics", "\x1b_Ga=T;AA\x1b\\", "␛_Ga=T;AA␛\\"},
	{"PM", "\x1b^x\x1b\\", "␛^x␛\\"},
	{"SOS", "\x1bXx\x1b\\", "␛Xx␛\\"},
	{"CSI home", "\x1b[H", "␛[H"},
	{"CSI up", "\x1b[999A", "␛[999A"},
	{"CSI clear", "\x1b[2J\x1b[3J", "␛[2J␛[3J"},
	{"alternate screen", "\x1b[?1049h", "␛[?1049h"},
	{"mouse", "\x1b[?1000h\x1b[?1003h\x1b[?1006h", "␛[?1000h␛[?1003h␛[?1006h"},
	{"paste mode off", "\x1b[?2004l", "␛[?2004l"},
	{"DA and DSR", "\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n", "␛[c␛[>c␛[=c␛[5n␛[6n"},
	{"title report, resize", "\x1b[21t\x1b[8;1;1t", "␛[21t␛[8;1;1t"},
	{"REP", "a\x1b[9999b", "a␛[9999b"},
	{"kitty keyboard", "\x1b[>31u", "␛[>31u"},
	{"cursor style, region, insert", "\x1b[5 q\x1b[1;2r\x1b[4h", "␛[5 q␛[1;2r␛[4h"},
	{"RIS", "\x1bc", "␛c"},
	{"DECALN", "\x1b#8", "␛#8"},
	{"charsets", "\x0e\x0f\x1b(0", "␎␏␛(0"},
	{"raw C1", "\x9b31m\x9d52;c;?\x9c\x90q", "\uFFFD31m\uFFFD52;c;?\uFFFD\uFFFDq"},
	{"C1 as UTF-8", "\u009b31m\u009d\u0090", "⟨U+009B⟩31m⟨U+009D⟩⟨U+0090⟩"},
	{"BEL flood", "\a\a\a", "␇␇␇"},
	{"BS overstrike", "rm\b\bls", "rm␈␈ls"},
	{"CR overwrite", "rm -rf /\rls", "rm -rf /␍ls"},
	{"VT FF NEL LS PS", "\v\f\u0085\u2028\u2029", "␋␌⟨U+0085⟩⟨U+2028⟩⟨U+2029⟩"},
	{"DEL NUL", "\x7f\x00", "␡␀"},
	{"SGR conceal", "\x1b[8mx\x1b[30;40my", "␛[8mx␛[30;40my"},
	{"RLO", "\u202etxt.exe", "⟨U+202E⟩txt.exe"},
	{"RLI, PDI", "\u2067a\u2069", "⟨U+2067⟩a⟨U+2069⟩"},
	{"ALM", "\u061c", "⟨U+061C⟩"},
	{"zero width", "a\u200bb\u200cc\u200dd\u2060e\u00adf\ufeffg", "a⟨U+200B⟩b⟨U+200C⟩c⟨U+200D⟩d⟨U+2060⟩e⟨U+00AD⟩f⟨U+FEFF⟩g"},
	{"tags", "a\U000E0068\U000E0069", "a⟨U+E0068⟩⟨U+E0069⟩"},
	{"variation selectors", "a\ufe0f❤\ufe0f\ufe0f\U000E0100", "a⟨U+FE0F⟩❤\ufe0f⟨U+FE0F⟩⟨U+E0100⟩"},
	{"combining pile", "a" + strings.Repeat("\u0301", 10_000), "a" + strings.Repeat("\u0301", 8) + "⟨9992 more marks⟩"},
	{"mark on nothing", "\u0301a\n\u0302", "◌\u0301a\n◌\u0302"},
	{"lone ESC", "a\x1b", "a␛"},
	{"paste end", "a\x1b[201~b", "a␛[201~b"},
	{"no characters", "a\ufffe\ufdd0", "a⟨U+FFFE⟩⟨U+FDD0⟩"},
	{"Hangul filler", "a\u3164b", "a⟨U+3164⟩b"},
	{"1 MB without space", strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20)},
}

func TestPayloads(t *testing.T) {
	for _, p := range payloads {
		if got := Text(p.in); got != p.want {
			t.Errorf("%s: got %.80q, want %.80q", p.name, got, p.want)
		}
		checkInert(t, p.in, Text(p.in), false)
		checkInert(t, p.in, Line(p.in), true)
		checkInert(t, p.in, Output(p.in), false)
		for i := range min(len(p.in), 200) { // split over two deltas: what stands there after each
			checkInert(t, p.in[:i], Text(p.in[:i]), false)
		}
	}
}

// What people write stays as it is.
func TestTextStays(t *testing.T) {
	for _, s := range []string{
		"", "plain\n\ttext", "Größe, naïve, Ελληνικά, Русский", "日本語のテキスト", "한국어",
		"👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪 1️⃣ ❤️ ☎︎", "cafe\u0301 Z\u0351\u036b", "العربية", "עברית",
		"می\u200cخواهم", "क्\u200dष", "├── └─ │ ▌ ✓", "\ue0b0 nerd font",
	} {
		if got := Text(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	s := strings.Repeat("clean text with ümläuts and 日本\n", 100)
	if n := testing.AllocsPerRun(100, func() { Text(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLineAndTitle(t *testing.T) {
	if got := Line("a\tb\r\nc\n"); got != "a⇥b⏎c⏎" {
		t.Errorf("line: %q", got)
	}
	tests := map[string]string{
		"plain":                  "plain",
		"a\x1b]0;b\a\u202e ü\nc": "a]0;b ? c",
		strings.Repeat("x", 200): strings.Repeat("x", TitleLen),
		"  日本 ":                  "??",
	}
	for in, want := range tests {
		if got := Title(in); got != want {
			t.Errorf("title of %q: %q, want %q", in, got, want)
		}
	}
}

func TestOutput(t *testing.T) {
	tests := map[string]string{
		"\x1b[1;31mred\x1b[0m":                     "red",
		"\x1b]0;title\aok":                         "ok",
		"\x1b]8;;http://a\x1b\\b\x1b]8;;\x1b\\":    "b",
		"10%\r50%\r100%\r\ndone\r":                 "10%\n50%\n100%\ndone",
		"\x1b(Bx\x1b=y":                            "xy",
		"\x1b]52;c;never ends\nrm -rf":             "␛]52;c;never ends\nrm -rf",
		"\x1bP" + strings.Repeat("a", 5000) + "\a": "␛P" + strings.Repeat("a", 5000) + "␇",
		"cut \x1b[3":                               "cut ␛[3",
		"\x1b\x1b[31mx":                            "␛x",
	}
	for in, want := range tests {
		if got := Output(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// nasty are strings of the runes that matter.
func nasty() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune(
		"ab \n\t\r\x1b\a]52;[m\\\x00\x7f\u009b\u009c\u202e\u2066\u200b\u200c\u200d\ufe0f\ufe0e\u0301\u0351\u0903क्षمی👩💻🏽❤1#\U000E0041\U000E0100界\u3164\u2028\ufeff\u034f")))
}

func TestAlwaysInert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nasty().Draw(t, "s")
		checkInert(t, s, Text(s), false)
		checkInert(t, s, Line(s), true)
		checkInert(t, s, Output(s), false)
	})
}

func FuzzInert(f *testing.F) {
	for _, p := range payloads[:60] {
		f.Add(p.in[:min(len(p.in), 200)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkInert(t, s, Text(s), false)
		checkInert(t, s, Line(s), true)
		checkInert(t, s, Output(s), false)
		if title := Title(s); len(title) > TitleLen || strings.IndexFunc(title, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Errorf("title %q", title)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": strings.Repeat("clean ascii text of a usual kind\n", 600),
		"mixed": strings.Repeat("日本 ümläut — “quoted” ✓ 👩‍💻\n", 400),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}
