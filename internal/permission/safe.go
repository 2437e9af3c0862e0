package permission

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// program is a row of the table of programs that only read.
type program struct {
	// vetoes are options by which the program writes, runs something, follows
	// links or goes elsewhere: "-o" also within a group such as -uo, "--output"
	// also shortened, "-exec" (one dash, several letters) as it is.
	vetoes []string
	// only, if set, is what each option must match: for programs with too many
	// options to know.
	only *regexp.Regexp
	// files is the most operands it may have; 0 for any number. It is for
	// programs whose next operand would be written to.
	files int
	// noPaths says that operands are not files.
	noPaths bool
	// pattern says that the first operand is a search pattern.
	pattern bool
	// check, if set, has the last word.
	check func(args []string) error
}

// readers are the programs that are allowed without a rule: what they do with
// any options but the vetoed ones is to read files of the workspace, or to
// compute. A program that can do more by an option that is not vetoed here is a
// bug.
var readers = map[string]program{
	"ls": {}, "pwd": {}, "cat": {}, "head": {}, "wc": {}, "nl": {}, "tac": {}, "rev": {}, "paste": {}, "comm": {}, "cmp": {}, "join": {},
	"tail": {vetoes: []string{"-f", "-F", "--follow", "--retry"}},
	"fold": {}, "fmt": {}, "expand": {}, "unexpand": {}, "column": {}, "od": {}, "hexdump": {}, "strings": {}, "stat": {}, "cut": {}, "tsort": {},
	"md5sum": {}, "sha1sum": {}, "sha224sum": {}, "sha256sum": {}, "sha384sum": {}, "sha512sum": {}, "b2sum": {}, "cksum": {}, "sum": {},
	"realpath": {}, "readlink": {}, "df": {}, "free": {},
	"diff":   {vetoes: []string{"-l", "--paginate", "-o", "--output"}},
	"du":     {vetoes: []string{"-L", "--dereference", "--files0-from"}},
	"sort":   {vetoes: []string{"-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"}},
	"uniq":   {files: 1},
	"xxd":    {files: 1, vetoes: []string{"-r", "-revert"}},
	"base64": {files: 1, vetoes: []string{"-o", "--output", "-i", "--input"}},
	"tree":   {vetoes: []string{"-o", "-R", "-l", "--fromfile", "--fromtabfile"}},
	"file":   {vetoes: []string{"-C", "--compile", "-z", "-Z", "--uncompress", "--uncompress-noreport", "-f", "--files-from", "-m", "--magic-file", "-p", "--preserve-date", "-S", "--no-sandbox", "-L", "--dereference"}},
	"jq":     {pattern: true, vetoes: []string{"-f", "--from-file", "-L", "--library-path", "--rawfile", "--slurpfile", "--argfile", "--run-tests", "-i", "--in-place"}},
	"grep":   {pattern: true, vetoes: []string{"-R", "--dereference-recursive", "-f", "--file"}},
	"egrep":  {pattern: true, vetoes: []string{"-R", "--dereference-recursive", "-f", "--file"}},
	"fgrep":  {pattern: true, vetoes: []string{"-R", "--dereference-recursive", "-f", "--file"}},
	"rg":     {pattern: true, vetoes: []string{"--pre", "--hostname-bin", "-z", "--search-zip", "-f", "--file", "-L", "--follow", "--ignore-file"}},
	"find": {vetoes: []string{
		"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from", "-L", "-H", "-follow",
	}},
	"fd":     {pattern: true, vetoes: []string{"-x", "--exec", "-X", "--exec-batch", "-L", "--follow", "--ignore-file", "--base-directory", "--search-path", "-l", "--list-details"}},
	"fdfind": {pattern: true, vetoes: []string{"-x", "--exec", "-X", "--exec-batch", "-L", "--follow", "--ignore-file", "--base-directory", "--search-path", "-l", "--list-details"}},

	"echo": {noPaths: true}, "true": {noPaths: true}, "false": {noPaths: true}, "seq": {noPaths: true}, "sleep": {noPaths: true},
	"basename": {noPaths: true}, "dirname": {noPaths: true}, "tr": {noPaths: true}, "which": {noPaths: true}, "type": {noPaths: true},
	"uname": {noPaths: true}, "whoami": {noPaths: true}, "id": {noPaths: true}, "groups": {noPaths: true}, "nproc": {noPaths: true},
	"arch": {noPaths: true}, "uptime": {noPaths: true}, "tty": {noPaths: true}, "cal": {noPaths: true},
	"ps":       {noPaths: true, only: regexp.MustCompile(`^-[AaefluxTHw]+$`), check: noEnvironment},
	"printf":   {noPaths: true, only: regexp.MustCompile(`^$`)}, // -v assigns, and evaluates what it assigns to
	"date":     {noPaths: true, only: regexp.MustCompile(`^(-u|--utc|-R|-I[a-z]*|--iso-8601(=[a-z]+)?|--rfc-3339=[a-z]+)$`), check: dateFormat},
	"hostname": {noPaths: true, files: -1, only: regexp.MustCompile(`^-[sfIid]$`)},
	"test":     {check: fileTest},
	"command":  {noPaths: true, check: commandV},
	"sed":      {check: sedPrint},
	"go":       {noPaths: true, check: goInfo},
	"git":      {noPaths: true, check: gitLog},

	"node": versionOnly, "npm": versionOnly, "python": versionOnly, "python3": versionOnly, "pip": versionOnly, "pip3": versionOnly,
	"gcc": versionOnly, "g++": versionOnly, "clang": versionOnly, "make": versionOnly, "cmake": versionOnly, "bash": versionOnly,
	"ruby": versionOnly, "perl": versionOnly, "php": versionOnly, "java": versionOnly, "docker": versionOnly, "curl": versionOnly, "tar": versionOnly, "gofmt": versionOnly,
}

