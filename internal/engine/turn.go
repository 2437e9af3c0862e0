package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/rule"
	"banyan/internal/session"
	"banyan/internal/summary"
	"banyan/internal/tool"
)

// The flow of a prompt, top to bottom: submit → begin → startTurn → (in the turn's
// goroutine) run → loop → request, turnEvent … → finished → startQueued.

// submit takes a prompt: it begins a turn, or waits for the one that runs.
func (e *Engine) submit(s Submit) {
	switch {
	case e.job == nil:
		e.startWith(s)
	case s.FollowUp || e.job.what != "turn":
		e.waiting = append(e.waiting, s)
		e.emitQueue(nil)
	default:
		e.steering = append(e.steering, s)
		e.emitQueue(nil)
	}
}

// startWith runs a turn with prompts. They are recorded at once, unless hooks
// want to see them: then the turn begins with that.
func (e *Engine) startWith(prompts ...Submit) {
	if e.client != nil && e.hears((*Input)(nil).Name()) {
		e.startTurn(prompts...)
		return
	}
	for _, s := range prompts {
		if !e.recordPrompt(s) {
			return
		}
	}
	e.startTurn()
}

// recordPrompt puts a prompt on the path, after the model and thinking level
// that it is for. It gives the text back where the session takes no entries.
func (e *Engine) recordPrompt(s Submit) bool {
	entries := e.stateEntries()
	content := []llm.Block{}
	if s.Text != "" {
		content = append(content, llm.Text{Text: s.Text})
	}
	for _, img := range s.Images {
		content = append(content, img)
	}
	entries = append(entries, session.Message{Message: llm.Message{Role: llm.User, Time: e.cfg.Now(), Content: content}})
	if x := s.Stands; x != nil && !(x.Once && e.given(x.Content)) {
		entries = append(entries, x.CustomMessage)
	}
	if !e.record("record the prompt", entries...) {
		e.emit(Queue{TakenBack: []string{s.Text}})
		return false
	}
	return true
}

// given says whether the path tells a model the text of some content.
func (e *Engine) given(content []llm.Block) bool {
	snap := e.session.Snapshot()
	c, err := snap.Context(snap.Leaf())
	return err == nil && llm.Given(c.Messages(), llm.Message{Content: content}.Text())
}

// startTurn runs a turn on the path as it is, after hooks have seen the prompts
// that are not recorded yet.
func (e *Engine) startTurn(unseen ...Submit) {
	e.startTurnAfter(func(ctx context.Context, t turn) (bool, error) {
		admitted, _ := t.admit(ctx, unseen, false) // why one was not taken is said
		return admitted > 0 || len(unseen) == 0, ctx.Err()
	})
}

// startTurnAfter runs a turn after something that may say that there is none.
func (e *Engine) startTurnAfter(first func(context.Context, turn) (bool, error)) {
	if e.client == nil {
		e.emit(Finished{What: "turn", Err: errors.New("no model can answer; choose one with /model")})
		return
	}
	t := turn{Engine: e, client: e.client, model: e.model, info: e.info}
	e.heard = hearing{}
	e.start("turn", func(ctx context.Context) error {
		if goOn, err := first(ctx, t); !goOn {
			return err
		}
		return t.begin(ctx)
	})
}

// turn is one turn's own goroutine. It reaches the engine's state through
// [Engine.do] only; client and model are those that it began with.
type turn struct {
	*Engine
	client llm.Client
	model  session.ModelRef
	info   ModelInfo
	system string // what hooks add to the system prompt
}

// begin runs the turn, and again where hooks keep it going.
func (t turn) begin(ctx context.Context) (err error) {
	defer func() {
		_ = t.do(func() error {
			if t.roundEnds(); err != nil {
				t.tell(&AgentEnd{Err: err, Last: t.heard.answer, Session: t.session.Snapshot()})
			}
			return nil
		})
	}()
	if t.system, err = t.beforeStart(ctx); err != nil {
		return err
	}
	for again := 0; ; again++ {
		if err := t.run(ctx); err != nil {
			return err
		}
		if more, err := t.goesOn(ctx, again); !more {
			return err
		}
	}
}

