package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"banyan/internal/session"
	"banyan/internal/tool"
)

// longest is the time-out of a user's command in seconds: the user ends it.
const longest = 86_400

// runCommand runs what the user typed after "!", with the tool that models use,
// so that both have the same shell, environment and limits.
func (e *Engine) runCommand(c RunCommand) {
	if !e.idleOr("run it") {
		return
	}
	shell, ok := tool.Find(e.cfg.Tools, "bash")
	if !ok {
		e.notice(Failure, "Commands cannot be run here: there is no shell tool.")
		return
	}
	e.start("command", func(ctx context.Context) error {
		o := &UserBash{Exclude: c.Exclude, Command: c.Command}
		if err := e.consult(ctx, o); err != nil {
			return err
		}
		c.Command = o.Command
		if o.Output != nil {
			d := session.Command{Command: c.Command, Excluded: c.Exclude, Output: *o.Output, ExitCode: &o.ExitCode, Time: e.cfg.Now()}
			return e.do(func() error { return e.append(append(e.stateEntries(), d)...) })
		}
		args, err := json.Marshal(map[string]any{"command": c.Command, "timeout": longest})
		if err != nil {
			return fmt.Errorf("run %s: %w", c.Command, err)
		}
		r := shell.Run(ctx, tool.Input{Args: args, Progress: func(v tool.View) {
			_ = e.do(func() error { e.emit(CommandRunning{e.userCommand(c, v)}); return nil })
		}})
		return e.do(func() error {
			d := e.userCommand(c, r.View)
			d.Cancelled = ctx.Err() != nil
			if r.View == nil && r.Err != nil {
				d.Output = r.Err.Error()
			}
			return errors.Join(e.append(append(e.stateEntries(), d)...), ctx.Err())
		})
	})
}

// userCommand is the entry of a command that gave this so far.
func (e *Engine) userCommand(c RunCommand, v tool.View) session.Command {
	d := session.Command{Command: c.Command, Excluded: c.Exclude, Time: e.cfg.Now()}
	if out, ok := v.(tool.Command); ok {
		d.Output, d.ExitCode = out.Output, out.ExitCode
		if out.Cut != nil {
			d.Truncated, d.FullOutput = true, out.Cut.Full
		}
	}
	return d
}
