package permission

import (
	"regexp"
	"slices"
	"strings"
)

// families are beginnings of commands that mean the same whatever follows: for
// those "always" allows what follows to differ. All other commands are
// remembered as they are.
var families = []string{
	"go build", "go test", "go vet", "go fmt", "go list", "go doc", "go mod tidy", "go mod download", "gofmt", "gofumpt", "staticcheck",
	"cargo build", "cargo test", "cargo check", "cargo clippy", "cargo fmt",
	"npm test", "npm run *", "npm ci", "yarn test", "pnpm test", "pnpm run *", "bun test", "npm ls", "tsc", "eslint", "prettier", "vitest", "jest",
	"pytest", "mypy", "ruff", "black", "tox", "git status", "git diff", "git show", "git add", "git commit", "git branch", "git blame", "git stash list",
	"mkdir", "touch", "mvn test", "gradle test", "dotnet build", "dotnet test", "mix test", "swift build", "swift test", "zig build", "rubocop", "rspec",
}

// always are the rules that would allow a command from now on. There are none
// for wrappers, which run anything, and for programs that are named by a path
// that the repository fills.
func always(c command) []Rule {
	name := baseName(c.words[0])
	if isWrapper(name) && name != "make" || dangerous(c.words) || slices.Contains(c.globs, true) {
		return nil
	}
	text := commandText(c.words)
	if extraVeto(c) == "" {
		for _, family := range families {
			depth := len(strings.Fields(family))
			if len(c.words) < depth {
				continue
			}
			prefix := commandText(c.words[:depth])
			if globMatch(family, prefix) && !strings.HasPrefix(c.words[depth-1], "-") && !strings.ContainsAny(prefix, "*") {
				return []Rule{session("Bash", prefix+" *")}
			}
		}
	}
	if strings.ContainsAny(text, "*") || strings.HasSuffix(text, ")") { // it would be a wildcard
		return nil
	}
	return []Rule{session("Bash", text)}
}

// destructive matches commands whose effect is not undone by going back, for
// mode auto and for what is remembered.
var destructive = regexp.MustCompile(`^(sudo|doas|su|pkexec|dd|mkfs\S*|fdisk|parted|shred|wipefs|shutdown|reboot|halt|poweroff|kill|killall|pkill|crontab|at|chown|mount|umount|iptables|systemctl|service|passwd|useradd|usermod|visudo|ssh|scp|sftp|rsync|nc|ncat|netcat|socat|telnet|ftp|curl|wget)$`)

var destructiveGit = []string{"push", "reset", "clean", "rebase", "filter-branch", "filter-repo", "gc", "reflog", "update-ref", "config", "remote", "submodule", "checkout", "restore", "stash", "worktree", "hook"}

// dangerous tells whether a command is asked for each time.
func dangerous(words []string) bool {
	name := baseName(words[0])
	switch {
	case destructive.MatchString(name):
		return true
	case name == "rm" || name == "rmdir" || name == "unlink" || name == "truncate":
		return true
	case name == "git":
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(destructiveGit, w) })
	case name == "npm" || name == "cargo" || name == "docker" || name == "gh" || name == "twine" || name == "gem":
		return slices.ContainsFunc(words[1:], func(w string) bool {
			return slices.Contains([]string{"publish", "push", "login", "unpublish", "yank", "upload"}, w)
		})
	}
	return false
}

// vetoedEverywhere are options by which programs that people allow with a
// wildcard run something else than they were allowed for.
var vetoedEverywhere = map[string][]string{
	"go":    {"-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-C"},
	"git":   {"-c", "-C", "--exec-path", "--git-dir", "--work-tree", "--config-env", "--upload-pack", "--receive-pack", "--exec", "-x", "--ext-diff", "--textconv", "--output", "--open-files-in-pager", "-O"},
	"find":  readers["find"].vetoes,
	"fd":    readers["fd"].vetoes,
	"rg":    readers["rg"].vetoes,
	"sort":  readers["sort"].vetoes,
	"tree":  readers["tree"].vetoes,
	"make":  {"-f", "--file", "--makefile", "-C", "--directory", "--eval", "-E", "-I", "--include-dir"},
	"cargo": {"--config", "-C", "--manifest-path"},
	"npm":   {"--prefix", "--script-shell", "--node-options", "--userconfig", "--globalconfig", "-C"},
	"tar":   {"--to-command", "--use-compress-program", "-I", "--checkpoint-action", "--rsh-command", "-F", "--info-script", "--new-volume-script"},
}

// extraVeto is an option of a command that a rule with a wildcard does not
// cover, or "".
func extraVeto(c command) string {
	vetoes := vetoedEverywhere[baseName(c.words[0])]
	for _, arg := range c.words[1:] {
		if hit := vetoHit(vetoes, arg); hit != "" && exactVeto(vetoes, arg) {
			return arg
		}
	}
	return ""
}

// exactVeto keeps vetoes of one letter from being found in options of one dash
// and many letters, such as go's -count.
func exactVeto(vetoes []string, arg string) bool {
	option, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "--") || slices.Contains(vetoes, option) ||
		slices.ContainsFunc(vetoes, func(v string) bool { return len(v) == 2 && strings.HasPrefix(arg, v) })
}