// run runs the turn. A request that does not fit the window is tried once more
// on a compacted path; the next one that does not must come after an answer.
func (t turn) run(ctx context.Context) error {
	answers, compacted := 0, -1
	for {
		err := t.loop(ctx, &answers)
		var met *metRule
		if errors.As(err, &met) {
			if err := t.do(func() error { return t.inject(met) }); err != nil {
				return err
			}
			continue
		}
		if !tooLong(err) {
			return err
		}
		if err := t.do(t.dropFailed); err != nil {
			return err
		}
		if compacted == answers {
			return t.doesNotFit(err, nil)
		}
		compacted = answers
		if failed := t.compactPath(ctx, CompactOverflow, ""); ctx.Err() != nil {
			return ctx.Err()
		} else if failed != nil && !t.shorter() {
			return t.doesNotFit(err, failed)
		}
	}
}

// shorter says whether the next request will be smaller than the last, because
// results are cut to what is known to fit by now.
func (t turn) shorter() (yes bool) {
	_ = t.do(func() error {
		before := t.asked
		_, err := t.build()
		yes = err == nil && t.asked < before
		return nil
	})
	return yes
}

// doesNotFit says with numbers what a provider refused, and why it was not compacted.
func (t turn) doesNotFit(err, failed error) error {
	return t.do(func() error {
		text := fmt.Sprintf("the conversation takes about %d tokens", t.contextTokens())
		if t.info.Context > 0 {
			text += fmt.Sprintf(", the window of %s has %d", t.info.Name, t.info.Context)
		}
		text += ": /model chooses a larger one, /tree goes back, /context says what fills it. "
		if failed != nil {
			return fmt.Errorf("%sIt could not be compacted: %w. %w", text, failed, withoutHint(err))
		}
		return fmt.Errorf("%sIt was compacted already. %w", text, withoutHint(err))
	})
}

// withoutHint is what a provider said without our advice, where there is better.
func withoutHint(err error) error {
	var said *llm.Error
	if !errors.As(err, &said) {
		return err
	}
	plain := *said
	plain.Hint, plain.Err = "", said
	return &plain
}

// loop runs requests until the model has nothing more to ask for, and counts the answers.
func (t turn) loop(ctx context.Context, answers *int) error {
	if err := t.untilSaved(ctx); err != nil {
		return err
	}
	rounds := t.cfg.MaxRounds
	if rounds > 0 {
		rounds = max(1, rounds-*answers)
	}
	loop := agent.Loop{
		Client: t.client, Gate: t.gate, Now: t.cfg.Now,
		MaxRounds: rounds, Ending: t.cfg.Ending,
		Meta:    llm.Message{API: t.info.API, Provider: t.model.Provider, Model: t.model.Model},
		Request: func() (llm.Request, []tool.Tool, error) { return t.request(ctx) },
	}
	ran := map[string]json.RawMessage{} // arguments by call
	var watch *rule.Watch               // nil where there are no rules
	return loop.Run(ctx, func(ev agent.Event) error {
		switch e := ev.(type) {
		case agent.Began:
			watch = t.watch()
		case agent.Running:
			ran[e.Call.ID] = e.Call.Arguments
		case agent.Returned:
			ev = agent.Returned{Message: t.consultResult(ctx, e.Message, ran)}
		}
		if err := t.do(func() error { return t.turnEvent(ev) }); err != nil {
			return err
		}
		if d, ok := ev.(agent.Delta); ok && watch != nil {
			if met := watch.Feed(d.Event); met != nil {
				return &metRule{met}
			}
		}
		if a, ok := ev.(agent.Answered); ok && a.Message.StopReason != llm.StopError {
			*answers++
		}
		// Nothing runs while what it rests on is not on the disk.
		return t.untilSaved(ctx)
	})
}

