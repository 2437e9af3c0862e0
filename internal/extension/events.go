package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
)

// event is what extensions are told of one kind of occasion, and what they may
// answer.
type event struct {
	name  string
	asked bool // it may be answered
	// payload gives the event's members.
	payload func(engine.Occasion) (any, error)
	// answer takes what the extension called by said; nil where nothing is asked.
	answer func(o engine.Occasion, raw json.RawMessage, by string) error
	// in and out are the zero values of the payload and of the answer.
	in, out any
}

// tells makes the row of an occasion that is told.
func tells[O engine.Occasion, P any](payload func(O) (P, error)) event {
	var o O
	var p P
	return event{name: o.Name(), in: p, payload: func(x engine.Occasion) (any, error) { return payload(x.(O)) }}
}

// asks makes the row of an occasion that is asked.
func asks[O engine.Occasion, P, A any](payload func(O) (P, error), answer func(o O, a A, by string) error) event {
	ev := tells(payload)
	var a A
	ev.asked, ev.out = true, a
	ev.answer = func(o engine.Occasion, raw json.RawMessage, by string) error {
		a, err := parse[A](raw)
		if err != nil {
			return err
		}
		return answer(o.(O), a, by)
	}
	return ev
}

// events is the table of all events, in the order of the documents.
func events() []event {
	return append(sessionEvents(), turnEvents()...)
}

// Veto stops what was to happen.
type Veto struct {
	Cancel bool   `json:"cancel,omitempty" jsonschema:"stop what was to happen"`
	Reason string `json:"reason,omitempty" jsonschema:"for the user, with cancel"`
}

// err is the veto as an error of the extension called by.
func (v Veto) err(by string) error {
	switch {
	case !v.Cancel:
		return nil
	case v.Reason == "":
		return fmt.Errorf("%w (%s)", engine.ErrVetoed, by)
	}
	return fmt.Errorf("%w (%s: %s)", engine.ErrVetoed, by, v.Reason)
}

