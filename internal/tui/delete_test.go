package tui_test

import (
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/tuitest"
)

func TestDelete(t *testing.T) {
	d := tuitest.New(t).Open()
	run(d, "/delete").Sees("nothing to delete yet").WasSent()
}

func TestDeleteAsks(t *testing.T) {
	m, err := session.New(t.TempDir(), "/w", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, data := range []session.Data{
		session.Message{Message: llm.UserText("plan the \x1b[2Jparser", tuitest.Start)},
		session.Task{ID: "t1", Session: session.ChildID(m.Snapshot().Header().ID, "t1")}.Entry(),
	} {
		if _, err := m.Append(data); err != nil {
			t.Fatal(err)
		}
	}
	d := tuitest.New(t)
	d.Emit(engine.Opened{Session: m.Snapshot()}, engine.State{Permission: "ask"})
	run(d, "/delete").Sees("Delete plan the ␛[2Jparser (2 entries) and the sessions of its tasks (1", "Keep it").Press("enter").WasSent()
	run(d, "/delete").Press("down", "enter").WasSent(engine.NewSession{Discard: true})
	d.Emit(engine.Started{})
	d.Type("/delete").Press("enter").Sees("Something runs").WasSent()
}
