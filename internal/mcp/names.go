package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Providers take names of at most so many bytes, of letters, digits, _ and -.
const (
	maxName       = 64
	maxServerName = 30
)

// cleanName makes a name of what providers take: other characters become _, and
// runs of it become one, so that __ stands between server and tool only. What
// has neither letter nor digit is empty.
func cleanName(name string) string {
	var b strings.Builder
	useful := false
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			useful = true
			b.WriteRune(r)
		case r == '-':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if !useful {
		return ""
	}
	return strings.Trim(b.String(), "_")
}

// cleanNames gives each of several names, which differ, a clean one of at most
// so many bytes that no other has: always the same, whatever their order. Names
// that are clean keep themselves; what is cut, and what would clash, ends in a
// part of its own hash. A name of nothing is left out.
func cleanNames(names []string, most int) map[string]string {
	count := map[string]int{}
	for _, name := range names {
		count[cleanName(name)]++
	}
	clean := map[string]string{}
	for _, name := range names {
		short := cleanName(name)
		switch {
		case short == "":
			continue
		case len(short) > most || count[short] > 1 && short != name:
			sum := sha256.Sum256([]byte(name))
			end := "_" + hex.EncodeToString(sum[:4])
			short = strings.TrimRight(short[:min(len(short), most-len(end))], "_") + end
		}
		clean[name] = short
	}
	return clean
}
