package transcript

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// marked shows a line with what changed in brackets.
func marked(l string, words [][2]int) string {
	var b strings.Builder
	done := 0
	for _, w := range words {
		b.WriteString(l[done:w[0]] + "[" + l[w[0]:w[1]] + "]")
		done = w[1]
	}
	return b.String() + l[done:]
}

func TestChangedWords(t *testing.T) {
	tests := []struct{ a, b, wantA, wantB string }{
		{"x := f(a)", "x := f(b)", "x := f([a])", "x := f([b])"},
		{"return e, err", "return e, nil", "return e, [err]", "return e, [nil]"},
		{"f(a)", "f(a, b)", "f(a)", "f(a[, b])"},
		{"héllo wörld", "héllo world", "héllo [wörld]", "héllo [world]"},
		{"nothing alike", "quite another thing", "nothing alike", "quite another thing"},
		{"same", "same", "same", "same"},
		{"", "new", "", "new"},
	}
	for _, tt := range tests {
		a, b := changedWords(tt.a, tt.b)
		if marked(tt.a, a) != tt.wantA || marked(tt.b, b) != tt.wantB {
			t.Errorf("%q to %q: got %q and %q", tt.a, tt.b, marked(tt.a, a), marked(tt.b, b))
		}
	}
}

// What is not marked is the same on both sides, up to blanks.
func TestUnmarkedIsCommon(t *testing.T) {
	rest := func(l string, words [][2]int) string {
		var b strings.Builder
		done := 0
		for _, w := range words {
			if w[0] < done || w[1] > len(l) || w[0] >= w[1] {
				t.Fatalf("stretch %v in %q", w, l)
			}
			b.WriteString(l[done:w[0]])
			done = w[1]
		}
		return strings.Join(strings.Fields(b.String()+l[done:]), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOf(rapid.SampledFrom([]rune("ab (),é1")))
		a, b := line.Draw(t, "a"), line.Draw(t, "b")
		inA, inB := changedWords(a, b)
		if inA == nil && inB == nil {
			return // alike, or not at all
		}
		if rest(a, inA) != rest(b, inB) {
			t.Fatalf("%q and %q", marked(a, inA), marked(b, inB))
		}
	})
}

func TestParseDiff(t *testing.T) {
	lines := parseDiff("@@ -3,2 +3,3 @@ func\n a\n-b\n+c\n+d\n@@ -20 +21 @@\n-x\n\\ No newline at end of file\n+x\n")
	var got []string
	for _, l := range lines {
		if l.Op == '@' {
			got = append(got, "@")
			continue
		}
		got = append(got, strings.TrimSpace(string(l.Op)+" ")+string(rune('0'+l.Num/10))+string(rune('0'+l.Num%10))+l.Text)
	}
	if want := "@ 03a -04b +04c +05d @ -20x +21x"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
}
