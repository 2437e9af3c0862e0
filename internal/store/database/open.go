package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

const sqliteScheme = "sqlite:"

// Is tells whether a text names a database, and not files.
func Is(text string) bool {
	return strings.HasPrefix(text, sqliteScheme) || isPostgres(text)
}

func isPostgres(text string) bool {
	return strings.HasPrefix(text, "postgres:") || strings.HasPrefix(text, "postgresql:")
}

// Open makes a store of what a user wrote: sqlite:PATH, or a URL of PostgreSQL.
// It connects to nothing: the error is for a text that makes no sense, and has
// no password in it. SQLite is kept in the cache folder in the form that this
// machine runs, which takes a second or two to make; without a folder each
// process makes it when it is needed.
func Open(text, cacheDir string) (*Store, error) {
	if isPostgres(text) {
		return openPostgres(text)
	}
	path, ok := strings.CutPrefix(text, sqliteScheme)
	switch {
	case !ok:
		return nil, fmt.Errorf("%q is no database: give sqlite:PATH or postgres://HOST/DATABASE", Mask(text))
	case path == "":
		return nil, errors.New("sqlite: needs the path of a file, as in sqlite:sessions.db")
	case strings.ContainsAny(path, "#\x00"):
		return nil, fmt.Errorf("the path of an SQLite file cannot have a # in it: %q", path)
	}
	path, err := filepath.Abs(strings.TrimPrefix(path, "//"))
	if err != nil {
		return nil, fmt.Errorf("find the SQLite file %s: %w", path, err)
	}
	return &Store{dialect: &sqlite{path: path, cache: cacheDir}, name: sqliteScheme + path}, nil
}

// NoPassword is an error where a text has a password in it: what is kept in a
// file of settings is shown and copied.
func NoPassword(text string) error {
	if !isPostgres(text) {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("the PostgreSQL URL %s makes no sense", Mask(text))
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return errors.New("a password does not belong into the settings; leave it out of the URL and put it into ~/.pgpass, or into PGPASSWORD")
	}
	return nil
}

// Mask takes the password out of a URL, so that it can be shown.
func Mask(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		if _, after, ok := strings.Cut(text, "@"); ok && isPostgres(text) {
			return "postgres://…@" + after
		}
		return text
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "…")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// fault is what an error of a database means for who uses the program.
type fault struct {
	says string
	is   error // what it matches besides; may be nil
	err  error
}

func (f *fault) Error() string { return fmt.Sprintf("%s (%v)", f.says, f.err) }

func (f *fault) Unwrap() []error {
	if f.is == nil {
		return []error{f.err}
	}
	return []error{f.is, f.err}
}

const retryAfter = time.Second

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
