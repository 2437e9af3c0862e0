package main

import (
	"strings"

	"github.com/spf13/cobra"

	"banyan/internal/config"
	"banyan/internal/engine"
	"banyan/internal/headless"
)

// chatOptions are the root command's flags.
type chatOptions struct {
	print     bool
	format    string
	partial   bool
	schema    string
	goOn      bool
	resume    bool
	session   string
	fork      string
	noSession bool
	reader    bool
	keep      storeFlags

	model    string
	thinking string
	offline  bool
	maxTurns int
	maxUSD   float64

	permission string
	skipAsking bool
	allow      []string
	deny       []string
	trust      bool
	addDirs    []string
	dir        string

	mcpConfig    []string
	role         string
	system       string
	appendSystem string

	extensions     []string
	extensionFlags []string
	noExtensions   bool
}

func (o *chatOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "print one answer and exit; standard input is appended to the prompt")
	f.StringVar(&o.format, "output-format", string(headless.Text), "what -p prints: text, json (about the whole run), stream-json (a line for each thing that happens)")
	f.BoolVar(&o.partial, "include-partial-messages", false, "with stream-json: answers while they come, too")
	f.StringVar(&o.schema, "json-schema", "", "with -p: end with data that fit this JSON schema, a file or the schema itself")
	f.BoolVarP(&o.goOn, "continue", "c", false, "go on with the newest session of this folder")
	f.BoolVarP(&o.resume, "resume", "r", false, "choose a session to go on with; the arguments are searched for")
	f.StringVar(&o.session, "session", "", "open this session: a file, an id, or the beginning of one")
	f.StringVar(&o.fork, "fork", "", "begin with a copy of this session")
	f.BoolVar(&o.noSession, "no-session", false, "keep the session in memory only")
	f.BoolVar(&o.reader, "screen-reader", false, "chat in labelled lines that are written once, for screen readers and simple terminals")
	f.StringVarP(&o.model, "model", "m", "", "answer with this model: provider/model[:thinking], or a part of it")
	f.StringVar(&o.thinking, "thinking", "", "how much the model reasons: off, minimal, low, medium, high, xhigh")
	f.BoolVar(&o.offline, "offline", false, "use the embedded offline model; no packet leaves")
	f.IntVar(&o.maxTurns, "max-turns", 0, "end after this many requests to the model (0: no limit)")
	f.Float64Var(&o.maxUSD, "max-budget-usd", 0, "with -p: end when this much was spent (0: no limit)")
	f.StringVar(&o.permission, "permission-mode", "", "what may be done without asking: "+strings.Join(engine.Modes, ", "))
	f.StringArrayVar(&o.allow, "allowed-tools", nil, `allow calls by a rule, as "Bash(go test *)"; may be repeated`)
	f.StringArrayVar(&o.deny, "disallowed-tools", nil, "deny calls by a rule; may be repeated")
	f.BoolVar(&o.skipAsking, "dangerously-skip-permissions", false, "never ask before a tool runs")
	f.BoolVar(&o.trust, "trust", false, "let this folder's own settings and instructions count, for this run")
	f.StringArrayVar(&o.addDirs, "add-dir", nil, "let tools work in this folder, too; may be repeated")
	f.StringArrayVar(&o.mcpConfig, "mcp-config", nil, "start the MCP servers of this file, or of this JSON, too; may be repeated")
	f.StringVar(&o.role, "role", "", "give the agent this role, of .agents/roles")
	f.StringVar(&o.system, "system-prompt", "", "replace the system prompt")
	f.StringVar(&o.appendSystem, "append-system-prompt", "", "add to the system prompt")
	f.StringArrayVar(&o.extensions, "extension", nil, "run this extension, too: an executable, or a folder with one; may be repeated")
	f.StringArrayVar(&o.extensionFlags, "extension-flag", nil, "set a flag of an extension, as name.flag=value; may be repeated")
	f.BoolVar(&o.noExtensions, "no-extensions", false, "run no extensions")
	p := cmd.PersistentFlags()
	p.StringVarP(&o.dir, "cd", "C", "", "work in this folder")
	p.StringVar(&o.keep.dir, "session-dir", "", "keep sessions in this folder")
	p.StringVar(&o.keep.store, "store", "", "keep sessions here: files, sqlite:PATH, postgres://HOST/DATABASE")
}

// overrides are the flags that stand for settings.
func (o *chatOptions) overrides() []config.Override {
	var list []config.Override
	add := func(set bool, path string, value any, flag string) {
		if set {
			list = append(list, config.Override{Path: path, Value: value, Flag: flag})
		}
	}
	add(o.model != "", "model", o.model, "--model")
	add(o.thinking != "", "thinking", o.thinking, "--thinking")
	add(o.maxTurns > 0, "maxTurns", o.maxTurns, "--max-turns")
	add(o.maxUSD > 0, "maxBudgetUsd", o.maxUSD, "--max-budget-usd")
	add(o.permission != "", "permissions.defaultMode", o.permission, "--permission-mode")
	add(len(o.allow) > 0, "permissions.allow", o.allow, "--allowed-tools")
	add(len(o.deny) > 0, "permissions.deny", o.deny, "--disallowed-tools")
	return list
}
