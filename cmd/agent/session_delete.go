package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"banyan/internal/session"
	"banyan/internal/tui/inert"
)

func runDelete(r *sessionRun, args []string) error {
	path, err := session.Find(r.store, args[0])
	if err != nil {
		return err
	}
	all, err := session.Family(path, session.Options{Store: r.store})
	if err != nil {
		return err
	}
	tasks := all[:len(all)-1]
	how := "trash"
	if err = session.ErrNoTrash; isFile(r.store, path) {
		err = session.Trash(path, r.paths.TrashDir())
	}
	if errors.Is(err, session.ErrNoTrash) {
		if !r.force && !r.confirm(fmt.Sprintf("There is no trash here. Delete %s%s for good? [y/N] ", path, withTasks(tasks))) {
			return fmt.Errorf("%s was not deleted; --force deletes without asking", path)
		}
		how, err = "deleted", session.Delete(path, session.Options{Store: r.store})
	}
	if err != nil {
		return err
	}
	shown := struct {
		Path  string   `json:"path"`
		How   string   `json:"how"`
		Tasks []string `json:"tasks"` // children before their parents
	}{path, how, append([]string{}, tasks...)}
	return r.print(shown, func(w io.Writer) {
		for _, file := range all {
			fmt.Fprintf(w, "%s: %s\n", inert.Line(file), how)
		}
	})
}

// withTasks says how many tasks go with their session.
func withTasks(tasks []string) string {
	if len(tasks) == 0 {
		return ""
	}
	return fmt.Sprintf(" and the sessions of its %d tasks", len(tasks))
}

func (r *sessionRun) confirm(question string) bool {
	fmt.Fprint(r.cmd.ErrOrStderr(), question)
	line, _ := bufio.NewReader(r.cmd.InOrStdin()).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
