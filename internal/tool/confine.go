package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/sandbox"
)

// Confine puts all commands from now on in a box, as strong a one as this
// machine has, and tells how strong that is and why not stronger. With
// sandbox.None nothing is confined: say so and ask before commands run.
//
// Commands may then change the workspace, the user's caches and a private /tmp,
// read what holds no keys, and talk to nobody but themselves. A call leaves the
// box by "unconfined", for which a person is asked. hidden are more files and
// folders that commands may not read: our own credentials.
func (e *Env) Confine(hidden ...string) (sandbox.Strength, error) {
	e.hidden = hidden
	strength, why := sandbox.Available()
	if strength == sandbox.None {
		return strength, why
	}
	temp, err := e.commandTemp()
	if err != nil {
		return sandbox.None, err
	}
	b := &sandbox.Box{Temp: temp, Hidden: hidden, Write: []string{e.temp}} // models look into the outputs kept there
	for _, r := range e.roots {
		b.Write = append(b.Write, r.dir)
		for _, name := range steering {
			b.ReadOnly = append(b.ReadOnly, filepath.Join(r.dir, name))
		}
		if info, err := os.Lstat(filepath.Join(r.dir, ".git")); err == nil && info.Mode().IsRegular() { // it says where git is to look
			b.ReadOnly = append(b.ReadOnly, filepath.Join(r.dir, ".git"))
		}
	}
	for _, dir := range gitDirs(e.Dir) {
		b.Write = append(b.Write, dir)
		b.ReadOnly = append(b.ReadOnly, filepath.Join(dir, "hooks"), filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		b.Write = append(b.Write, cache)
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range keyFolders {
			b.Hidden = append(b.Hidden, filepath.Join(home, name))
		}
	}
	b.Hidden = append(b.Hidden, doors...)
	if agent := os.Getenv("SSH_AUTH_SOCK"); agent != "" {
		b.Hidden = append(b.Hidden, agent)
	}
	b.Hidden = existing(b.Hidden)
	b.Write = existing(b.Write)
	e.box = b
	return strength, why
}

// Box is what commands may touch: a copy, or nil if they are not confined.
func (e *Env) Box() *sandbox.Box {
	if e.box == nil {
		return nil
	}
	b := *e.box
	return &b
}

// steering are files of a workspace that run programs outside of the box, later.
var steering = []string{".git/hooks", ".git/config", ".banyan", ".mcp.json", ".envrc", ".vscode", ".idea"}

// keyFolders are files and folders of keys in a home.
var keyFolders = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker/config.json", ".config/gh", ".config/gcloud", ".config/hub", ".password-store",
	".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".vault-token",
	".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".bash_history", ".zsh_history",
	".claude", ".codex", ".gemini", ".pi",
}

// doors are sockets by which a program gets others to work for it.
var doors = []string{"/run/docker.sock", "/run/podman", "/run/containerd", "/run/dbus", "/run/user"}

// gitDirs are the folders outside of a workspace in which git keeps what belongs
// to it: of a repository that the workspace is a part of, of one that it is a
// work tree of. Files of the workspace say where they are, so they are believed
// only if the other side says the same.
func gitDirs(dir string) []string {
	root := dir
	var info os.FileInfo
	for {
		var err error
		if info, err = os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
		up := filepath.Dir(root)
		if up == root {
			return nil
		}
		root = up
	}
	link := filepath.Join(root, ".git")
	if info.IsDir() {
		return []string{link} // of the workspace itself too: it does no harm
	}
	text, err := os.ReadFile(link)
	at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return nil
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(root, at)
	}
	back, err := os.ReadFile(filepath.Join(at, "gitdir"))
	if err != nil || strings.TrimSpace(string(back)) != link || filepath.Base(filepath.Dir(at)) != "worktrees" {
		return nil
	}
	return []string{filepath.Dir(filepath.Dir(at))} // the repository's, which holds the work tree's
}

// existing are the paths that exist, without links.
func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if p, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// commandTemp is the private folder that commands have as TMPDIR.
func (e *Env) commandTemp() (string, error) {
	temp := filepath.Join(e.temp, "tmp")
	return temp, os.MkdirAll(temp, 0o700)
}
