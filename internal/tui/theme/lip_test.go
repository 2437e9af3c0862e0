package theme

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// A text looks the same whichever of the two ways it was drawn.
func TestLipLooksTheSame(t *testing.T) {
	for _, profile := range []Profile{NoColor, ANSI16, ANSI256, TrueColor} {
		for _, text := range []string{"#7fc48d bold", "3 on 12 faint", "200 italic underline", "default strike", "reverse"} {
			s, err := parseStyle(text, profile, nil)
			if err != nil {
				t.Fatal(err)
			}
			ours, lips := vt.NewEmulator(4, 1), vt.NewEmulator(4, 1)
			ours.WriteString(s.Paint("x"))
			lips.WriteString(s.Lip().Render("x"))
			if a, b := ours.Render(), lips.Render(); a != b {
				t.Errorf("%s in profile %d: %q and %q", text, profile, a, b)
			}
			if got := ansi.Strip(s.Lip().Render("x")); got != "x" {
				t.Errorf("%s: %q", text, got)
			}
		}
	}
}
