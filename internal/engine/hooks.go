package engine

import (
	"context"
	"errors"

	"banyan/internal/session"
)

// Hooks hear of what happens to a session, before and after, and may have a say
// in it. An extension host implements it; nil in [Config] costs nothing.
//
// Methods are called beside the owner, one at a time, and may take their time:
// the user can interrupt, then ctx is done and nothing happens. They must not
// wait for an [Event]. An error of a Before method stops what was to happen, and
// the user is told; [ErrVetoed] says that it was meant to. What comes after
// cannot be stopped any more.
type Hooks interface {
	BeforeTree(context.Context, TreePreparation) (TreeChange, error)
	Tree(context.Context, TreeDone)
	BeforeBranch(context.Context, BranchPreparation) error
	Branch(context.Context, BranchDone)
	BeforeCompact(context.Context, CompactPreparation) (CompactChange, error)
	Compact(context.Context, CompactDone)
	BeforeSwitch(context.Context, SwitchPreparation) error
	Switch(context.Context, SwitchDone)
}

// ErrVetoed is what a Before method of [Hooks] returns to stop what was to happen.
var ErrVetoed = errors.New("an extension does not want it")

// TreePreparation is a move of the leaf before it is made.
type TreePreparation struct {
	Target   session.ID
	OldLeaf  session.ID
	NewLeaf  session.ID      // where the leaf will be, or the summary will hang
	Common   session.ID      // the deepest entry on both paths; zero if there is none
	Left     []session.Entry // what is left behind, oldest first
	Navigate Navigate        // as the user asked for it
}

// TreeChange is what a hook wants otherwise. The zero value is nothing.
type TreeChange struct {
	// Summary, if not nil, is taken instead of the model's, where the user asked for one.
	Summary *session.BranchSummary
	// Instructions, if not nil, go instead of the user's, and Replace with them.
	Instructions *string
	Replace      bool
	Label        string // of the summary, or else of the target; empty for the user's
}

// TreeDone is a move that was made.
type TreeDone struct {
	OldLeaf, NewLeaf session.ID
	Summary          *session.Entry // nil if there is none
	FromHook         bool           // the summary is a hook's
}

// BranchPreparation is a fork into a new session before it is made.
type BranchPreparation struct {
	Entry session.ID // the one that was chosen
	Leaf  session.ID // up to which the path is taken; zero: an empty session
}

// BranchDone is a fork that was made.
type BranchDone struct {
	Parent string // file of the session that it came from; empty in memory
	Path   string // of the new one; empty in memory
	ID     string // of the new session
}

// CompactPreparation is a compaction before it is made.
type CompactPreparation struct {
	Reason       CompactionReason
	FirstKept    session.ID
	TokensBefore int
	Instructions string
	Path         []session.Entry // root first
}

// CompactChange is what a hook wants otherwise. The zero value is nothing.
type CompactChange struct {
	Summary *session.Compaction // taken instead of the model's; its FirstKept may be zero for the planned one
}

// CompactDone is a compaction that was made.
type CompactDone struct {
	Entry    session.Entry
	FromHook bool
}

// SwitchPreparation is a change of the session before it is made.
type SwitchPreparation struct {
	Reason string // "new", "resume" or "fork"
	Path   string // of the session to come; empty for a new one
}

// SwitchDone is a change of the session that was made.
type SwitchDone struct {
	Reason   string
	Previous string // file of the session before; empty in memory
}

// hooked does something that hooks have a say in: at once where there are none,
// else beside the owner, between before and after.
func (e *Engine) hooked(what string, before func(context.Context, Hooks) error, do func() error, after func(context.Context, Hooks)) {
	h := e.cfg.Hooks
	if h == nil {
		if err := do(); err != nil {
			e.notice(Failure, "%v", err)
		}
		return
	}
	e.start(what, func(ctx context.Context) error {
		if err := before(ctx, h); err != nil {
			return err
		}
		if err := e.do(func() error { return errors.Join(ctx.Err(), do()) }); err != nil {
			return err
		}
		after(ctx, h)
		return nil
	})
}
