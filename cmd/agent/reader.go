package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"banyan/internal/engine"
	"banyan/internal/reader"
	"banyan/internal/session"
)

// readAloud runs the chat in lines.
func readAloud(ctx context.Context, cmd *cobra.Command, e *engine.Engine, s *setup, prompt string, interrupts <-chan os.Signal) error {
	s.preferLocal(ctx, e)
	if s.opts.resume {
		prompt = strings.TrimSpace("/resume " + prompt)
	}
	return reader.Run(ctx, e, reader.Options{
		In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Interrupts: interrupts, Prompt: prompt, Expand: s.expand,
		Find: func(text string) (string, error) { return session.Find(s.Session.Store, text) },
	})
}

// ownInterrupts gives a context that other signals than Ctrl+C end, and Ctrl+C
// as something that happens: it ends what runs, not the program.
func ownInterrupts(ctx context.Context) (context.Context, <-chan os.Signal, func()) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	return ctx, interrupts, func() { signal.Stop(interrupts); stop() }
}
