package tui_test

import (
	"testing"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui/tuitest"
)

func TestTheModeOfTheBranch(t *testing.T) {
	d := tuitest.New(t).Open().Append(user("q"), session.ModeChange{Mode: "review"})
	d.Emit(engine.State{Permission: "ask"})
	d.Type("/plan").Press("enter").WasSent(engine.SetMode{Mode: "plan"})
	d.Emit(engine.State{Permission: "plan", Mode: "plan"}).Sees("plan")
	d.Type("/plan").Press("enter").WasSent(engine.SetMode{Mode: "none"})

	// The modes that the session has seen can be picked.
	d.Type("/mode").Press("enter").Sees("The mode of this branch", "none", "plan", "review")
	d.Press("down", "enter").WasSent(engine.SetMode{Mode: "review"})
	d.Emit(engine.State{Permission: "ask", Mode: "review"}).Sees("review  ask")
	d.Type("/mode goal").Press("enter").WasSent(engine.SetMode{Mode: "goal"})
	d.Type("/mode edits").Press("enter").WasSent(engine.SetPermission{Mode: "edits"})

	// Where planning was begun on the command line there is no mode to leave.
	d.Emit(engine.State{Permission: "plan"})
	d.Type("/plan").Press("enter").WasSent(engine.SetPermission{Mode: "ask"})
}
