package config

import (
	"cmp"
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
//
// Of what a trusted folder has, the programs that run by themselves are approved
// one by one: see [Item].
type Trust struct {
	File string // the store; it need not exist
	Home string // the user's home folder; empty if there is none
	// ForNow is a folder that is trusted for as long as this program runs, real and
	// absolute, as [Trust.Candidate] gives it; empty for none.
	ForNow string
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

// store is the file's content.
type store struct {
	Version int             `json:"version"`
	Folders []TrustedFolder `json:"folders"`
	Items   []approved      `json:"items,omitempty"`
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
	if err != nil || len(s.Folders) == 0 && t.ForNow == "" {
		return "", false, err
	}
	for {
		if t.ForNow == at.Path {
			return at.Path, true, nil
		}
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
	return t.change(func(s *store) error {
		s.drop(at.Path)
		s.Folders = append(s.Folders, at)
		return nil
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
	return t.change(func(s *store) error {
		s.drop(path)
		return nil
	})
}

// List is all trusted folders, by path.
func (t Trust) List() ([]TrustedFolder, error) {
	s, err := t.read()
	slices.SortFunc(s.Folders, func(a, b TrustedFolder) int { return cmp.Compare(a.Path, b.Path) })
	return s.Folders, err
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
func (t Trust) change(do func(*store) error) error {
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
	items := slices.Clone(s.Items)
	err = do(&s)
	s.Version = storeVersion
	var text []byte
	if err == nil {
		text, err = json.MarshalIndent(s, "", "  ")
	}
	if err == nil {
		err = replace(t.File, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("change the trusted folders: %w", err)
	}
	t.dropTexts(items, s.Items)
	return nil
}
