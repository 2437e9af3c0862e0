package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"banyan/internal/clipboard"
	"banyan/internal/config"
	"banyan/internal/sandbox"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tool"
	"banyan/internal/tui"
	"banyan/internal/tui/termcap"
)

// terminal says what the terminal can do, by its environment and its answers.
func (d *doctor) terminal() []tui.Finding {
	c := d.caps
	name := cmp.Or(c.Program, "a terminal that does not say its name")
	if c.Mux != "" && !strings.HasPrefix(name, c.Mux) {
		name += " in " + c.Mux
	}
	var found []tui.Finding
	switch c.Term {
	case "dumb":
		found = append(found, limited("Use another terminal for the screen", "TERM is dumb: the chat is in lines, as with --screen-reader"))
	case "":
		found = append(found, limited("Set TERM, to xterm-256color for one", "TERM is not set"))
	default:
		found = append(found, good("%s, TERM=%s, %s", name, c.Term, termcap.Colours(os.Environ())))
	}
	if !c.Answered {
		return append(found, good("It was not asked what else it can: that takes a terminal on standard input and output"))
	}
	var ways []string
	for _, way := range []struct {
		has  bool
		name string
	}{{c.Kitty, "kitty's graphics"}, {c.Sixel, "sixels"}, {c.ITerm, "iTerm2's inline pictures"}} {
		if way.has {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 0 {
		found = append(found, good("Pictures: %s", strings.Join(ways, ", ")))
	} else {
		found = append(found, good("Pictures: in blocks of colour; it has no graphics"))
	}
	if c.Keyboard {
		found = append(found, good("Keyboard: every key can be told from every other"))
	} else {
		found = append(found, good("Keyboard: as usual; Ctrl+J, or \\ and Enter, begin a new line where Shift+Enter does not"))
	}
	if c.Mux == "tmux" {
		found = append(found, limited("In ~/.tmux.conf: set -g allow-passthrough on; set -s set-clipboard on; set -g focus-events on",
			"tmux keeps some sequences to itself: the clipboard and notifications need its leave"))
	}
	return found
}

// configuration says which files of settings there are and what in them is wrong.
func (d *doctor) configuration() []tui.Finding {
	_, values, problems := config.Load(d.paths, d.project, d.project != "", d.opts.overrides())
	set := map[string]int{}
	for _, v := range values {
		for _, src := range v.Sources {
			if src.File != "" {
				set[src.File]++
			}
		}
	}
	var found []tui.Finding
	user := d.paths.UserFile()
	if _, err := os.Stat(user); errors.Is(err, fs.ErrNotExist) {
		found = append(found, good("%s is not there: everything is as usual", user))
	}
	for _, v := range values { // in their order, each file once
		for _, src := range v.Sources {
			if n := set[src.File]; n > 0 {
				found = append(found, good("%s: %d set", src.File, n))
				delete(set, src.File)
			}
		}
	}
	for _, p := range problems {
		found = append(found, broken("Mend it there, or with /settings; docs/settings.md lists what there is", "%s", p.String()))
	}
	return found
}

// models says whose models can answer, and where their keys are from.
func (d *doctor) models() []tui.Finding {
	c := d.roster.catalog.Load()
	var found []tui.Finding
	for _, p := range c.Providers() {
		if from := c.KeyFrom(p.Name); from != "" && !p.Local {
			found = append(found, good("%s: key from %s", p.Title, from))
		}
	}
	if len(found) == 0 {
		found = append(found, limited("agent login anthropic, or set ANTHROPIC_API_KEY; so for the others", "No provider has a key: a local server answers if there is one, else the embedded offline model"))
	}
	for _, err := range c.Problems() {
		found = append(found, broken("Mend the file", "%v", err))
	}
	if file := c.Credentials().Exposed(); file != "" {
		found = append(found, broken("chmod 600 it", "%s", file))
	}
	if d.settings.Model != "" {
		if ref, err := c.Resolve(d.settings.Model); err != nil {
			found = append(found, broken("agent models lists those there are", "model: %v", err))
		} else if !c.Configured(ref.Provider) {
			found = append(found, broken("agent login "+ref.Provider, "model: %s is set, and %s has no key", d.settings.Model, ref.Provider))
		}
	}
	return found
}

// servers looks for local model servers.
func (d *doctor) servers() []tui.Finding {
	if d.opts.offline {
		return []tui.Finding{good("not looked for: --offline")}
	}
	ctx, cancel := context.WithTimeout(d.ctx, 3*time.Second)
	defer cancel()
	var found []tui.Finding
	for _, f := range d.roster.catalog.Load().Probe(ctx) {
		found = append(found, good("%s at %s: %d models", f.Provider, f.BaseURL, len(f.Models)))
	}
	if len(found) == 0 {
		return []tui.Finding{good("none answers (Ollama, LM Studio, llama.cpp, vLLM at their usual ports)")}
	}
	return found
}

// sandbox says how well commands are confined.
func (d *doctor) sandbox() []tui.Finding {
	strength, why := sandbox.Available()
	if strength < sandbox.Full {
		return []tui.Finding{limited("docs/architecture.md says what each strength holds; until then commands ask more often", "%s: %v", strength, why)}
	}
	return []tui.Finding{good("%s: commands see only what they may", strength)}
}

const (
	// lowSpace is when a disk is nearly full, in bytes.
	lowSpace = 256 << 20
	// verified is how many sessions are read whole, and how large they may be,
	// in bytes.
	verified, mostVerified = 10, 32 << 20
)

// sessions looks at the folder of sessions, and at the newest of them.
func (d *doctor) sessions() []tui.Finding {
	var found []tui.Finding
	if files, ok := d.Session.Store.(store.Files); ok {
		found = folderOf(files.Dir)
	} else {
		found = append(found, good("sessions are kept in %s", d.Session.Store.Name()))
	}
	files, err := session.List(d.Session.Store, "", d.paths.Cache)
	if err != nil {
		return append(found, broken("", "the sessions cannot be listed: %v", err))
	}
	bad := 0
	for i, f := range files {
		if f.Err != "" {
			bad++
			found = append(found, broken("agent session verify "+f.Path, "%s: %s", f.Path, f.Err))
			continue
		}
		if i >= verified || f.Bytes > mostVerified {
			continue
		}
		problems, err := session.Verify(f.Path, session.Options{Store: d.Session.Store})
		if err != nil || len(problems) == 0 || harmless(problems) {
			continue
		}
		bad++
		found = append(found, limited("agent session repair "+shortID(f.ID)+" writes a mended copy", "%s: line %d: %s", f.Path, problems[0].Line, problems[0].Text))
	}
	if bad == 0 {
		return append(found, good("%d session files, none damaged", len(files)))
	}
	return append(found, good("%d session files, %d of them damaged", len(files), bad))
}

// folderOf looks at the folder of all sessions.
func folderOf(dir string) []tui.Finding {
	found := []tui.Finding{writable(dir)}
	if free, ok := freeSpace(dir); ok && free < lowSpace {
		found = append(found, broken("Make room: what cannot be written is kept in memory only", "%s has %d MB left", dir, free>>20))
	}
	return found
}

// harmless: that a call has no result is what an interrupt leaves.
func harmless(problems []session.Problem) bool {
	for _, p := range problems {
		if p.Kind != "tool-pairing" {
			return false
		}
	}
	return true
}

// writable tries to write into a folder, or into the nearest one above that is
// there, as the folder is made when it is needed.
func writable(dir string) tui.Finding {
	at := dir
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".doctor-*")
	if err != nil {
		return broken("Make it writable, or choose another folder with --session-dir or BANYAN_DATA_DIR", "%s cannot be written: %v", dir, err)
	}
	f.Close()
	os.Remove(f.Name())
	return good("%s can be written", dir)
}

// tools looks for the programs that are used where they are there.
func (d *doctor) tools() []tui.Finding {
	var found []tui.Finding
	for _, t := range []struct{ name, without string }{
		{"git", "repositories are read all the same; models like to use it"},
		{"rg", "searches use our own search, which is slower in very large folders"},
	} {
		if path := tool.Program(t.name); path != "" {
			found = append(found, good("%s: %s", t.name, path))
		} else {
			found = append(found, limited("Install "+t.name, "%s is not there: %s", t.name, t.without))
		}
	}
	if clipboard.TextWriter() != nil {
		found = append(found, good("the clipboard has a program that writes to it"))
	} else {
		found = append(found, good("the clipboard is reached through the terminal (OSC 52): no program for it was found"))
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	name, _, _ := strings.Cut(editor, " ")
	if tool.Program(name) == "" {
		return append(found, limited("Set VISUAL to an editor", "%s, for Ctrl+G, is not there", name))
	}
	return append(found, good("Ctrl+G opens %s", editor))
}

// trusted says whether the folder's own settings and instructions count.
func (d *doctor) trusted() []tui.Finding {
	if d.project != "" {
		return []tui.Finding{good("%s is trusted: its settings, instructions and skills count", d.project)}
	}
	var found []tui.Finding
	for _, n := range d.Notices {
		if strings.Contains(n.Text, "is not trusted") {
			found = append(found, limited("/trust in a chat, once you have read them", "%s", n.Text))
		}
	}
	if len(found) == 0 {
		found = append(found, good("%s is not trusted, and has nothing that would need it", d.Cwd))
	}
	return found
}

// skills says which files of skills, prompts, roles and agents are not used.
func (d *doctor) skills() []tui.Finding {
	taught := d.taught()
	var found []tui.Finding
	for _, f := range taught.Faults() {
		found = append(found, limited("Mend the file; /skills lists them all", "%s", fmt.Sprint(f)))
	}
	if len(found) == 0 {
		found = append(found, good("nothing is wrong with them"))
	}
	return found
}