// request builds the next request of a turn, with the prompts that came
// meanwhile, after making room for it where the window is nearly full.
func (t turn) request(ctx context.Context) (req llm.Request, tools []tool.Tool, err error) {
	full := false
	var unseen []Submit
	if err := t.do(func() error { t.roundBegins(); unseen, full = t.deliver(); return t.withinBudget() }); err != nil {
		return req, nil, err
	}
	if _, _ = t.admit(ctx, unseen, true); ctx.Err() != nil {
		return req, nil, ctx.Err()
	}
	if err := t.untilSaved(ctx); err != nil {
		return req, nil, err
	}
	if full {
		// Where it fails the request is sent as it is: it may still fit.
		if _ = t.compactPath(ctx, CompactThreshold, ""); ctx.Err() != nil {
			return req, nil, ctx.Err()
		}
	}
	if err := t.do(func() error { tools = t.tools(); req, err = t.build(); return err }); err != nil {
		return req, nil, err
	}
	req.Messages, err = t.consultRequest(ctx, req.Messages)
	return req, tools, err
}

// deliver records the prompts that came while the turn ran, except where hooks
// have to see them first, and says whether the context should be compacted
// before it is sent.
func (e *Engine) deliver() (unseen []Submit, full bool) {
	if len(e.met) > 0 {
		text := strings.Join(e.met, "\n\n")
		e.met = nil
		e.record("record the instructions", session.CustomMessage{Type: "banyan.instructions", Content: []llm.Block{llm.Text{Text: text}}, Display: true})
	}
	steering := e.steering
	e.steering = nil
	if e.hears((*Input)(nil).Name()) {
		unseen, steering = steering, nil
	}
	for _, s := range steering {
		e.recordPrompt(s)
	}
	if len(steering)+len(unseen) > 0 {
		e.emitQueue(nil)
	}
	return unseen, e.nearlyFull()
}

// build makes the request for a turn's model from the path as it is, but for its tools.
func (t turn) build() (llm.Request, error) {
	e := t.Engine
	snap := e.session.Snapshot()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		return llm.Request{}, err
	}
	messages := c.Messages()
	if limit := e.contextLimit(); limit > 0 {
		messages = summary.Fit(messages, int(float64(limit)/e.ratio(e.model))-e.fixed())
	}
	e.asked = e.fixed()
	for _, m := range messages {
		e.asked += summary.MessageTokens(m)
	}
	system := e.systemPrompt()
	if t.system != "" {
		system += "\n\n" + t.system
	}
	return llm.Request{
		Model: t.model.Model, System: system, Messages: messages,
		Thinking: e.thinking, SessionID: snap.Header().ID,
	}, nil
}

// dropFailed takes the answer that failed for its size off the path; it stays in
// the file.
func (e *Engine) dropFailed() error {
	e.tooLarge()
	snap := e.session.Snapshot()
	if e.session.RemoveLeafMessage(snap.Leaf()) {
		e.moved(snap.Leaf(), nil, nil)
	}
	return nil
}

// turnEvent takes care of what happened in a turn: when it returns nil, what
// must be on the disk has been handed to it (see untilSaved for when it refuses).
func (e *Engine) turnEvent(ev agent.Event) error {
	e.hear(ev)
	switch ev := ev.(type) {
	case agent.Delta:
		e.emit(Progress{ev.Event})
	case agent.Answered:
		m := ev.Message
		m.Usage = e.info.Cost(m.Usage)
		e.spend(m.Usage)
		if err := errors.Join(e.append(session.Message{Message: m}), e.silentOverflow(m)); err != nil {
			return err
		}
		e.learn(m)
	case agent.Running:
		e.emit(ToolStarted(ev))
		e.meet(ev.Call)
	case agent.Advanced:
		e.emit(ToolProgress(ev))
	case agent.Returned:
		return e.append(session.Message{Message: ev.Message})
	case agent.Told:
		return e.append(session.CustomMessage{Type: "banyan.told", Content: []llm.Block{llm.Text{Text: ev.Text}}, Display: true})
	}
	return nil
}

