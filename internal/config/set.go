package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set changes one setting in a file of settings and leaves everything else as
// it stands, comments and spaces too. path is as in the files, with dots; value
// is as JSON would have it, and nil takes the setting away. The file is replaced
// atomically, with mode 0600, behind a link if it is one; a missing file is made.
// Of two programs that change it at once, the later one wins.
//
// The error says what the setting takes, or why the file cannot be changed; the
// file is then as it was.
func Set(file, path string, value any) error {
	f, name, ok := match(path)
	if !ok {
		return fmt.Errorf("set %s: there is no such setting%s", path, unknown(outline(), path))
	}
	var encoded []byte
	if value != nil {
		var err error
		if encoded, err = json.Marshal(value); err != nil {
			return fmt.Errorf("set %s: %w", path, err)
		}
		if _, err := f.put(scratch(), name, encoded, Source{Scope: User}); err != nil {
			return fmt.Errorf("set %s: %w", path, err)
		}
	}
	file, text, err := readForChange(file)
	if err != nil {
		return fmt.Errorf("set %s: %w", path, err)
	}
	changed, err := edit(text, f.names(name), encoded)
	if err != nil {
		return fmt.Errorf("set %s in %s: %w", path, file, err)
	}
	if bytes.Equal(changed, text) {
		return nil
	}
	if err := replace(file, changed); err != nil {
		return fmt.Errorf("set %s: %w", path, err)
	}
	return nil
}

// names is the field's path as the names of nested objects.
func (f field) names(name string) []string {
	names := strings.Split(f.path, ".")
	for i := range names {
		if names[i] == "*" {
			names[i] = name
		}
	}
	return names
}

// readForChange gives the file that is really meant, and its text.
func readForChange(file string) (target string, text []byte, err error) {
	if target, err = filepath.EvalSymlinks(file); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return "", nil, fmt.Errorf("%s is a link to a file that does not exist", file)
		}
		return file, nil, nil
	} else if err != nil {
		return "", nil, err
	}
	f, err := openPlain(target)
	if err != nil {
		return "", nil, err
	}
	if text, err = readSmall(f); err != nil {
		return "", nil, fmt.Errorf("read %s: %w", target, err)
	}
	return target, text, nil
}

// replace puts a new file in the place of an old one, whole or not at all.
func replace(file string, text []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".banyan-") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return err
	}
	// The name outlives a power cut as well, where folders can be synced.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

// edit gives text with the value at a path of names; a nil value takes it away.
// What it returns has been read again: it is never a file that does not load.
func edit(text []byte, names []string, value []byte) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w; mend it first", err)
	}
	if d.json == nil { // empty, or nothing but comments
		if value == nil {
			return text, nil
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		if d, err = parse(append(text, "{\n}\n"...)); err != nil {
			return nil, err
		}
	}
	at := d.root()
	var changed []byte
	for depth, name := range names {
		m, found := d.last(at, name)
		last := depth == len(names)-1
		switch {
		case !found && value == nil:
			return text, nil
		case !found:
			changed = d.insert(at, depth, names[depth:], value)
		case last && value == nil:
			changed = d.remove(at, m)
		case last:
			changed = splice(d.text, m.valueStart, m.end(), value)
		case m.value[0] != '{':
			return nil, fmt.Errorf("line %d: %q is not an object; mend it first", d.line(m.start), name)
		default:
			at = m.valueStart
			continue
		}
		break
	}
	if !holds(changed, names, value) {
		return nil, errors.New("it cannot be changed without harm; change it by hand")
	}
	return changed, nil
}

// last is the member of that name that counts, in the object at an offset.
func (d document) last(at int, name string) (found member, ok bool) {
	members, _ := d.members(at)
	for _, m := range members {
		if m.key == name {
			found, ok = m, true
		}
	}
	return found, ok
}

