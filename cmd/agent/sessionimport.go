package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/flue"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/store/database"
	"banyan/internal/tui/inert"
)

// flueFormat is what --format calls Flue's SessionData.
const flueFormat = "flue"

// exportFlue writes a whole session as SessionData.
func (r *sessionRun) exportFlue(text string) error {
	if r.leaf != "" || r.subtree != "" {
		return usagef("--format flue writes the whole session; export the part as a session first")
	}
	s, done, err := r.look(text)
	if err != nil {
		return err
	}
	defer done()
	if r.out == "" {
		out := bufio.NewWriter(r.cmd.OutOrStdout())
		return errors.Join(flue.Write(out, s), out.Flush())
	}
	f, err := os.OpenFile(r.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	out := bufio.NewWriter(f)
	if err := errors.Join(flue.Write(out, s), out.Flush(), f.Close()); err != nil {
		os.Remove(r.out) // half a session is none
		return err
	}
	return nil
}

// runImport takes sessions in. Those that are there already stay as they are.
func runImport(r *sessionRun, args []string) error {
	all := []copied{}
	for _, file := range args {
		took, err := takeAll(r.cmd.Context(), r.store, r.paths.Cache, session.Project(r.cwd), r.cwd, file)
		if err != nil {
			return err
		}
		all = append(all, took...)
	}
	return r.print(all, func(w io.Writer) {
		for _, c := range all {
			fmt.Fprintf(w, "%s: %s\n", inert.Line(c.To), c.How)
		}
	})
}

// takeAll copies what a file has of sessions into a project's. A relative name
// is one in cwd.
func takeAll(ctx context.Context, to store.Store, cache, project, cwd, file string) ([]copied, error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(cwd, file)
	}
	begin, err := beginning(file)
	switch {
	case err != nil:
		return nil, err
	case bytes.HasPrefix(begin, []byte("SQLite format 3\x00")):
		return takeRecords(ctx, to, cache, project, cwd, file)
	case !maybeFlue(begin):
		path, err := session.Copy(file, session.Options{}, to, project)
		return []copied{{file, path, "copied"}}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !flue.Is(text) { // it is ours, or nobody's, which opening it tells
		path, err := session.Copy(file, session.Options{}, to, project)
		return []copied{{file, path, "copied"}}, err
	}
	c, err := takeFlue(to, project, cwd, file, database.Record{Data: text}, "")
	return []copied{c}, err
}

// beginning is the first bytes of a file, which must be one.
func beginning(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", file)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return b[:n], err
}

// maybeFlue tells a record of Flue's, one JSON text of many lines or of one, from
// lines that begin with a header of ours.
func maybeFlue(begin []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(begin, " \t\r\n\ufeff"), []byte{'\n'})
	var head struct{ Type string }
	if json.Unmarshal(line, &head) == nil && head.Type != "" {
		return false
	}
	return bytes.HasPrefix(line, []byte("{")) && !bytes.Contains(line[:min(len(line), 40)], []byte(`"type":"`))
}

// takeFlue takes one record in.
func takeFlue(to store.Store, project, cwd, file string, r database.Record, parent string) (copied, error) {
	s, err := flue.Read(r.Data, r.Key, cwd, parent)
	if err != nil {
		return copied{}, fmt.Errorf("%s: %w", file, err)
	}
	path, err := to.Write(store.Place{Project: project, ID: s.ID, Time: s.Time}, func(yield func([]byte, error) bool) {
		for _, line := range s.Lines {
			if !yield(line, nil) {
				return
			}
		}
	})
	if err != nil {
		return copied{}, fmt.Errorf("take in %s: %w", file, err)
	}
	return copied{file, path, "copied"}, nil
}

// takeRecords takes in all records of an SQLite file of Flue's or PyFlue's. A
// task's session names the one that gave it as its parent.
func takeRecords(ctx context.Context, to store.Store, cache, project, cwd, file string) ([]copied, error) {
	records, err := database.Records(ctx, file, cache)
	if err != nil {
		return nil, fmt.Errorf("take in %s: %w", file, err)
	}
	var all []copied
	for _, r := range records {
		parent := ""
		if key := parentKey(r.Key); key != "" && slices.ContainsFunc(records, func(o database.Record) bool { return o.Key == key }) {
			parent = flue.ID(key)
		}
		c, err := takeFlue(to, project, cwd, file, r, parent)
		if errors.Is(err, fs.ErrExist) {
			c, err = copied{file, to.Path(store.Place{Project: project, ID: flue.ID(r.Key)}), "there"}, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// parentKey is the key of the session that gave a task, by the key of the task's:
// its name is task:<session>:<id of the task>.
func parentKey(key string) string {
	const prefix, task = "agent-session:", "task:"
	var parts []string
	if json.Unmarshal([]byte(strings.TrimPrefix(key, prefix)), &parts) != nil || len(parts) != 3 || !strings.HasPrefix(parts[2], task) {
		return ""
	}
	name := strings.TrimPrefix(parts[2], task)
	end := strings.LastIndexByte(name, ':')
	if end < 0 {
		return ""
	}
	b, _ := json.Marshal([]string{parts[0], parts[1], name[:end]})
	return prefix + string(b)
}