var versionOnly = program{noPaths: true, check: func(args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		return nil
	}
	return errors.New("only its --version is known to do nothing")
}}

// readsOnly tells whether a command does nothing but read, or why not. paths are
// the words of it that may be files.
func readsOnly(c command) (paths []string, err error) {
	name, args := c.words[0], c.words[1:]
	row, ok := readers[name]
	if !ok {
		return nil, fmt.Errorf("%s is not known to only read", name)
	}
	var operands []string
	for i, arg := range args {
		if c.globs[i+1] && mayBecomeOption(arg) && !harmless(row) {
			return nil, fmt.Errorf("%s may become an option of %s: write ./%s", arg, name, arg)
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			operands = append(operands, arg)
			continue
		}
		if err := vetoed(name, row, arg); err != nil {
			return nil, err
		}
	}
	if row.files != 0 && len(operands) > max(row.files, 0) {
		return nil, fmt.Errorf("%s writes to what stands there", name)
	}
	if row.check != nil {
		if err := row.check(args); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if row.noPaths {
		return nil, nil
	}
	return pathWords(row, args, operands), nil
}

// mayBecomeOption tells whether a file name pattern may turn into an option that
// somebody made a file's name. --include=*.go stays what it is.
func mayBecomeOption(arg string) bool {
	wild := strings.IndexAny(arg, "*?[")
	if strings.HasPrefix(arg, "-") {
		equals := strings.IndexByte(arg, '=')
		return equals < 0 || wild < equals
	}
	return wild == 0
}

// harmless tells whether no option of a program is vetoed.
func harmless(row program) bool {
	return len(row.vetoes) == 0 && row.only == nil && row.files == 0 && row.check == nil
}

// vetoed tells whether an option is one that must be asked for.
func vetoed(name string, row program, arg string) error {
	if row.only != nil && !row.only.MatchString(arg) {
		return fmt.Errorf("%s %s is not known to only read", name, arg)
	}
	if hit := vetoHit(row.vetoes, arg); hit != "" {
		return fmt.Errorf("%s %s does more than read", name, hit)
	}
	return nil
}

// vetoHit is the veto that an argument falls under, or "".
func vetoHit(vetoes []string, arg string) string {
	option, _, _ := strings.Cut(arg, "=")
	for _, veto := range vetoes {
		switch {
		case arg == veto || option == veto:
			return veto
		case strings.HasPrefix(veto, "--"): // any beginning of it is the same option
			if len(option) > 2 && strings.HasPrefix(veto, option) {
				return veto
			}
		case len(veto) == 2 && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--"): // -o in -uo
			if strings.Contains(arg[1:], veto[1:]) {
				return veto
			}
		}
	}
	return ""
}

// pathWords are the words of a command that may name files: operands, and what
// hangs on options, but for a search pattern where it is certain which word that
// is.
func pathWords(row program, args, operands []string) []string {
	if row.pattern && len(operands) > 0 && !slices.ContainsFunc(args, mayHoldPattern) {
		operands = operands[1:]
	}
	words := operands
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if _, value, ok := strings.Cut(arg, "="); ok {
			words = append(words, value)
		} else if len(arg) > 2 && arg[1] != '-' {
			words = append(words, arg[2:])
		}
	}
	return words
}

// plainSearchOption matches options of search programs that leave the pattern to
// be the first operand, and take no operand themselves.
var plainSearchOption = regexp.MustCompile(`^(-[rnilwcvxoqhHsaEFPG]+|-[ABCm][0-9]+|--(include|exclude|exclude-dir|color|colour|glob|type|context|after-context|before-context|max-count)=.*|--(ignore-case|line-number|recursive|count|files-with-matches|files-without-match|word-regexp|fixed-strings|extended-regexp|hidden|no-heading|heading|invert-match|only-matching|quiet|no-messages|raw-output|compact-output|slurp))$`)

