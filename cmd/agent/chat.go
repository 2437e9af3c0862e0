package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"banyan/internal/engine"
	"banyan/internal/headless"
)

// chat joins an engine with the front end that the flags ask for, and runs both.
func chat(cmd *cobra.Command, args []string, o chatOptions) error {
	if !slices.Contains(headless.Formats, headless.Format(o.format)) {
		return usagef("there is no output format %q; there are text, json, stream-json", o.format)
	}
	if cmd.Flags().Changed("json-schema") {
		if err := o.checkSchema(); err != nil {
			return err
		}
	}
	if os.Getenv("TERM") == "dumb" && needTerminal(cmd) == nil {
		o.reader = true // there is no screen to draw on
	}
	prompt, err := o.firstPrompt(cmd, args)
	if err != nil {
		return err
	}
	s, err := o.setUp(cmd.Context())
	if err != nil {
		return err
	}
	e := engine.New(s.Config)
	s.send = e.Send
	ctx := cmd.Context()
	switch {
	case o.print:
		return s.print(ctx, cmd, e, prompt)
	case o.reader:
		ctx, interrupts, stop := ownInterrupts(ctx)
		defer stop()
		return s.beside(ctx, e, func(ctx context.Context) error { return readAloud(ctx, cmd, e, s, prompt, interrupts) })
	}
	return s.beside(ctx, e, func(ctx context.Context) error { return screen(ctx, cmd, e, s, prompt) })
}

// print gives one answer. Commands in the prompt are run here: there is no
// screen that would.
func (s *setup) print(ctx context.Context, cmd *cobra.Command, e *engine.Engine, prompt string) error {
	submit, err := s.onlyPrompt(ctx, prompt)
	if err != nil {
		s.endServers() // nothing else has begun
		return err
	}
	return s.beside(ctx, e, func(ctx context.Context) error {
		return headless.Run(ctx, e, headless.Options{
			Prompt: submit.Text, Stands: submit.Stands, Format: headless.Format(s.opts.format), Partial: s.opts.partial,
			MaxUSD: s.settings.MaxBudgetUSD, Result: s.want,
			Out: cmd.OutOrStdout(), Log: cmd.ErrOrStderr(), Tools: s.toolNames,
		})
	})
}

// beside runs a front end beside the engine and what hears of it, and ends all of them.
func (s *setup) beside(ctx context.Context, e *engine.Engine, front func(context.Context) error) (err error) {
	s.hooks.Start(e.Send)
	s.beginExtensions(e)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
		err = errors.Join(err, s.Close())
	}()
	return front(ctx)
}

// firstPrompt is what the arguments and, without a screen, standard input say. It
// fails where what is asked for cannot be had here.
func (o *chatOptions) firstPrompt(cmd *cobra.Command, args []string) (string, error) {
	prompt := strings.Join(args, " ")
	if !o.print {
		if o.reader {
			return prompt, nil
		}
		return prompt, needTerminal(cmd)
	}
	piped, err := readPiped(cmd.InOrStdin())
	if err != nil {
		return "", err
	}
	if prompt = strings.TrimSpace(prompt + "\n\n" + piped); prompt == "" {
		return "", usagef(`there is no prompt; give one: agent -p "read go.mod"`)
	}
	return prompt, nil
}

// onlyPrompt makes the prompt of a run without a screen, which may need MCP
// servers: they have no later.
func (s *setup) onlyPrompt(ctx context.Context, prompt string) (engine.Submit, error) {
	if err := s.startServers(); err != nil {
		return engine.Submit{}, err
	}
	s.waitForServers(ctx)
	return s.expand(ctx, prompt)
}

// needTerminal says what to do where a screen cannot be had.
func needTerminal(cmd *cobra.Command) error {
	for _, s := range []any{cmd.InOrStdin(), cmd.OutOrStdout()} {
		if f, ok := s.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return usagef(`the chat needs a terminal; for one answer without it use: agent -p "…"`)
		}
	}
	return nil
}

// readPiped reads standard input, unless that is a terminal.
func readPiped(in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return "", nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(data), nil
}