// insert adds a member to the end of the object at an offset; names beyond the
// first are objects to be made. It keeps to the way the object is written: on
// one line, or a member a line with its indent.
func (d document) insert(at, depth int, names []string, value []byte) []byte {
	members, end := d.members(at)
	for i := len(names) - 1; i > 0; i-- {
		value = fmt.Appendf(nil, "{%s: %s}", quote(names[i]), value)
	}
	added := fmt.Sprintf("%s: %s", quote(names[0]), value)
	tail := at + 1 // of the last thing before the closing brace
	if n := len(bytes.TrimRight(d.text[at+1:end], " \t\r\n")); n > 0 {
		tail += n
	}
	newline := "\n"
	if bytes.Contains(d.text, []byte("\r\n")) {
		newline = "\r\n"
	}
	switch {
	case bytes.IndexByte(d.text[at:end], '\n') < 0 && (len(members) > 0 || depth > 0): // on one line
		if len(members) > 0 {
			added = " " + added
		}
	case len(members) > 0:
		added = newline + d.indent(members[len(members)-1].start) + added
	default:
		added = newline + strings.Repeat("  ", depth+1) + added
	}
	if end == tail && strings.HasPrefix(added, newline) {
		added += newline + strings.Repeat("  ", depth) // the brace gets a line of its own
	}
	text := splice(d.text, tail, tail, []byte(added))
	if len(members) > 0 {
		if last := members[len(members)-1].end(); d.comma(last, end) < 0 {
			text = splice(text, last, last, []byte(","))
		}
	}
	return text
}

// remove takes a member away, with its comma, and with its line if nothing else
// stands there.
func (d document) remove(at int, m member) []byte {
	members, end := d.members(at)
	text, to := d.text, m.end()
	comma := d.comma(to, end)
	switch {
	case comma >= 0 && len(bytes.TrimSpace(text[to:comma])) == 0:
		return withoutLine(text, m.start, comma+1)
	case comma >= 0: // behind a comment
		return withoutLine(splice(text, comma, comma+1, nil), m.start, to)
	}
	text = withoutLine(text, m.start, to)
	if i := len(members) - 1; i > 0 && members[i].start == m.start {
		before := d.comma(members[i-1].end(), m.start)
		return splice(text, before, before+1, nil)
	}
	return text
}

// withoutLine is a text without a range, and without its line if that is then blank.
func withoutLine(text []byte, from, to int) []byte {
	start := len(bytes.TrimRight(text[:from], " \t"))
	rest := bytes.IndexByte(text[to:], '\n')
	if (start == 0 || text[start-1] == '\n') && rest >= 0 && len(bytes.TrimSpace(text[to:to+rest])) == 0 {
		return splice(text, start, to+rest+1, nil)
	}
	return splice(text, from, to, nil)
}

// indent is the blanks before an offset, on its line.
func (d document) indent(offset int) string {
	before := d.text[:offset]
	return string(before[len(bytes.TrimRight(before, " \t")):])
}

// comma is the first comma between two offsets that is in no comment, -1 if
// there is none. No text may begin between them.
func (d document) comma(from, to int) int {
	for i := from; i < to; i++ {
		switch rest := d.text[i:to]; {
		case rest[0] == ',':
			return i
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				return -1
			}
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return -1
			}
			i += 2 + n + 1
		}
	}
	return -1
}

// holds says whether a text is a file of settings with that value at that path;
// nil: with none, also where a name stands twice.
func holds(text []byte, names []string, value []byte) bool {
	d, err := parse(text)
	if err != nil || d.json == nil {
		return false
	}
	if value == nil {
		return !d.has(d.root(), names)
	}
	at := d.root()
	for i, name := range names {
		m, ok := d.last(at, name)
		switch {
		case !ok:
			return false
		case i == len(names)-1:
			return bytes.Equal(m.value, value)
		case m.value[0] != '{':
			return false
		}
		at = m.valueStart
	}
	return false
}

// has says whether there is a member at a path, in any object of those names.
func (d document) has(at int, names []string) bool {
	members, _ := d.members(at)
	return slices.ContainsFunc(members, func(m member) bool {
		return m.key == names[0] && (len(names) == 1 || m.value[0] == '{' && d.has(m.valueStart, names[1:]))
	})
}

// splice is text with a range replaced. It changes nothing in place.
func splice(text []byte, from, to int, by []byte) []byte {
	out := make([]byte, 0, len(text)+len(by))
	out = append(out, text[:from]...)
	out = append(out, by...)
	return append(out, text[to:]...)
}

func quote(name string) []byte {
	text, err := json.Marshal(name)
	if err != nil {
		return []byte(`""`) // a string always encodes
	}
	return text
}
