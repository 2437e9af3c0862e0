// Package inerttest is what tests of the door between foreign text and a
// terminal or a page throw at it. It is for tests only.
package inerttest

import "strings"

// Attacks are what is known to be done to terminals by those who can make a
// program show their text, one of each kind.
func Attacks() []string {
	return []string{
		"\x1b]52;c;aGk=\a", "\x1b]52;c;aGk=\x1b\\", "\x1b]52;c;aGk=\u009c", "\x1b]52;c;?\a", "\x1b]52;c;" + strings.Repeat("aGk=", 2000) + "\a", // clipboard
		"\x1b]0;pwned\a", "\x1b]1;pwned\a", "\x1b]2;pwned\x1b\\", "\x1b[21t", "\x1b[22;0t", // title
		"\x1b]4;1;?\a", "\x1b]10;?\a\x1b]11;?\x1b\\\x1b]12;?\a", "\x1b]7;file:///etc\a", "\x1b]50;?\a", // questions
		"\x1b]8;;http://a.example\x1b\\b\x1b]8;;\x1b\\", "\x1b]8;;file:///etc/passwd\x1b\\b", "\x1b]8;;javascript:1\ab", "\x1b]8;;" + strings.Repeat("u", 10_000) + "\ab", // links
		"\x1b]9;pwned\a", "\x1b]777;notify;a;b\a", "\x1b]133;A\a", // notices and marks
		"\x1b]1337;File=inline=1:AA\a", "\x1b]1337;SetUserVar=a=b\a", "\x1b]1337;Copy=:AA\a", "\x1b]5522;type=read\a", // iTerm2, kitty
		"\x1bPq#0;2;0;0;0\x1b\\", "\x1bP$q\"p\x1b\\", "\x1bP+q544e\x1b\\", "\x1bPtmux;\x1b\x1b]52;c;aGk=\a\x1b\\", "\x1bPq unterminated", // DCS
		"\x1b_Ga=T;AA\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\", // APC, PM, SOS
		"\x1b[H", "\x1b[999A", "\x1b[2J\x1b[3J", "\x1b[?1049h", "\x1b[?1000h\x1b[?1003h\x1b[?1006h", "\x1b[?2004l", "\x1b[?1004h", "\x1b[?25l", // screen and modes
		"\x1b[c\x1b[>c\x1b[=c", "\x1b[5n\x1b[6n", "\x1b[8;1;1t", "a\x1b[9999b", "\x1b[>31u", "\x1b[3 q", "\x1b[11;13r", "\x1b[4h\x1b[?1h", // reports, keyboard, regions
		"\x1bc", "\x1b#8", "\x0e\x0f\x1b(0", // reset, test picture, character sets
		"\x9b31m\x9d52;c;?\x9c\x90q", "\u009b31m\u009d0;t\u009c\u0090", // C1
		"\a\a\a", "rm\b\bls", "rm -rf /\rls       ", "\v\f\u0085\u2028\u2029", "\x7f\x00", // C0
		"\x1b[8mhidden", "\x1b[30;40mblack", "\x1b[" + strings.Repeat("1;", 1000) + "m", "\x1b[4:3;58:2::1:2:3m", "\x1b[5mblink", // SGR
		"\u202etxt.exe", "\u2067a\u2069\u2066", "\u061c", "a\u200bb\u200cc\u200dd\u2060e\u00adf\ufeffg", "a\U000E0068\U000E0069", // bidi, hidden
		"a" + strings.Repeat("\ufe0f", 100), "a" + strings.Repeat("\u0301", 10_000), "a\u3164b\u115f", // piles
		"lone\x1b", "\x1b]0;unterminated hides what follows", "a\x1b[201~b", strings.Repeat("x", 20_000),
	}
}