// mayHoldPattern tells whether a word is an option that may take the next word,
// or itself hold the pattern: then the first operand may be a file.
func mayHoldPattern(arg string) bool {
	return strings.HasPrefix(arg, "-") && !plainSearchOption.MatchString(arg)
}

// The checks of single programs.

// noEnvironment refuses BSD options: "ps e" shows the environment of processes.
func noEnvironment(args []string) error {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && strings.Trim(a, "aux") != "" {
			return fmt.Errorf("%s may show the environment of other programs", a)
		}
	}
	return nil
}

func dateFormat(args []string) error {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			return fmt.Errorf("%s may set the clock", a)
		}
	}
	return nil
}

// fileTest allows "test -f path" and its like. Other tests evaluate what they
// are given: test -v 'a[$(command)]' runs the command.
func fileTest(args []string) error {
	if len(args) == 2 && len(args[0]) == 2 && args[0][0] == '-' && strings.Contains("defrswxL", args[0][1:]) {
		return nil
	}
	return errors.New("only simple tests of one file are known to only read")
}

func commandV(args []string) error {
	if len(args) == 2 && (args[0] == "-v" || args[0] == "-V") && !strings.HasPrefix(args[1], "-") {
		return nil
	}
	return errors.New("it runs another command")
}

var sedRange = regexp.MustCompile(`^([0-9]+|\$)(,([0-9]+|\$))?p$`)

// sedPrint allows "sed -n 10,20p file": scripts of sed can write files and run
// commands.
func sedPrint(args []string) error {
	if len(args) < 2 || args[0] != "-n" || !sedRange.MatchString(args[1]) {
		return errors.New("only sed -n 'N,Mp' is known to only read")
	}
	for _, a := range args[2:] {
		if strings.HasPrefix(a, "-") {
			return fmt.Errorf("%s may change the file", a)
		}
	}
	return nil
}

var goVariable = regexp.MustCompile(`^(-json|[A-Z][A-Z0-9_]*)$`)

func goInfo(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "version", len(args) >= 1 && args[0] == "help":
		return nil
	case len(args) >= 1 && args[0] == "env":
		for _, a := range args[1:] {
			if !goVariable.MatchString(a) {
				return fmt.Errorf("go env %s may change the settings", a)
			}
		}
		return nil
	}
	return errors.New("only go version, go env and go help are known to only read")
}

// git obeys the configuration of the repository, which may name programs to run.
// What git log does without patches is safe under the environment that commands
// get from the bash tool: no pager, no file system monitor, no signatures, no
// fetching of what is missing.
var gitLogOption = regexp.MustCompile(`^(-[0-9]+|-n[0-9]*|-i|-E|-F|-z|--|` +
	`--(oneline|graph|all|branches|tags|remotes|no-decorate|reverse|merges|no-merges|first-parent|follow|abbrev-commit|no-abbrev-commit|no-color|` +
	`stat|shortstat|numstat|name-only|name-status|summary|no-patch|topo-order|date-order|author-date-order|left-right|cherry-mark|boundary|parents|children|relative-date|no-ext-diff|no-textconv|no-show-signature|full-history|simplify-by-decoration|invert-grep|all-match)|` +
	`--(max-count|skip|since|after|until|before|author|committer|grep|date|abbrev|decorate|color|min-parents|max-parents|diff-filter)=.*|--decorate|--color=never|` +
	`--(format|pretty)=.*)$`)

func gitLog(args []string) error {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "version") {
		return nil
	}
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "log" {
		return errors.New("it obeys the repository's configuration, which may run programs; only git log is known to only read")
	}
	operandsOnly := false
	for _, a := range args[1:] {
		switch {
		case operandsOnly || !strings.HasPrefix(a, "-"):
		case !gitLogOption.MatchString(a):
			return fmt.Errorf("git log %s is not known to only read", a)
		case strings.Contains(a, "%G"):
			return fmt.Errorf("%%G checks signatures with a program that the repository may name")
		case a == "--":
			operandsOnly = true
		}
	}
	return nil
}

// wrappers run a command, or a text as a program, that is given to them. What
// they run counts for rules that deny, and they are never remembered: "always
// env" would be "always".
var wrappers = strings.Fields(`
	. alias ash at awk bash batch builtin bun bunx busybox bwrap caffeinate chroot chrt command coproc crontab csh dash deno direnv doas docker
	ed emacs entr env eval exec expect fd fdfind find firejail fish flock gawk gdb ionice kubectl ksh ltrace lua make mawk mise mksh
	nice nix nix-shell node nohup npx nsenter nvim osascript parallel perl php pipx pkexec pnpx podman proot python python2 python3
	rlwrap ruby runuser script sed setsid sh source ssh stdbuf strace su sudo systemd-run taskset tclsh tcsh time timeout toybox trap
	unbuffer unshare uvx vi vim watch xargs zsh`)

func isWrapper(name string) bool { return slices.Contains(wrappers, name) }