// The payloads and answers of a session's events.
type (
	// SessionStartEvent says that a session is open.
	SessionStartEvent struct {
		Reason   string  `json:"reason" jsonschema:"startup, resume, new or fork"`
		Previous string  `json:"previous,omitempty" jsonschema:"file of the session before"`
		Session  Session `json:"session"`
	}
	// SessionLeftEvent says that a session is left.
	SessionLeftEvent struct {
		Reason  string  `json:"reason" jsonschema:"quit, resume, new or fork"`
		Session Session `json:"session"`
	}
	// BeforeSwitchEvent says that another session is to be opened.
	BeforeSwitchEvent struct {
		Reason string `json:"reason" jsonschema:"new, resume or fork"`
		File   string `json:"file,omitempty" jsonschema:"of the session to come; empty for a new one"`
	}
	// BeforeTreeEvent says that the leaf is to be moved.
	BeforeTreeEvent struct {
		Target       string            `json:"target"`
		OldLeaf      *string           `json:"oldLeafId"`
		NewLeaf      *string           `json:"newLeafId" jsonschema:"where the leaf will be, or the summary will hang"`
		Common       *string           `json:"commonId" jsonschema:"deepest entry on both paths"`
		Left         []json.RawMessage `json:"left" jsonschema:"entries that are left behind, oldest first, as in the file"`
		Summarize    bool              `json:"summarize" jsonschema:"the user wants a summary"`
		Instructions string            `json:"instructions,omitempty"`
		Session      Session           `json:"session"`
	}
	// BeforeTreeAnswer is what is to be otherwise.
	BeforeTreeAnswer struct {
		Veto
		Summary      string  `json:"summary,omitempty" jsonschema:"taken instead of the model's, where one is wanted"`
		Instructions *string `json:"instructions,omitempty" jsonschema:"go instead of the user's"`
		Replace      bool    `json:"replace,omitempty" jsonschema:"with instructions: they go instead of all others"`
		Label        string  `json:"label,omitempty" jsonschema:"of the summary, or else of the target"`
	}
	// TreeEvent says that the leaf was moved.
	TreeEvent struct {
		OldLeaf       *string         `json:"oldLeafId"`
		NewLeaf       *string         `json:"newLeafId"`
		Summary       json.RawMessage `json:"summaryEntry,omitempty" jsonschema:"the entry, as in the file"`
		FromExtension bool            `json:"fromExtension,omitempty"`
		Session       Session         `json:"session"`
	}
	// BeforeBranchEvent says that a path is to be taken into a new session.
	BeforeBranchEvent struct {
		Entry string  `json:"entry" jsonschema:"the one that was chosen"`
		Leaf  *string `json:"leafId" jsonschema:"up to which the path is taken; null: an empty session"`
	}
	// BranchEvent says that a path was taken into a new session.
	BranchEvent struct {
		Parent  string  `json:"parent,omitempty" jsonschema:"file of the session that it came from"`
		Session Session `json:"session"`
	}
	// BeforeCompactEvent says that a path is to be compacted.
	BeforeCompactEvent struct {
		Reason       string            `json:"reason" jsonschema:"manual, threshold or overflow"`
		FirstKept    string            `json:"firstKeptEntryId"`
		TokensBefore int               `json:"tokensBefore"`
		Instructions string            `json:"instructions,omitempty"`
		Path         []json.RawMessage `json:"path" jsonschema:"entries from the root to the leaf, as in the file"`
	}
	// BeforeCompactAnswer is what is to be otherwise.
	BeforeCompactAnswer struct {
		Veto
		Summary   string `json:"summary,omitempty" jsonschema:"taken instead of the model's"`
		FirstKept string `json:"firstKeptEntryId,omitempty" jsonschema:"with summary: another first entry to keep, on the path"`
	}
	// CompactingEvent says that a model is to write the summary of a compaction.
	CompactingEvent struct {
		Reason       string `json:"reason"`
		Instructions string `json:"instructions,omitempty"`
	}
	// CompactingAnswer adds to what the model is told.
	CompactingAnswer struct {
		Context []string `json:"context,omitempty"`
	}
	// CompactEvent says that a path was compacted.
	CompactEvent struct {
		Entry         json.RawMessage `json:"entry" jsonschema:"the compaction, as in the file"`
		FromExtension bool            `json:"fromExtension,omitempty"`
	}
	// ModelEvent says that another model answers from here on.
	ModelEvent struct {
		Provider         string `json:"provider"`
		Model            string `json:"modelId"`
		PreviousProvider string `json:"previousProvider,omitempty"`
		PreviousModel    string `json:"previousModelId,omitempty"`
		Source           string `json:"source" jsonschema:"set, or restore where a path says it"`
	}
	// ModeEvent says that another mode holds from here on, or another permission mode.
	ModeEvent struct {
		Mode       string          `json:"mode" jsonschema:"of the path; empty for none"`
		Data       json.RawMessage `json:"data,omitempty" jsonschema:"that is kept with it"`
		Previous   string          `json:"previous"`
		Permission string          `json:"permissionMode"`
	}
	// ThinkingEvent says that another thinking level holds from here on.
	ThinkingEvent struct {
		Level    string `json:"level"`
		Previous string `json:"previous"`
	}
)

func sessionEvents() []event {
	return []event{
		tells(func(o *engine.SessionStart) (SessionStartEvent, error) {
			return SessionStartEvent{o.Reason, o.Previous, where(o.Session)}, nil
		}),
		tells(func(o *engine.SessionShutdown) (SessionLeftEvent, error) {
			return SessionLeftEvent{o.Reason, where(o.Session)}, nil
		}),
		asks(func(o *engine.SessionBeforeSwitch) (BeforeSwitchEvent, error) {
			return BeforeSwitchEvent{o.Reason, o.Path}, nil
		}, func(_ *engine.SessionBeforeSwitch, a Veto, by string) error { return a.err(by) }),
		tells(func(o *engine.SessionSwitch) (SessionStartEvent, error) {
			return SessionStartEvent{o.Reason, o.Previous, where(o.Session)}, nil
		}),
		asks(beforeTree, answerTree),
		tells(func(o *engine.SessionTree) (TreeEvent, error) {
			ev := TreeEvent{OldLeaf: ref(o.OldLeaf), NewLeaf: ref(o.NewLeaf), FromExtension: o.FromHook, Session: where(o.Session)}
			var err error
			if o.Summary != nil {
				ev.Summary, err = raw(o.Session, o.Summary.ID)
			}
			return ev, err
		}),
		asks(func(o *engine.SessionBeforeBranch) (BeforeBranchEvent, error) {
			return BeforeBranchEvent{string(o.Entry), ref(o.Leaf)}, nil
		}, func(_ *engine.SessionBeforeBranch, a Veto, by string) error { return a.err(by) }),
		tells(func(o *engine.SessionBranch) (BranchEvent, error) {
			return BranchEvent{o.Parent, where(o.Session)}, nil
		}),
		asks(beforeCompact, answerCompact),
		asks(func(o *engine.SessionCompacting) (CompactingEvent, error) {
			return CompactingEvent{string(o.Reason), o.Instructions}, nil
		}, func(o *engine.SessionCompacting, a CompactingAnswer, _ string) error {
			o.Context = append(o.Context, a.Context...)
			return nil
		}),
		tells(func(o *engine.SessionCompact) (CompactEvent, error) {
			entry, err := raw(o.Session, o.Entry.ID)
			return CompactEvent{entry, o.FromHook}, err
		}),
		tells(func(o *engine.ModelSelect) (ModelEvent, error) {
			return ModelEvent{o.Model.Provider, o.Model.Model, o.Previous.Provider, o.Previous.Model, o.Source}, nil
		}),
		tells(func(o *engine.ModeSelect) (ModeEvent, error) {
			return ModeEvent{o.Mode, o.Data, o.Previous, o.Permission}, nil
		}),
		tells(func(o *engine.ThinkingLevelSelect) (ThinkingEvent, error) {
			return ThinkingEvent{string(o.Level), string(o.Previous)}, nil
		}),
	}
}

