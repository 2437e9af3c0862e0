package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"banyan/internal/config"
	"banyan/internal/llm/provider"
)

// checkTime is how long the check of a key may take.
const checkTime = 20 * time.Second

func loginCommand() *cobra.Command {
	var keyring, unchecked bool
	cmd := &cobra.Command{
		Use:   "login PROVIDER",
		Short: "Store a provider's key",
		Long: `Ask for a provider's key without showing it, check it with one call, and store
it in a file that only you can read, or in the system's keyring. The key may
also be a command that prints it: "!op read op://vault/anthropic/key".`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, p, err := openProvider(args[0])
			if err != nil {
				return err
			}
			key, err := askKey(cmd, p)
			if err != nil {
				return err
			}
			if !unchecked {
				ctx, cancel := context.WithTimeout(cmd.Context(), checkTime)
				defer cancel()
				if err := c.Check(ctx, p.Name, key); err != nil {
					return fmt.Errorf("the key was not stored: %w (--no-check stores it all the same)", err)
				}
			}
			if err := c.Credentials().Set(p.Name, key, keyring); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The key of %s is stored.\n", p.Title)
			return err
		},
	}
	cmd.Flags().BoolVar(&keyring, "keyring", false, "store it in the system's keyring")
	cmd.Flags().BoolVar(&unchecked, "no-check", false, "store it without asking the provider")
	return cmd
}

func logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout PROVIDER",
		Short: "Remove a provider's stored key",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, p, err := openProvider(args[0])
			if err != nil {
				return err
			}
			if !c.Credentials().Has(p.Name) {
				return fmt.Errorf("no key of %s is stored", p.Title)
			}
			if err := c.Credentials().Remove(p.Name); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The key of %s is removed.\n", p.Title)
			return err
		},
	}
}

func openProvider(name string) (*provider.Catalog, provider.Provider, error) {
	paths, err := config.FindPaths()
	if err != nil {
		return nil, provider.Provider{}, err
	}
	c := newRoster(paths.Config, false, 0, nil).catalog.Load()
	p, err := c.Provider(name)
	return c, p, err
}

// askKey reads a key from the terminal without showing it, or the first line of
// standard input.
func askKey(cmd *cobra.Command, p provider.Provider) (string, error) {
	var line string
	if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		cmd.PrintErrf("Key of %s: ", p.Title)
		typed, err := term.ReadPassword(int(f.Fd()))
		cmd.PrintErrln()
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		line = string(typed)
	} else {
		read, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the key: %w", err)
		}
		line = read
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("no key was given; nothing was stored")
	}
	return line, nil
}
