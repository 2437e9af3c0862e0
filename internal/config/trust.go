package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Trust is the folders that the user trusts, and the programs of theirs that may
// run. It is one file outside of all of them, readable by its user only, shared
// by every program that runs: each question reads it, each change is made whole
// under a lock.
//
// Before a folder is trusted, nothing in it has an effect. Nothing below it is
// opened for its content: no .banyan/settings.json and no settings.local.json;
// no AGENTS.md or CLAUDE.md; no .env; no hooks, MCP servers (.mcp.json), skills,
// prompt templates, themes or extensions; no git, which runs programs that a
// repository's configuration names. What is looked at is the folder's path and
// whether something is called .git beside it. That holds without a screen too,
// where nobody can be asked.
//
// A folder is known by its real path, with all links resolved, and by its device
// and inode: another folder that takes its place, or is mounted there, is asked
// about again. Nothing that a folder contains says whether it is trusted: no
// pointer in it (a .git file, a commondir, a link) borrows the trust of another.
//
// Trust in a folder counts for all below it, down to where another repository
// begins: what was cloned or vendored later is somebody else's and is asked
// about by itself. It is never given to the user's home folder, to what holds
// it, to a folder where anybody may create files, or to one that holds this file.
type Trust struct {
	File string // the store; it need not exist
	Home string // the user's home folder; empty if there is none
}

// Trust is the user's store of trust.
func (p Paths) Trust() Trust {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Trust{File: filepath.Join(p.State, "trust.json"), Home: home}
}

// TrustedFolder is one folder that the user trusts.
type TrustedFolder struct {
	Path    string    `json:"path"` // real and absolute
	Device  uint64    `json:"device,omitempty"`
	Inode   uint64    `json:"inode,omitempty"`
	Granted time.Time `json:"granted"`
}

// TrustedItem is one program that the user allowed to be run: a hook, an MCP
// server, an extension.
type TrustedItem struct {
	Kind    string    `json:"kind"`
	Hash    string    `json:"hash"` // as [ItemHash] gives it
	Name    string    `json:"name"` // what it was called when it was allowed, for people
	Granted time.Time `json:"granted"`
}

// store is the file's content.
type store struct {
	Version int             `json:"version"`
	Folders []TrustedFolder `json:"folders"`
	Items   []TrustedItem   `json:"items,omitempty"`
}

const storeVersion = 1

// repositories are the names that make a folder the root of a repository.
var repositories = []string{".git", ".hg", ".jj", ".sl", ".svn"}

// Trusted says whether a folder is trusted, and the folder whose trust covers
// it: that folder itself or one above. The error says why it cannot be known;
// nothing is trusted then.
func (t Trust) Trusted(dir string) (by string, ok bool, err error) {
	at, err := real(dir)
	if err != nil {
		return "", false, fmt.Errorf("find out whether %s is trusted: %w", dir, err)
	}
	s, err := t.read()
	if err != nil || len(s.Folders) == 0 {
		return "", false, err
	}
	for {
		if i := s.folder(at.Path); i >= 0 {
			f := s.Folders[i]
			if f.Device != at.Device || f.Inode != at.Inode || t.refuses(at) != nil {
				return "", false, nil
			}
			return at.Path, true, nil
		}
		parent := filepath.Dir(at.Path)
		if parent == at.Path || repositoryRoot(at.Path) {
			return "", false, nil
		}
		if at, err = real(parent); err != nil {
			return "", false, fmt.Errorf("find out whether %s is trusted: %w", dir, err)
		}
	}
}

// Candidate is the folder to ask the user about, for work in dir: the root of
// the repository that holds it, or dir itself where there is none or its root
// cannot be trusted. The error says why neither can be.
func (t Trust) Candidate(dir string) (string, error) {
	at, err := real(dir)
	if err != nil {
		return "", fmt.Errorf("find out what %s belongs to: %w", dir, err)
	}
	for path := at.Path; path != filepath.Dir(path); path = filepath.Dir(path) {
		if !repositoryRoot(path) {
			continue
		}
		if root, err := real(path); err == nil && t.refuses(root) == nil {
			return path, nil
		}
		break
	}
	if err := t.refuses(at); err != nil {
		return "", fmt.Errorf("%s cannot be trusted: %w", dir, err)
	}
	return at.Path, nil
}

// Grant trusts a folder. The error says why it cannot be.
func (t Trust) Grant(dir string) error {
	at, err := real(dir)
	if err == nil {
		err = t.refuses(at)
	}
	if err != nil {
		return fmt.Errorf("trust %s: %w", dir, err)
	}
	at.Granted = time.Now().UTC().Truncate(time.Second)
	return t.change(func(s *store) {
		s.drop(at.Path)
		s.Folders = append(s.Folders, at)
	})
}

