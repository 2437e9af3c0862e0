package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tool"
)

// taskIs says how a task stands when that changes. Tasks are numbered in the
// order in which they were told of; one of a task's own is not told.
func (t *talk) taskIs(s engine.TaskStatus) {
	i := slices.IndexFunc(t.tasks, func(k engine.TaskStatus) bool { return k.ID == s.ID })
	if i < 0 {
		t.tasks = append(t.tasks, s)
		i = len(t.tasks) - 1
	} else if before := t.tasks[i].View.State; before == s.View.State {
		t.tasks[i] = s
		return
	}
	t.tasks[i] = s
	t.say.label(fmt.Sprintf("Task %d %s", i+1, taskName(s)), taskState(s.View))
}

func taskName(s engine.TaskStatus) string {
	return strings.TrimSpace(s.Agent + " " + s.Description)
}

// taskState is how a task stands, in words.
func taskState(v tool.TaskView) string {
	text := string(v.State)
	if v.State == tool.TaskRunning || v.State == tool.TaskWaiting {
		return text
	}
	if v.Millis > 0 {
		text += fmt.Sprintf(", %v", (time.Duration(v.Millis) * time.Millisecond).Round(time.Second))
	}
	if v.Calls > 0 {
		text += ", " + count(v.Calls, "call")
	}
	if v.Tokens > 0 {
		text += ", " + count(v.Tokens, "token")
	}
	if v.USD > 0 {
		text += fmt.Sprintf(", %.2f dollars", v.USD)
	}
	return text
}

// tasksCommand is /tasks: without words it reads the tasks.
func (t *talk) tasksCommand(args string) error {
	verb, rest, _ := strings.Cut(args, " ")
	number, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if verb == "" {
		if len(t.tasks) == 0 {
			t.say.label("Notice", "this session has given no tasks")
		}
		for i, s := range t.tasks {
			t.say.label(fmt.Sprintf("Task %d %s", i+1, taskName(s)), taskState(s.View))
		}
		return nil
	}
	if verb == "resume" && number == "" {
		t.engine.Send(engine.ResumeTasks{})
		return nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(t.tasks) {
		return fmt.Errorf("/tasks %s needs the number of a task; /tasks reads them", verb)
	}
	id := t.tasks[n-1].ID
	switch {
	case verb == "resume":
		t.engine.Send(engine.ResumeTasks{Tasks: []string{id}})
	case verb == "stop":
		t.engine.Send(engine.StopTask{Task: id})
	case verb == "tell" && strings.TrimSpace(text) != "":
		t.engine.Send(engine.ToTask{Task: id, Command: engine.Submit{Text: strings.TrimSpace(text)}})
	default:
		return fmt.Errorf("/tasks takes resume, stop or tell and a text, not %q", args)
	}
	return nil
}
