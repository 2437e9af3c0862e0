package engine

import (
	"encoding/json"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/rule"
	"banyan/internal/session"
)

// The flow of a rule in the stream: turn.loop watches each answer → metRule ends
// it → inject takes it off the path and puts the rule there → turn.run asks again.

// RuleType is the customType of a rule's text. Its details are {"name"}.
const RuleType = "banyan.rule"

// metRule ends an answer that meets a rule.
type metRule struct{ *rule.Rule }

func (m *metRule) Error() string { return "the answer met the rule " + m.Name }
func (m *metRule) Unwrap() error { return agent.ErrCut }

// watch watches an answer that begins for the rules that were not added on this
// path yet; nil for none.
func (t turn) watch() (w *rule.Watch) {
	_ = t.do(func() error {
		if len(t.cfg.StreamRules) == 0 {
			return nil
		}
		snap := t.session.Snapshot()
		c, err := snap.State(snap.Leaf())
		if err == nil { // else building the next request says so
			w = rule.NewWatch(t.cfg.StreamRules, c.Rules)
		}
		return nil
	})
	return w
}

// inject takes the answer that met a rule off the path, where it stays in the
// file, and adds the rule.
func (e *Engine) inject(met *metRule) error {
	snap := e.session.Snapshot()
	if e.session.RemoveLeafMessage(snap.Leaf()) {
		e.moved(snap.Leaf(), nil, nil)
	}
	details, err := json.Marshal(map[string]string{"name": met.Name})
	if err != nil {
		return err
	}
	text := "[A rule adds:]\nYour answer was ended because it met the rule " + met.Name + ". It is not part of the conversation. Answer anew, and keep to this:\n\n" + met.Text
	if err := e.append(
		session.RuleInjection{Rules: []string{met.Name}},
		session.CustomMessage{Type: RuleType, Content: []llm.Block{llm.Text{Text: text}}, Display: true, Details: details},
	); err != nil {
		return err
	}
	e.notice(Note, "The answer met the rule %s: it begins anew with it.", met.Name)
	return nil
}
