package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Item is one thing that runs a program by itself: an MCP server, a hook, an
// extension. One that a project has counts only where its folder is trusted and
// the user has approved the item itself; once anything of it changes it is asked
// about again. What a user's own settings have needs no approval.
type Item struct {
	Kind string // "mcp", "hook", "extension"; kinds share nothing
	// Folder is the root of the project that has the item. It is empty for things
	// of the user's own that are pinned all the same, such as what a server says
	// of its tools.
	Folder string
	Name   string // within kind and folder
	// Text is all that decides what the item does, in a fixed order, as people
	// are shown it before they approve: the command, its arguments and
	// environment, and the files it is made of, as [FilesNamed] gives them. What
	// is approved is this text, byte for byte. It comes from outside: it is not
	// fit for a terminal as it is, and must not hold secrets.
	Text string
}

// Hash is the SHA-256 of the item's text, in hexadecimal.
func (i Item) Hash() string {
	sum := sha256.Sum256([]byte(i.Text))
	return hex.EncodeToString(sum[:])
}

// Approval is what the user has said to an item.
type Approval struct {
	OK bool // to the item as it is now
	// Changed: to the item as it was, with another text.
	Changed bool
	// Before is that text; empty where it is not known any more.
	Before string
}

// approved is one item in the store. Its text lies beside the store, in a file
// that is called by its hash, so that the store stays small.
type approved struct {
	Kind    string    `json:"kind"`
	Folder  string    `json:"folder,omitempty"`
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Granted time.Time `json:"granted"`
}

// is says whether the stored item is this one, whatever its text.
func (a approved) is(kind, folder, name string) bool {
	return a.Kind == kind && a.Folder == folder && a.Name == name
}

// Approved says whether an item may run: its folder is trusted and the user has
// approved it with this text. The error says why that cannot be known; nothing
// is approved then.
func (t Trust) Approved(item Item) (Approval, error) {
	folder, err := t.approvable(item)
	if err != nil {
		return Approval{}, err
	}
	s, err := t.read()
	if err != nil {
		return Approval{}, err
	}
	i := s.item(item.Kind, folder, item.Name)
	if i < 0 {
		return Approval{}, nil
	}
	if s.Items[i].Hash == item.Hash() {
		return Approval{OK: true}, nil
	}
	return Approval{Changed: true, Before: t.approvedText(s.Items[i].Hash)}, nil
}

// Approve lets an item run from now on, until its text changes. What was
// approved under its name before is not any more.
func (t Trust) Approve(item Item) error {
	folder, err := t.approvable(item)
	if err != nil {
		return err
	}
	if len(item.Text) > maxFile {
		return fmt.Errorf("approve %s %s: what it says of itself is larger than %d KB", item.Kind, item.Name, maxFile>>10)
	}
	now := approved{item.Kind, folder, item.Name, item.Hash(), time.Now().UTC().Truncate(time.Second)}
	return t.change(func(s *store) error {
		s.dropItem(item.Kind, folder, item.Name)
		s.Items = append(s.Items, now)
		return replace(t.textFile(now.Hash), []byte(item.Text))
	})
}

// RevokeItem takes an approval back, whatever text it was for.
func (t Trust) RevokeItem(kind, folder, name string) error {
	if at, err := real(folder); folder != "" && err == nil {
		folder = at.Path
	}
	return t.change(func(s *store) error {
		s.dropItem(kind, folder, name)
		return nil
	})
}

// approvable is the real path of the item's folder, which must be trusted.
func (t Trust) approvable(item Item) (string, error) {
	if item.Folder == "" {
		return "", nil
	}
	_, trusted, err := t.Trusted(item.Folder)
	if err == nil && !trusted {
		err = errors.New("its folder is not trusted")
	}
	var at TrustedFolder
	if err == nil {
		at, err = real(item.Folder)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s of %s: %w", item.Kind, item.Name, item.Folder, err)
	}
	return at.Path, nil
}

func (s *store) item(kind, folder, name string) int {
	return slices.IndexFunc(s.Items, func(a approved) bool { return a.is(kind, folder, name) })
}

func (s *store) dropItem(kind, folder, name string) {
	s.Items = slices.DeleteFunc(s.Items, func(a approved) bool { return a.is(kind, folder, name) })
}

// dropTexts removes the texts that the store is not about any more. A text is on
// the disk before the store names it and goes after the store has let go of it:
// a crash in between leaves a file that nobody reads.
func (t Trust) dropTexts(before, now []approved) {
	for _, old := range before {
		if !slices.ContainsFunc(now, func(a approved) bool { return a.Hash == old.Hash }) {
			_ = os.Remove(t.textFile(old.Hash)) // people are shown it, nothing rests on it
		}
	}
}

// textFile is where the text of a hash is kept.
func (t Trust) textFile(hash string) string {
	return filepath.Join(filepath.Dir(t.File), "approved", filepath.Base(hash))
}

// approvedText is the text of a hash, empty if it is not there or is another.
func (t Trust) approvedText(hash string) string {
	f, err := openPlain(t.textFile(hash))
	if err != nil {
		return ""
	}
	text, err := readSmall(f)
	if err != nil || (Item{Text: string(text)}).Hash() != hash {
		return ""
	}
	return string(text)
}

// maxNamed is how much is read of a file that a command names, in bytes.
const maxNamed = 256 << 20

// FilesNamed are the files below a folder that words of a command name, each
// with the SHA-256 of its content, a line a file: a script that changes after it
// was approved is another item. Words that name no file, and files elsewhere,
// are left out; relative words start at the folder.
func FilesNamed(folder string, words ...string) string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return ""
	}
	defer root.Close()
	var lines []string
	for _, word := range words {
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value // --config=server.js
		}
		name := word
		if filepath.IsAbs(word) {
			if name, err = filepath.Rel(folder, word); err != nil {
				continue
			}
		}
		if sum, ok := fileHash(root, name); ok {
			lines = append(lines, fmt.Sprintf("file %q sha256 %s\n", filepath.ToSlash(filepath.Clean(name)), sum))
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// fileHash is the hash of a file below a root, and whether there is one. What
// cannot be read has a hash that no content has.
func fileHash(root *os.Root, name string) (sum string, ok bool) {
	if !filepath.IsLocal(name) {
		return "", false
	}
	if info, err := root.Lstat(name); err != nil || info.IsDir() {
		return "", false
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "unreadable", true
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return "", false // behind a link
	}
	h := sha256.New()
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxNamed {
		if _, err = io.Copy(h, io.LimitReader(f, maxNamed)); err == nil {
			return hex.EncodeToString(h.Sum(nil)), true
		}
	}
	return "unreadable", true
}