// meet looks for instructions of the folder that a call is about.
func (e *Engine) meet(call llm.ToolCall) {
	var args struct{ Path string }
	if e.cfg.Below == nil || json.Unmarshal(call.Arguments, &args) != nil || args.Path == "" {
		return
	}
	if text := e.cfg.Below(args.Path); text != "" {
		e.met = append(e.met, text)
	}
}

// silentOverflow is the error of an answer that is none because the request left
// no room for it: some servers say nothing.
func (e *Engine) silentOverflow(m llm.Message) error {
	if m.StopReason != llm.StopLength || len(m.Content) > 0 || !e.info.Overflowed(m) {
		return nil
	}
	return &llm.Error{Class: llm.Overflow, Provider: e.model.Provider, Text: "the request left no room for an answer"}
}

// startQueued begins the next turn with what was sent during the last one:
// steering that came too late for it, else the oldest follow-up.
func (e *Engine) startQueued() {
	next := e.steering
	e.steering = nil
	if len(next) == 0 && len(e.waiting) > 0 {
		next, e.waiting = e.waiting[:1], e.waiting[1:]
	}
	if len(next) == 0 {
		return
	}
	e.emitQueue(nil)
	e.startWith(next...)
}

// setQueue takes the user's order of the follow-ups. Pictures stay with the text
// that they came with.
func (e *Engine) setQueue(texts []string) {
	before := e.waiting
	e.waiting = nil
	for _, text := range texts {
		s := Submit{Text: text, FollowUp: true}
		if i := slices.IndexFunc(before, func(b Submit) bool { return b.Text == text }); i >= 0 {
			s = before[i]
			before = slices.Delete(slices.Clone(before), i, i+1)
		}
		e.waiting = append(e.waiting, s)
	}
	e.emitQueue(nil)
}

// takeBack gives waiting prompts back to the editor.
func (e *Engine) takeBack() {
	var back []string
	for _, s := range append(e.steering, e.waiting...) {
		back = append(back, s.Text)
	}
	if len(back) == 0 {
		return
	}
	e.steering, e.waiting = nil, nil
	e.emitQueue(back)
}

func (e *Engine) emitQueue(back []string) {
	q := Queue{TakenBack: back}
	for _, s := range e.steering {
		q.Steering = append(q.Steering, s.Text)
	}
	for _, s := range e.waiting {
		q.FollowUps = append(q.FollowUps, s.Text)
	}
	e.emit(q)
	e.saveQueue(append(q.Steering, q.FollowUps...))
}

// saveQueue keeps the prompts that wait for the next time. Losing them is told,
// and nothing more: they are on the screen.
func (e *Engine) saveQueue(prompts []string) {
	if e.cfg.SaveQueue == nil {
		return
	}
	if err := e.cfg.SaveQueue(e.session.Snapshot().Header().ID, prompts); err != nil {
		e.notice(Warning, "The queue is not kept: %v", err)
	}
}

// loadQueue brings back the prompts that waited when the session was left. They
// wait for the end of the next turn, or to be taken back.
func (e *Engine) loadQueue() {
	e.steering, e.waiting = nil, nil
	if e.cfg.LoadQueue == nil {
		return
	}
	for _, text := range e.cfg.LoadQueue(e.session.Snapshot().Header().ID) {
		e.waiting = append(e.waiting, Submit{Text: text, FollowUp: true})
	}
	if len(e.waiting) > 0 {
		e.emitQueue(nil)
	}
}

// draft is what of a user's message goes back to the editor.
func draft(content []llm.Block) *Draft {
	d := &Draft{}
	var texts []string
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			texts = append(texts, b.Text)
		case llm.Image:
			d.Images = append(d.Images, b)
		}
	}
	d.Text = strings.Join(texts, "\n")
	return d
}