// Revoke takes a folder's trust back. Where it was trusted for a folder above
// it, that one has to be named. A folder that is gone can be named, too.
func (t Trust) Revoke(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("no longer trust %s: %w", dir, err)
	}
	if at, err := real(path); err == nil {
		path = at.Path
	}
	return t.change(func(s *store) { s.drop(path) })
}

// List is all trusted folders, by path.
func (t Trust) List() ([]TrustedFolder, error) {
	s, err := t.read()
	slices.SortFunc(s.Folders, func(a, b TrustedFolder) int { return cmp.Compare(a.Path, b.Path) })
	return s.Folders, err
}

// ItemTrusted says whether a program may run: it, as it is now, in all that
// [ItemHash] was given.
func (t Trust) ItemTrusted(kind, hash string) (bool, error) {
	s, err := t.read()
	if err != nil {
		return false, err
	}
	return s.item(kind, hash) >= 0, nil
}

// GrantItem lets a program run from now on, until anything of it changes.
func (t Trust) GrantItem(kind, name, hash string) error {
	return t.change(func(s *store) {
		if s.item(kind, hash) < 0 {
			s.Items = append(s.Items, TrustedItem{kind, hash, name, time.Now().UTC().Truncate(time.Second)})
		}
	})
}

// RevokeItem takes that back.
func (t Trust) RevokeItem(kind, hash string) error {
	return t.change(func(s *store) {
		s.Items = slices.DeleteFunc(s.Items, func(i TrustedItem) bool { return i.Kind == kind && i.Hash == hash })
	})
}

// ItemHash is the SHA-256 of everything that decides what a program does: its
// resolved command, arguments, environment, and the content of the files it is
// made of, in a fixed order. No two different lists of parts look the same.
func ItemHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// refuses says why a folder cannot be trusted.
func (t Trust) refuses(at TrustedFolder) error {
	if t.Home != "" {
		if home, err := filepath.EvalSymlinks(t.Home); err == nil && within(home, at.Path) {
			return errors.New("it is your home folder or holds it; trust the project's own folder")
		}
	}
	if filepath.Dir(at.Path) == at.Path {
		return errors.New("it holds everything; trust the project's own folder")
	}
	if file, err := realOfMissing(t.File); err == nil && within(file, at.Path) {
		return errors.New("it holds the list of trusted folders; trust the project's own folder")
	}
	info, err := os.Stat(at.Path)
	if err != nil {
		return err
	}
	if m := info.Mode(); m&fs.ModeSticky != 0 && m.Perm()&0o002 != 0 {
		return errors.New("anybody can create files in it; trust the project's own folder")
	}
	return nil
}

// within says whether a path is a folder or lies below it. Both are real.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// realOfMissing resolves the links of a path whose last parts may not exist yet.
func realOfMissing(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for {
		at, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(at, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
			return "", err
		}
		path, missing = filepath.Dir(path), filepath.Join(filepath.Base(path), missing)
	}
}

// real is a folder as it really is.
func real(dir string) (TrustedFolder, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return TrustedFolder{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return TrustedFolder{}, err
	}
	if !info.IsDir() {
		return TrustedFolder{}, errors.New("it is not a folder")
	}
	f := TrustedFolder{Path: path}
	f.Device, f.Inode = identity(info)
	return f, nil
}

// repositoryRoot looks at names only.
func repositoryRoot(dir string) bool {
	return slices.ContainsFunc(repositories, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

func (s *store) folder(path string) int {
	return slices.IndexFunc(s.Folders, func(f TrustedFolder) bool { return f.Path == path })
}

func (s *store) item(kind, hash string) int {
	return slices.IndexFunc(s.Items, func(i TrustedItem) bool { return i.Kind == kind && i.Hash == hash })
}

func (s *store) drop(path string) {
	s.Folders = slices.DeleteFunc(s.Folders, func(f TrustedFolder) bool { return f.Path == path })
}

// read gives the store; a missing file is an empty one.
func (t Trust) read() (store, error) {
	f, err := openPlain(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		return store{}, nil
	}
	var text []byte
	if err == nil {
		text, err = readSmall(f)
	}
	var s store
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil && s.Version > storeVersion {
		err = errors.New("a newer version of this program wrote it")
	}
	if err != nil {
		// What was trusted is not known any more: nothing is.
		return store{}, fmt.Errorf("read the trusted folders in %s: %s; no folder is trusted until it is mended or removed", t.File, strings.TrimPrefix(err.Error(), "open "+t.File+": "))
	}
	return s, nil
}

// change reads the store, lets it be changed, and writes it, under a lock.
func (t Trust) change(do func(*store)) error {
	if err := os.MkdirAll(filepath.Dir(t.File), 0o700); err != nil {
		return fmt.Errorf("change the trusted folders: %w", err)
	}
	lock := flock.New(t.File+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("change the trusted folders: %w", err)
	}
	defer lock.Close()
	s, err := t.read()
	if err != nil {
		return err
	}
	do(&s)
	s.Version = storeVersion
	text, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = replace(t.File, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("change the trusted folders: %w", err)
	}
	return nil
}
