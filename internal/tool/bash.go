package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const bashPrompt = `Runs a command with bash and gives its output, standard error included, and its exit code if that is not 0. Each call is a new shell: "cd" and variables do not last, use cwd and env. There is no terminal and no input: programs that ask get nothing. Long output is cut in the middle and kept in a file that is named. The command and all that it starts is ended after the timeout. For servers and the like set background: the call returns at once with a job number for bash_output and bash_kill. To read, search and change files use the other tools.`

const bashSchema = `{"type":"object","additionalProperties":false,"required":["command"],"properties":{
"command":{"type":"string","minLength":1},
"cwd":{"type":"string","minLength":1,"description":"folder to run in, default the working folder"},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"more environment variables"},
"timeout":{"type":"number","exclusiveMinimum":0,"maximum":86400,"description":"seconds, default 120; without meaning for background"},
"background":{"type":"boolean","description":"do not wait for it"},
"unconfined":{"type":"boolean","description":"run outside of the sandbox, if there is one; the user is asked. For commands that need the network or other folders"}}}`

const bashOutputPrompt = `Gives what a background job has written since the last call, and whether it still runs.`

const bashKillPrompt = `Ends a background job with everything that it started, and gives the rest of its output.`

const jobSchema = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
"id":{"type":"integer","minimum":1,"description":"the job's number"}}}`

type bashArgs struct {
	Command    string            `json:"command"`
	Cwd        string            `json:"cwd"`
	Env        map[string]string `json:"env"`
	Timeout    float64           `json:"timeout"` // seconds
	Background bool              `json:"background"`
	Unconfined bool              `json:"unconfined"`
}

type jobArgs struct {
	ID int `json:"id"`
}

const defaultTimeout = 120 // seconds

func (e *Env) bash() Tool {
	return spec[bashArgs]{name: "bash", access: Execute, prompt: bashPrompt, schema: bashSchema, run: e.runBash}.tool()
}

func (e *Env) bashOutput() Tool {
	return spec[jobArgs]{
		name: "bash_output", access: Read, prompt: bashOutputPrompt, schema: jobSchema,
		run: func(_ context.Context, a jobArgs, _ func(View)) Result {
			j, err := e.job(a.ID)
			if err != nil {
				return Fail(err)
			}
			return e.news(j)
		},
	}.tool()
}

func (e *Env) bashKill() Tool {
	return spec[jobArgs]{
		name: "bash_kill", access: Read, prompt: bashKillPrompt, schema: jobSchema,
		run: func(_ context.Context, a jobArgs, _ func(View)) Result {
			j, err := e.job(a.ID)
			if err != nil {
				return Fail(err)
			}
			j.end()
			return e.news(j)
		},
	}.tool()
}

func (e *Env) runBash(ctx context.Context, a bashArgs, progress func(View)) Result {
	if a.Timeout == 0 {
		a.Timeout = defaultTimeout
	}
	j, err := e.start(a)
	if err != nil {
		return Fail(err)
	}
	if a.Background {
		text := fmt.Sprintf("Started as background job %d. Use bash_output to see what it writes, bash_kill to end it.", j.id)
		return TextResult(text, Command{Command: a.Command, Output: text + "\n"})
	}
	timeout := time.Duration(a.Timeout * float64(time.Second))
	why := j.follow(ctx, timeout, func() {
		v, _ := j.view(e.Now(), 0)
		progress(v)
	})
	v, shown := j.view(e.Now(), 0)
	r := TextResult(report(v), v)
	switch why {
	case canceled:
		r.Err = errors.New("interrupted: the command and all that it started was ended")
	case timedOut:
		r.Err = fmt.Errorf("the command was ended after %v: give a longer timeout, or run it in the background if it does not end by itself", timeout)
		if v.Output == "" {
			r.Err = fmt.Errorf("%w. It wrote nothing: it may have waited for input, and there is none", r.Err)
		}
	}
	if !j.running() {
		e.forget(j)
		return r
	}
	e.mu.Lock()
	j.readTo = shown
	e.mu.Unlock()
	left := fmt.Sprintf("[%s still running (%s) as background job %d: see bash_output and bash_kill]",
		plural(len(j.process.Left()), "process"), numbers(j.process.Left()), j.id)
	return withNote(r, left)
}

// news is what a job has written since it was last asked.
func (e *Env) news(j *job) Result {
	e.mu.Lock()
	v, next := j.view(e.Now(), j.readTo)
	j.readTo = next
	e.mu.Unlock()
	state := "still running"
	if !j.running() {
		state = "ended"
	}
	return TextResult(fmt.Sprintf("[job %d, %s]\n%s", j.id, state, report(v)), v)
}

// report is a command's end for the model.
func report(v Command) string {
	text := v.Output
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch {
	case v.Signal != "":
		text += fmt.Sprintf("[ended by signal: %s]", v.Signal)
	case v.ExitCode != nil && *v.ExitCode != 0:
		text += fmt.Sprintf("[exit code %d]", *v.ExitCode)
	case text == "":
		text = "[no output]"
	}
	return text
}

// workingDir is the folder that a command runs in.
func (e *Env) workingDir(name string) (string, error) {
	if name == "" {
		return e.Dir, nil
	}
	p, err := e.place(name)
	if err != nil {
		return "", err
	}
	defer p.close()
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return "", pathError(p.shown, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder to run in", p.shown)
	}
	return p.real, nil
}

// findShell finds bash where systems keep it, before PATH, which others may
// have arranged.
func findShell() (string, error) {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		return "", fmt.Errorf("commands need bash, which is not installed: %w", err)
	}
	return path, nil
}

func numbers(list []int) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ", ")
}
