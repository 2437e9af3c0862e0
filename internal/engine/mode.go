package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"banyan/internal/session"
)

// A mode says how the agent works on a path. It is recorded on it, so that it is
// that of the path wherever the leaf goes. The names are those of users and
// extensions; one of them means something here.

// planMode is the mode in which nothing is changed: the one that reaches the
// permissions, because a file never gives leave for more.
const planMode = "plan"

// noMode is what is recorded where a mode ends.
const noMode = "none"

const planText = `Plan mode is on. Look around as much as you need and change nothing: calls that would are refused. Answer with a plan that names the files and steps, and end there. The user leaves the mode to have it carried out.`

// maxModeName is how long a mode's name may be, in characters.
const maxModeName = 40

// modeName says whether a mode may be called this.
func modeName(name string) bool {
	n := 0
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
		n++
	}
	return n > 0 && n <= maxModeName
}

// maxModeText is how much of a mode's instructions models are told, in bytes.
const maxModeText = 32 << 10

// setMode takes what follows on this path into a mode, or out of the one it is in.
func (e *Engine) setMode(c SetMode) {
	mode := session.ModeChange{Mode: named(c.Mode), Data: c.Data}
	switch {
	case mode.Mode != "" && !modeName(mode.Mode):
		e.notice(Failure, "A mode cannot be called %q: a name has letters, digits, dots, dashes and underscores, 40 at most.", mode.Mode)
		return
	case len(mode.Data) > 0 && !json.Valid(mode.Data):
		e.notice(Failure, "The mode %s was not set: its data is no JSON.", mode.Mode)
		return
	}
	if e.takeMode(mode) && e.session.Snapshot().Len() > 0 {
		e.record("record the mode", e.modeEntries()...)
	}
	e.emitState()
}

// takeMode makes a mode the one that holds; false where it does already.
func (e *Engine) takeMode(mode session.ModeChange) bool {
	if mode.Mode == e.mode.Mode && bytes.Equal(mode.Data, e.mode.Data) {
		return false
	}
	previous := e.mode.Mode
	e.mode = mode
	e.followMode(mode.Mode)
	e.tellMode(previous)
	return true
}

// setPermission chooses the permission mode. Planning is a mode of the path, too;
// because a key goes through all of them, it is recorded with the next prompt.
func (e *Engine) setPermission(mode string) {
	before := e.cfg.Policy.Mode()
	if err := e.cfg.Policy.SetMode(mode); err != nil {
		e.notice(Failure, "%v", err)
		return
	}
	switch {
	case mode == planMode && before != planMode:
		e.takeMode(session.ModeChange{Mode: planMode})
		e.modeBefore = before
	case mode != planMode && e.mode.Mode == planMode:
		e.takeMode(session.ModeChange{})
	case mode != before:
		e.tellMode(e.mode.Mode)
	}
	e.emitState()
}

// modeEntries are what must be recorded so that the path says its mode.
func (e *Engine) modeEntries() []session.Data {
	if e.mode.Mode == e.recordedMode.Mode && bytes.Equal(e.mode.Data, e.recordedMode.Data) {
		return nil
	}
	d := e.mode
	if d.Mode == "" {
		d.Mode = noMode
	}
	return []session.Data{d}
}

// restoreMode takes over the mode that holds at a leaf.
func (e *Engine) restoreMode(c session.Context) {
	e.recordedMode = session.ModeChange{Mode: named(c.Mode), Data: c.ModeData}
	e.takeMode(e.recordedMode)
}

func named(mode string) string {
	if mode == noMode {
		return ""
	}
	return mode
}

func (e *Engine) tellMode(previous string) {
	e.tell(&ModeSelect{Mode: e.mode.Mode, Data: e.mode.Data, Previous: previous, Permission: e.cfg.Policy.Mode()})
}

// systemPrompt is the system prompt, with what models are told of the mode.
func (e *Engine) systemPrompt() string {
	if text := e.modeText(); text != "" {
		return strings.TrimSpace(e.cfg.System + "\n\n" + text)
	}
	return e.cfg.System
}

// modeText is what models are told of the mode.
func (e *Engine) modeText() string {
	var data struct{ Instructions string }
	if len(e.mode.Data) > 0 && json.Unmarshal(e.mode.Data, &data) == nil && data.Instructions != "" {
		if len(data.Instructions) > maxModeText {
			data.Instructions = strings.ToValidUTF8(data.Instructions[:maxModeText], "")
		}
		return data.Instructions
	}
	if e.cfg.Policy.Mode() == planMode {
		return planText
	}
	return ""
}

// followMode goes into plan mode where the path is in it, and back to the mode
// before where the path is not and the user has not chosen otherwise.
func (e *Engine) followMode(path string) {
	policy := e.cfg.Policy
	mode := policy.Mode()
	if mode != planMode {
		e.modeBefore = ""
	}
	switch {
	case path == planMode && mode != planMode:
		if err := policy.SetMode(planMode); err != nil {
			e.notice(Failure, "%v", err)
			return
		}
		e.modeBefore = mode
	case path != planMode && e.modeBefore != "":
		if err := policy.SetMode(e.modeBefore); err != nil {
			e.notice(Failure, "%v", err)
		}
		e.modeBefore = ""
	}
}