func beforeTree(o *engine.SessionBeforeTree) (BeforeTreeEvent, error) {
	left, err := raws(o.Session, o.Left)
	return BeforeTreeEvent{
		Target: string(o.Target), OldLeaf: ref(o.OldLeaf), NewLeaf: ref(o.NewLeaf), Common: ref(o.Common), Left: left,
		Summarize: o.Navigate.Summarize, Instructions: o.Navigate.Instructions, Session: where(o.Session),
	}, err
}

func answerTree(o *engine.SessionBeforeTree, a BeforeTreeAnswer, by string) error {
	if strings.TrimSpace(a.Summary) != "" {
		o.Summary = &session.BranchSummary{Summary: a.Summary}
	}
	if a.Instructions != nil {
		o.Instructions, o.Replace = a.Instructions, a.Replace
	}
	if a.Label != "" {
		o.Label = a.Label
	}
	return a.err(by)
}

func beforeCompact(o *engine.SessionBeforeCompact) (BeforeCompactEvent, error) {
	path, err := raws(o.Session, o.Path)
	return BeforeCompactEvent{string(o.Reason), string(o.FirstKept), o.TokensBefore, o.Instructions, path}, err
}

func answerCompact(o *engine.SessionBeforeCompact, a BeforeCompactAnswer, by string) error {
	if strings.TrimSpace(a.Summary) != "" {
		o.Summary = &session.Compaction{Summary: a.Summary, FirstKept: session.ID(a.FirstKept)}
	}
	return a.err(by)
}

// where says which session a snapshot is of.
func where(s session.Snapshot) Session {
	return Session{ID: s.Header().ID, File: s.Path(), Name: s.Name(), Leaf: ref(s.Leaf())}
}

// ref is an id, or null for none.
func ref(id session.ID) *string {
	if id == "" {
		return nil
	}
	text := string(id)
	return &text
}

// raw is an entry as it stands in the file.
func raw(s session.Snapshot, id session.ID) (json.RawMessage, error) {
	line, err := s.Raw(s.Node(id))
	if err != nil {
		return nil, err
	}
	if !json.Valid(line) {
		return nil, errors.New("the entry " + string(id) + " is not JSON")
	}
	return line, nil
}

// raws are entries as they stand in the file, without those that are not JSON.
func raws(s session.Snapshot, entries []session.Entry) ([]json.RawMessage, error) {
	lines := []json.RawMessage{}
	for _, e := range entries {
		if line, err := raw(s, e.ID); err == nil {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// millis is a time as in messages.
func millis(t time.Time) int64 { return t.UnixMilli() }

// action reads what an extension says to a call.
func action(text string) (permission.Action, error) {
	for _, a := range []permission.Action{permission.Allow, permission.Ask, permission.Deny} {
		if a.String() == text {
			return a, nil
		}
	}
	return 0, fmt.Errorf("there is no decision %q; there are allow, ask, deny", text)
}

// messages writes messages in the shape of the file.
func messages(list []llm.Message) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for _, m := range list {
		line, err := session.MarshalMessage(m)
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, nil
}
