package permission

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pathPattern is a rule's pattern for paths, in the manner of .gitignore.
type pathPattern struct {
	from  origin
	glob  string // relative to from
	depth bool   // matches at any depth: it has no slash
}

type origin uint8

const (
	fromDir  origin = iota // x (at any depth), x/y, ./x: the working folder
	fromBase               // /x: the folder of the settings
	fromRoot               // //x: the root
	fromHome               // ~/x
)

func parsePathPattern(text string) (pathPattern, error) {
	p := pathPattern{glob: text}
	switch {
	case strings.HasPrefix(text, "//"):
		p.from, p.glob = fromRoot, text[2:]
	case strings.HasPrefix(text, "/"):
		p.from, p.glob = fromBase, text[1:]
	case strings.HasPrefix(text, "~/"):
		p.from, p.glob = fromHome, text[2:]
	default:
		p.depth = !strings.Contains(strings.TrimSuffix(text, "/"), "/")
		p.glob = strings.TrimPrefix(text, "./")
	}
	p.glob = strings.TrimSuffix(p.glob, "/")
	if p.glob == "" || !doublestar.ValidatePattern(p.glob) {
		return p, fmt.Errorf("%q is no pattern for paths", text)
	}
	return p, nil
}

// matchesPath tells whether a rule for files is about an absolute path, or about
// a folder that it is in.
func (r Rule) matchesPath(abs string, w Workspace) bool {
	if r.all {
		return true
	}
	base := map[origin]string{fromDir: w.Dir, fromBase: r.base(w.Dir), fromRoot: "/", fromHome: w.Home}[r.pattern.from]
	rel, ok := below(base, abs)
	if !ok {
		return false
	}
	rel = filepath.ToSlash(rel)
	for part := rel; part != "." && part != "/"; part = path.Dir(part) {
		subject := part
		if r.pattern.depth {
			subject = path.Base(part)
		}
		if doublestar.MatchUnvalidated(r.pattern.glob, subject) {
			return true
		}
	}
	return rel == "." && (r.pattern.glob == "**" || r.pattern.glob == ".")
}

// couldMatchBelow tells whether a rule may be about something in a folder.
func (r Rule) couldMatchBelow(folder string, w Workspace) bool {
	if r.all || r.pattern.depth {
		return true
	}
	fixed, _ := doublestar.SplitPattern(r.pattern.glob)
	base := map[origin]string{fromDir: w.Dir, fromBase: r.base(w.Dir), fromRoot: "/", fromHome: w.Home}[r.pattern.from]
	at := filepath.Join(base, fixed)
	_, in := below(folder, at)
	_, around := below(at, folder)
	return in || around
}

// target is a path that a call names: as it is written and where it leads.
type target struct {
	named, real string // absolute
}

// start is the folder that relative paths of a call start from.
func (w Workspace) start() string { return cmp.Or(w.cwd, w.Dir) }

// target resolves a path. A path that cannot be resolved leads nowhere we know.
func (w Workspace) target(base, name string) (target, error) {
	if name == "~" || strings.HasPrefix(name, "~/") {
		name = filepath.Join(w.Home, name[1:])
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(base, name)
	}
	named := filepath.Clean(name)
	real, err := resolve(named)
	return target{named, real}, err
}

// resolve follows links as far as a path exists.
func resolve(abs string) (string, error) {
	var rest string
	for {
		real, err := filepath.EvalSymlinks(abs)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || abs == filepath.Dir(abs) {
			return "", err
		}
		if _, err := os.Lstat(abs); err == nil {
			return "", fmt.Errorf("%s is a link to nothing", abs)
		}
		rest = filepath.Join(filepath.Base(abs), rest)
		abs = filepath.Dir(abs)
	}
}

// below is path relative to dir where it is dir or inside it.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// inside tells whether a path is in the workspace, as it is written and where it
// leads.
func (w Workspace) inside(t target) bool {
	return w.within(t.named) && w.within(t.real)
}

func (w Workspace) within(path string) bool {
	for _, dir := range append([]string{w.Dir}, w.Dirs...) {
		if _, ok := below(dir, path); ok {
			return true
		}
	}
	return false
}

// readable tells whether a path is in a folder of ours that models are pointed
// to.
func (w Workspace) readable(t target) bool {
	for _, dir := range w.Readable {
		if _, ok := below(dir, t.real); ok {
			return true
		}
	}
	return false
}

// Paths that have a meaning to other programs are compared in lower case: there
// are disks on which that makes no difference.

// forbidden are files that run or steer programs behind the user's back. No
// tool of ours changes them, whatever the rules say; the user does.
var forbidden = []string{
	".git/hooks/**", ".git/config", ".git/config.worktree", ".git/modules/**/{config,hooks/**}", ".git/worktrees/**/config*", ".git/info/attributes",
	".banyan/**",
}

// delicate are files by which a change does more than it seems: they run when a
// folder is opened, a test or a build is started, or an agent reads them. They
// are asked for in every mode.
var delicate = []string{
	".git/**", ".gitmodules", ".gitattributes", ".envrc", ".mcp.json", ".claude/**", ".codex/**", ".cursor/**", ".pi/**", ".gemini/**",
	".vscode/**", ".idea/**", ".zed/**", ".husky/**", ".devcontainer/**", ".github/workflows/**", ".gitlab-ci.yml", ".circleci/**", "jenkinsfile",
	"agents.md", "claude.md", ".npmrc", ".yarnrc*", ".pre-commit-config.yaml", "lefthook.yml",
	".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".inputrc", ".gitconfig",
}

// secrets are files that hold keys and passwords. Reading them is asked for,
// though they be in the workspace.
var secrets = []string{
	".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", ".vault-token", ".boto", ".s3cfg",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
	"credentials", "credentials.*", "secrets", "secrets.*", "*.secret", "*.secrets", "*service-account*.json", "shadow", "gshadow", ".git/config",
	".ssh/**", ".aws/**", ".gnupg/**", ".kube/**", ".docker/config.json", ".config/gh/**", ".config/gcloud/**", ".azure/**", ".password-store/**",
}

// harmlessSecrets are examples that projects ship.
var harmlessSecrets = []string{".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub"}

func isForbidden(t target) bool { return listed(forbidden, t.named) || listed(forbidden, t.real) }
func isDelicate(t target) bool  { return listed(delicate, t.named) || listed(delicate, t.real) }

func isSecret(t target) bool {
	return listed(secrets, t.named) && !listed(harmlessSecrets, t.named) || listed(secrets, t.real) && !listed(harmlessSecrets, t.real)
}

// listed tells whether a path ends, at a slash, in something that one of the
// patterns matches.
func listed(patterns []string, abs string) bool {
	abs = strings.ToLower(filepath.ToSlash(abs))
	for _, p := range patterns {
		if doublestar.MatchUnvalidated("/**/"+p, abs) {
			return true
		}
	}
	return false
}
