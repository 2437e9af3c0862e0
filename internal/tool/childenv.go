package tool

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that commands get from ours, as path.Match patterns:
// what shells and compilers need, and nothing that could be a secret.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "HOSTNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "LC_*",
	"XDG_*_HOME", "XDG_*_DIRS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY",
	"GO*", "CGO_*", "CC", "CXX", "AR", "LD", "*FLAGS", "PKG_CONFIG_*", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH",
	"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_*", "RUSTC*", "RUST_*",
	"JAVA_HOME", "MAVEN_*", "GRADLE_*", "ANDROID_HOME", "NVM_*", "NODE_*", "NPM_CONFIG_*", "npm_config_*", "PNPM_HOME", "BUN_INSTALL", "DENO_*",
	"VIRTUAL_ENV", "CONDA_*", "PYENV_*", "PYTHON*", "PIP_*", "UV_*", "POETRY_*", "RBENV_*", "GEM_*", "BUNDLE_*", "RUBYOPT", "RUBYLIB", "PERL5LIB",
	"NIX_*", "GUIX_*", "ASDF_*", "MISE_*", "HOMEBREW_*", "SDKMAN_*",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"DOCKER_HOST", "CI",
}

// secret are words that, in a name, keep a variable from commands, whatever
// else it matches.
var secret = []string{"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE", "BEARER", "PRIVATE"}

// quiet are the variables that keep programs from asking, paging and drawing:
// nobody is there to answer.
var quiet = map[string]string{
	"TERM": "dumb", "NO_COLOR": "1", "CLICOLOR": "0",
	"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat", "AWS_PAGER": "",
	"EDITOR": "true", "VISUAL": "true", "GIT_EDITOR": "true",
	"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "GIT_ASKPASS": "/bin/false", "SSH_ASKPASS": "/bin/false", "SUDO_ASKPASS": "/bin/false",
	// A repository's configuration names programs that even "git log" runs.
	"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false", "GIT_CONFIG_KEY_1": "log.showSignature", "GIT_CONFIG_VALUE_1": "false",
	"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0",
	"DEBIAN_FRONTEND": "noninteractive", "PIP_NO_INPUT": "1", "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
}

// shellSteering are variables by which a shell runs other code than its command.
var shellSteering = []string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "BASH_FUNC_*"}

// Environ is the environment of a program that is not ours and is run without
// being asked for each time: what shells and compilers need of ours, the
// variables of ours that pass names, no secrets, no pagers and editors, and what
// is added.
func Environ(pass []string, added map[string]string) []string {
	return childEnv(os.Environ(), pass, os.TempDir(), added)
}

// childEnv is the environment of a command: the passed part of ours, the quiet
// variables, a private temporary folder, and what the call adds.
func childEnv(ours []string, pass []string, temp string, added map[string]string) []string {
	vars := map[string]string{}
	for _, entry := range ours {
		name, value, _ := strings.Cut(entry, "=")
		if slices.Contains(pass, name) || harmless(name, value) {
			vars[name] = value
		}
	}
	vars["PATH"] = absoluteOnly(vars["PATH"])
	maps.Copy(vars, quiet)
	vars["TMPDIR"] = temp
	for name, value := range added {
		if !matches(shellSteering, name) {
			vars[name] = value
		}
	}
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

func harmless(name, value string) bool {
	if !matches(passed, name) || matches(shellSteering, name) {
		return false
	}
	upper := strings.ToUpper(name)
	if slices.ContainsFunc(secret, func(word string) bool { return strings.Contains(upper, word) }) {
		return false
	}
	// A URL may carry a password: https://user:password@host.
	_, rest, isURL := strings.Cut(value, "://")
	return !isURL || !strings.Contains(rest, "@")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// absoluteOnly drops the parts of PATH that depend on the working folder.
func absoluteOnly(list string) string {
	parts := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(parts) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(parts, string(os.PathListSeparator))
}
