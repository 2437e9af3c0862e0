package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Found is an extension that may be run.
type Found struct {
	Name string // the file's without its ending; of the folder for extension.*
	Path string // of the executable, absolute
	// Project is the root of the project that has it; empty for the user's own.
	Project string
	From    string // where it was named or lies, for people
}

// extensionName is what a name looks like. It stands in files and commands.
const extensionName = `^[a-z0-9][a-z0-9_-]{0,39}$`

// Folder lists the extensions of a folder, in the order of their names:
// executables, and folders with one that is called extension, whatever its
// ending. A folder that is not there has none.
func Folder(dir, project string) (found []Found, faults []error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("look for extensions: %w", err)}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "~") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if !runnable(path) {
			continue // a document, or what an extension needs
		}
		f, err := File(path, project)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		f.From = dir
		found = append(found, f)
	}
	return found, faults
}

// runnable says whether a file is executable, or a folder that holds an extension.
func runnable(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		return inside(path) != ""
	}
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// inside is the executable of a folder that is an extension; empty for none.
func inside(dir string) string {
	matches, err := filepath.Glob(filepath.Join(dir, "extension*"))
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(matches, func(m string) bool {
		name := strings.TrimSuffix(filepath.Base(m), filepath.Ext(m))
		info, err := os.Stat(m)
		return name == "extension" && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	})
	if i < 0 {
		return ""
	}
	return matches[i]
}

// File is the extension of a path: an executable, or a folder that holds one.
func File(path, project string) (Found, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Found{}, fmt.Errorf("the extension %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Found{}, fmt.Errorf("the extension %s: %w", path, err)
	}
	f := Found{Name: strings.ToLower(strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs))), Path: abs, Project: project, From: path}
	if info.IsDir() {
		if f.Path = inside(abs); f.Path == "" {
			return Found{}, fmt.Errorf("the extension %s: the folder has no executable that is called extension", path)
		}
		f.Name = strings.ToLower(filepath.Base(abs))
	} else if info.Mode().Perm()&0o111 == 0 || !info.Mode().IsRegular() {
		return Found{}, fmt.Errorf("the extension %s is not executable: chmod +x makes it so", path)
	}
	if ok, _ := regexp.MatchString(extensionName, f.Name); !ok || f.Name == "banyan" {
		return Found{}, fmt.Errorf("the extension %s cannot be called %q: a name is lower-case letters, digits, _ and -, 40 at most", path, f.Name)
	}
	return f, nil
}
