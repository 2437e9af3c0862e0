package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// service is our name in the system's keyring.
const service = "banyan"

// Credentials are the keys that `agent login` keeps, in a file of mode 0600:
//
//	{"anthropic": {"key": "sk-…"}, "openai": {"keyring": true}, "google": {"key": "!op read op://…"}}
//
// A key that begins with "!" is a command whose output is the key, "$" names an
// environment variable.
//
// They may be read and set from several goroutines, and by several programs:
// setting a key reads the file anew and replaces it.
type Credentials struct {
	path    string
	entries atomic.Pointer[map[string]credential] // the map is never changed
}

type credential struct {
	Key     string `json:"key,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
}

// CredentialsFile is where they are in the folder of the user's configuration.
func CredentialsFile(dir string) string { return filepath.Join(dir, "credentials.json") }

// LoadCredentials reads a file; one that does not exist is empty.
func LoadCredentials(path string) (*Credentials, error) {
	c := &Credentials{path: path}
	entries, err := c.load()
	c.entries.Store(&entries)
	return c, err
}

func (c *Credentials) load() (map[string]credential, error) {
	entries := map[string]credential{}
	data, err := os.ReadFile(c.path)
	if c.path == "" || errors.Is(err, fs.ErrNotExist) {
		return entries, nil
	}
	if err != nil {
		return entries, fmt.Errorf("reading the keys: %w", err)
	}
	if json.Unmarshal(data, &entries) != nil {
		// What is in the file is secret, and so is the decoder's error.
		return map[string]credential{}, fmt.Errorf("%s is not JSON: correct it, or remove it and log in again", c.path)
	}
	return entries, nil
}

// Exposed says whether others may read the file; empty means no.
func (c *Credentials) Exposed() string {
	info, err := os.Stat(c.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("other users can read your keys: chmod 600 %s", c.path)
}

// Has says whether there is a key of a provider.
func (c *Credentials) Has(provider string) bool {
	_, ok := (*c.entries.Load())[provider]
	return ok
}

// Secret is what is kept under a name that is no provider's; empty for nothing.
func (c *Credentials) Secret(name string) (string, error) { return c.key(name) }

// key is what is kept of a provider: a key, a command, or a variable.
func (c *Credentials) key(provider string) (string, error) {
	e := (*c.entries.Load())[provider]
	if !e.Keyring {
		return e.Key, nil
	}
	key, err := keyring.Get(service, provider)
	if err != nil {
		return "", fmt.Errorf("reading the key of %s from the system's keyring: %w; log in again with `agent login %s`", provider, err, provider)
	}
	return key, nil
}

// Set keeps a key, in the system's keyring if that is asked for and there is one.
func (c *Credentials) Set(provider, key string, inKeyring bool) error {
	e := credential{Key: key}
	if inKeyring {
		if err := keyring.Set(service, provider, key); err != nil {
			return fmt.Errorf("the system's keyring does not take the key: %w", err)
		}
		e = credential{Keyring: true}
	}
	return c.change(func(entries map[string]credential) { entries[provider] = e })
}

// Remove forgets a key.
func (c *Credentials) Remove(provider string) error {
	e, ok := (*c.entries.Load())[provider]
	if !ok {
		return fmt.Errorf("no key of %s is kept in %s", provider, c.path)
	}
	if e.Keyring {
		if err := keyring.Delete(service, provider); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("removing the key of %s from the system's keyring: %w", provider, err)
		}
	}
	return c.change(func(entries map[string]credential) { delete(entries, provider) })
}

// change edits the file. One that cannot be read stays as it is.
func (c *Credentials) change(edit func(map[string]credential)) error {
	entries, err := c.load()
	if err != nil {
		return err
	}
	edit(entries)
	if err := c.save(entries); err != nil {
		return err
	}
	c.entries.Store(&entries)
	return nil
}

// save replaces the file: after a crash it is the old one or the new one.
func (c *Credentials) save(entries map[string]credential) error {
	if c.path == "" {
		return errors.New("there is no folder to keep keys in")
	}
	data, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keeping the keys: %w", err)
	}
	f, err := os.CreateTemp(dir, ".credentials-*") // of mode 0600
	if err != nil {
		return fmt.Errorf("keeping the keys: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return fmt.Errorf("keeping the keys in %s: %w", c.path, err)
	}
	return nil
}

// commandTime is how long a command may take to give a key: people may have to
// touch something.
const commandTime = 2 * time.Minute

// reveal makes a key of what stands for it.
func reveal(ctx context.Context, value string, env func(string) string) (string, error) {
	switch {
	case strings.HasPrefix(value, "!"):
		return run(ctx, strings.TrimSpace(value[1:]))
	case strings.HasPrefix(value, "$"):
		name := strings.Trim(value[1:], "{}")
		if key := env(name); key != "" {
			return key, nil
		}
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return value, nil
}

// run is the output of a command. Its own words stay out of the error but for
// the first line of what it complained: that may tell what is missing.
func run(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	shell, flag := "/bin/sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.WaitDelay = time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return "", fmt.Errorf("the command for the key failed: %w: %s", err, line)
	}
	key := strings.TrimSpace(out.String())
	if key == "" || strings.ContainsAny(key, "\r\n") {
		return "", errors.New("the command for the key printed no key: it must print one line")
	}
	return key, nil
}
