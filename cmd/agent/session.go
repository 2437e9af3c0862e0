package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/treeview"
)

// sessionCommand is `agent session`: looking at session files and changing them
// from scripts. It takes -C, --store and --session-dir from the root command. Looking
// never writes, whatever state a file is in.
func sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List, show, fork, check and mend sessions",
		Long: `List, show, fork, check and mend sessions. SESSION is everywhere a path, an id,
or the beginning of an id that no other session has; ID is an entry's id or
label, the beginning of one, or "root".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, verb := range sessionVerbs {
		cmd.AddCommand(verb.command())
	}
	return cmd
}

// sessionVerb is one subcommand.
type sessionVerb struct {
	use, short string
	args       cobra.PositionalArgs
	flags      func(*cobra.Command, *sessionFlags)
	run        func(*sessionRun, []string) error
}

// sessionFlags are the flags of all subcommands; each takes some of them.
type sessionFlags struct {
	json, all, force bool
	leaf, at         string
	filter           string
	out, format      string
	from, to         string
	subtree          string
	html             bool
}

var sessionVerbs = []sessionVerb{
	{"list", "List this folder's sessions, newest first", cobra.NoArgs, listFlags, runList},
	{"show SESSION", "Sum a session up", cobra.ExactArgs(1), nil, runShow},
	{"tree SESSION", "Print all entries, depth first", cobra.ExactArgs(1), filterFlag, runTree},
	{"path SESSION", "Print the ids from a root to an entry", cobra.ExactArgs(1), leafFlag, runPath},
	{"context SESSION", "Print what a model sees at an entry", cobra.ExactArgs(1), leafFlag, runContext},
	{"label SESSION ID [TEXT]", "Label an entry; without text, take its label away", cobra.RangeArgs(2, 3), nil, runLabel},
	{"name SESSION [TEXT]", "Name a session; without text, take its name away", cobra.RangeArgs(1, 2), nil, runName},
	{"fork SESSION", "Write the path to an entry into a session of its own", cobra.ExactArgs(1), atFlag, runFork},
	{"copy [SESSION ...] --to STORE", "Copy sessions and their tasks to another store, byte for byte", cobra.ArbitraryArgs, copyFlags, runCopy},
	{"export SESSION", "Write a session, a branch or the path to an entry to a file or standard output", cobra.ExactArgs(1), exportFlags, runExport},
	{"import FILE ...", "Take sessions in: files of ours and of pi, SessionData of Flue, SQLite files of Flue and PyFlue", cobra.MinimumNArgs(1), nil, runImport},
	{"delete SESSION", "Move a session and its tasks to the trash", cobra.ExactArgs(1), deleteFlags, runDelete},
	{"search TEXT", "Find a text in this folder's sessions, on all branches; exit 1 where none has it", cobra.ExactArgs(1), listFlags, runSearch},
	{"verify SESSION", "Name everything that is wrong with a session file", cobra.ExactArgs(1), nil, runVerify},
	{"repair SESSION", "Write a mended copy of a damaged session", cobra.ExactArgs(1), outFlag, runRepair},
}

func listFlags(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().BoolVar(&f.all, "all", false, "of all folders")
}

func leafFlag(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().StringVar(&f.leaf, "leaf", "", "this entry instead of the leaf")
}

func filterFlag(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().StringVar(&f.filter, "filter", "", "only what /tree shows with this filter: default, no-tools, user-only, labeled-only, all")
}

func atFlag(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().StringVar(&f.at, "at", "", "this entry instead of the leaf")
}

func outFlag(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write to this file")
}

func deleteFlags(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, "where there is no trash, delete without asking")
}

func (v sessionVerb) command() *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use: v.use, Short: v.short,
		Args: v.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := newSessionRun(cmd, f)
			if err != nil {
				return err
			}
			return errors.Join(v.run(r, args), r.store.Close())
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	if v.flags != nil {
		v.flags(cmd, &f)
	}
	return cmd
}

// sessionRun is a subcommand being run.
type sessionRun struct {
	sessionFlags
	cmd   *cobra.Command
	paths config.Paths
	cwd   string
	store store.Store // where sessions are
}

func newSessionRun(cmd *cobra.Command, f sessionFlags) (*sessionRun, error) {
	paths, err := config.FindPaths()
	if err != nil {
		return nil, fmt.Errorf("find the home folder (set HOME, or BANYAN_DATA_DIR): %w", err)
	}
	r := &sessionRun{sessionFlags: f, cmd: cmd, paths: paths}
	var keep storeFlags
	keep.dir, _ = cmd.Flags().GetString("session-dir")
	keep.store, _ = cmd.Flags().GetString("store")
	settings, _, _ := config.Load(paths, "", false, nil) // a project has no say in it
	if r.store, err = keep.open(paths, settings.Store); err != nil {
		return nil, err
	}
	dir, _ := cmd.Flags().GetString("cd")
	r.cwd, err = workingFolder(dir)
	return r, err
}

// look opens a session for reading.
func (r *sessionRun) look(text string) (session.Snapshot, func(), error) {
	m, err := r.open(text, true)
	if err != nil {
		return session.Snapshot{}, nil, err
	}
	return m.Snapshot(), func() { m.Close() }, nil
}

func (r *sessionRun) open(text string, readOnly bool) (*session.Manager, error) {
	path, err := session.Find(r.store, text)
	if err != nil {
		return nil, err
	}
	return session.Open(path, session.Options{Store: r.store, ReadOnly: readOnly})
}

// entry is the entry that a flag names, or the leaf.
func entryOr(s session.Snapshot, text string) (session.ID, error) {
	if text == "" {
		return s.Leaf(), nil
	}
	return s.Resolve(text)
}

// print writes JSON, or what people rather read.
func (r *sessionRun) print(v any, text func(w io.Writer)) error {
	out := bufio.NewWriter(r.cmd.OutOrStdout())
	if r.json {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
	} else {
		text(out)
	}
	return out.Flush()
}

func runList(r *sessionRun, _ []string) error {
	cwd := r.cwd
	if r.all {
		cwd = ""
	}
	files, err := session.List(r.store, cwd, r.paths.Cache)
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	return r.print(files, func(w io.Writer) {
		for _, f := range files {
			note := fmt.Sprintf("%d messages", f.Messages)
			if f.Branches > 1 {
				note += fmt.Sprintf(", %d branches", f.Branches)
			}
			if f.Tasks > 0 {
				note += fmt.Sprintf(", %d tasks", f.Tasks)
			}
			if f.Err != "" {
				note = f.Err
			}
			fmt.Fprintf(w, "%s  %s  %s  (%s)\n", shortID(f.ID), f.Modified.Local().Format("2006-01-02 15:04"), inert.Line(f.Title()), inert.Line(note))
		}
		if len(files) == 0 {
			fmt.Fprintln(w, "There are no sessions here. --all lists those of all folders.")
		}
	})
}

// shortID is enough of an id to be typed. The ids are UUIDv7: sessions of the
// same minute share the first 8 digits.
func shortID(id string) string { return inert.Line(id[:min(len(id), 13)]) }

func runShow(r *sessionRun, args []string) error {
	s, done, err := r.look(args[0])
	if err != nil {
		return err
	}
	defer done()
	shown := s.Show()
	return r.print(shown, func(w io.Writer) {
		fmt.Fprintf(w, "id        %s\nfile      %s\nfolder    %s\nname      %s\ncreated   %s\nleaf      %s\nentries   %d, of them %d messages\nsize      %d bytes\n",
			inert.Line(shown.ID), inert.Line(s.Path()), inert.Line(shown.Cwd), inert.Line(shown.Name), s.Header().Time.Format(time.RFC3339), orRoot(s.Leaf()), shown.Entries, shown.Messages, shown.Bytes)
		if shown.Parent != "" {
			fmt.Fprintf(w, "parent    %s\n", inert.Line(shown.Parent))
		}
		if shown.ReadOnly != "" {
			fmt.Fprintf(w, "read-only %s\n", shown.ReadOnly)
		}
		printProblems(w, shown.Problems)
	})
}

func orRoot(id session.ID) string {
	if id == "" {
		return session.Root
	}
	return inert.Line(string(id))
}

func printProblems(w io.Writer, problems []session.Problem) {
	for _, p := range problems {
		fmt.Fprintf(w, "line %d: %s: %s\n", p.Line, p.Kind, inert.Line(p.Text))
	}
}

// runTree streams: a session may have a million entries.
func runTree(r *sessionRun, args []string) error {
	s, done, err := r.look(args[0])
	if err != nil {
		return err
	}
	defer done()
	rows := s.Rows()
	if r.filter != "" {
		f, err := tree.ParseFilter(r.filter)
		if err != nil {
			return usageError{err}
		}
		rows = treeview.Filtered(s, f)
	}
	out := bufio.NewWriter(r.cmd.OutOrStdout())
	write := printRow
	if r.json {
		write = encodeRow
	}
	first := true
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := write(out, row, first); err != nil {
			return err
		}
		first = false
	}
	if r.json {
		if first {
			out.WriteString("[")
		}
		out.WriteString("]\n")
	}
	return out.Flush()
}

func encodeRow(w *bufio.Writer, row session.Row, first bool) error {
	sep := ",\n "
	if first {
		sep = "["
	}
	w.WriteString(sep)
	b, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func printRow(w *bufio.Writer, row session.Row, _ bool) error {
	label := ""
	if row.Label != "" {
		label = "[" + row.Label + "] "
	}
	kind := row.Type
	if row.Role != "" {
		kind = string(row.Role)
	}
	// A linear conversation is as deep as it is long: the depth is told, not drawn.
	_, err := fmt.Fprintf(w, "%s  %4d  %-12s %s%s\n", inert.Line(string(row.ID)), row.Depth, inert.Line(kind), inert.Line(label), inert.Line(row.Text))
	return err
}

func runPath(r *sessionRun, args []string) error {
	s, done, err := r.look(args[0])
	if err != nil {
		return err
	}
	defer done()
	leaf, err := entryOr(s, r.leaf)
	if err != nil {
		return err
	}
	ids := s.PathIDs(leaf)
	return r.print(ids, func(w io.Writer) {
		for _, id := range ids {
			fmt.Fprintln(w, inert.Line(string(id)))
		}
	})
}

func runContext(r *sessionRun, args []string) error {
	s, done, err := r.look(args[0])
	if err != nil {
		return err
	}
	defer done()
	leaf, err := entryOr(s, r.leaf)
	if err != nil {
		return err
	}
	if r.json {
		shown, err := s.ShowContext(leaf)
		if err != nil {
			return err
		}
		return r.print(shown, nil)
	}
	c, err := s.Context(leaf)
	if err != nil {
		return err
	}
	return r.print(nil, func(w io.Writer) {
		fmt.Fprintf(w, "model %s/%s, thinking %s\n", inert.Line(c.Model.Provider), inert.Line(c.Model.Model), inert.Line(string(c.Thinking)))
		for _, m := range c.Messages() {
			fmt.Fprintf(w, "\n-- %s\n%s\n", m.Role, inert.Text(says(m)))
		}
	})
}

// says is a message's text and calls.
func says(m llm.Message) string {
	text := m.Text()
	for _, call := range m.Calls() {
		text += fmt.Sprintf("\n[%s %s]", call.Name, call.Arguments)
	}
	return strings.TrimPrefix(text, "\n")
}

func runLabel(r *sessionRun, args []string) error {
	text := strings.Join(args[2:], "")
	return r.change(args[0], func(s session.Snapshot) (session.Data, error) {
		id, err := s.Resolve(args[1])
		if err == nil && id == "" {
			err = errors.New("the root of a session is no entry and cannot be labelled")
		}
		return session.Label{Target: id, Text: text}, err
	})
}

func runName(r *sessionRun, args []string) error {
	text := strings.Join(args[1:], "")
	return r.change(args[0], func(session.Snapshot) (session.Data, error) { return session.Info{Name: text}, nil })
}

// change appends an entry below a session's leaf.
func (r *sessionRun) change(text string, what func(session.Snapshot) (session.Data, error)) error {
	m, err := r.open(text, false)
	if err != nil {
		return err
	}
	defer m.Close()
	s := m.Snapshot()
	d, err := what(s)
	if err != nil {
		return err
	}
	e, err := m.Append(d)
	if err != nil {
		return err
	}
	err = r.print(map[string]any{"path": s.Path(), "id": e.ID}, func(io.Writer) {})
	return errors.Join(err, m.Close())
}

func runFork(r *sessionRun, args []string) error {
	m, err := r.open(args[0], true)
	if err != nil {
		return err
	}
	defer m.Close()
	s := m.Snapshot()
	at, err := entryOr(s, r.at)
	if err != nil {
		return err
	}
	if at == "" {
		return fmt.Errorf("there is nothing before the first entry of %s to fork", s.Path())
	}
	cwd := s.Header().Cwd
	if cwd == "" {
		cwd = r.cwd
	}
	fork, err := m.CreateBranchedSession(session.Project(cwd), at)
	if err != nil {
		return err
	}
	made := fork.Snapshot()
	err = r.print(map[string]any{"path": made.Path(), "id": made.Header().ID, "entries": made.Len()}, func(w io.Writer) {
		fmt.Fprintln(w, made.Path())
	})
	return errors.Join(err, fork.Close())
}

func runVerify(r *sessionRun, args []string) error {
	path, err := session.Find(r.store, args[0])
	if err != nil {
		return err
	}
	problems, err := session.Verify(path, session.Options{Store: r.store})
	if err != nil {
		return err
	}
	shown := struct {
		Problems []session.Problem `json:"problems"`
	}{append([]session.Problem{}, problems...)}
	if err := r.print(shown, func(w io.Writer) { printProblems(w, problems) }); err != nil {
		return err
	}
	if len(problems) > 0 {
		what := "1 problem"
		if n := len(problems); n > 1 {
			what = fmt.Sprintf("%d problems", n)
		}
		return fmt.Errorf("%s has %s; `agent session repair` writes a mended copy", path, what)
	}
	return nil
}

func runRepair(r *sessionRun, args []string) error {
	path, err := session.Find(r.store, args[0])
	if err != nil {
		return err
	}
	made, err := session.Repair(path, r.out, session.Options{Store: r.store})
	if err != nil {
		return err
	}
	return r.print(made, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d entries, %d lines left out\n", made.Path, made.Entries, made.Dropped)
	})
}
