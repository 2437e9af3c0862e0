package session

import (
	"encoding/json"
	"strconv"
	"time"
)

// Version is the version of the format that we write.
const Version = 3

type wireHeader struct {
	Type      string  `json:"type"`
	Version   int     `json:"version"`
	ID        string  `json:"id"`
	Timestamp string  `json:"timestamp"`
	Cwd       string  `json:"cwd"`
	Parent    string  `json:"parentSession,omitempty"`
	Task      *Origin `json:"task,omitempty"`
}

func encodeHeader(h Header) ([]byte, error) {
	return marshal(wireHeader{
		Type: "session", Version: Version, ID: h.ID, Timestamp: h.Time.UTC().Format(timeForm),
		Cwd: h.Cwd, Parent: h.Parent, Task: h.Task,
	})
}

// newest is the version of a header that names none that we can count.
const newest = 1 << 30

// readHeader reads a session's first line. Flaws are what is wrong with it
// though it is a header; ok is false for a line that is none.
func readHeader(line []byte) (h Header, title string, flaws []string, ok bool) {
	head, isObject := readHead(line)
	if !isObject || string(head.kind) != `"session"` || !json.Valid(line) {
		return Header{}, "", nil, false
	}
	h.ID, _ = unquote(head.id)
	if h.ID == "" {
		flaws = append(flaws, "the header has no id")
	}
	if ms, ok := parseTime(head.time); ok {
		h.Time = time.UnixMilli(ms).UTC()
	}
	h.Cwd, _ = unquote(member(line, "cwd"))
	h.Parent, _ = unquote(member(line, "parentSession"))
	if raw := member(line, "task"); raw != nil && json.Unmarshal(raw, &h.Task) != nil {
		h.Task = nil // not ours: others may mean something else by it
	}
	title, _ = unquote(member(line, "title"))
	var flaw string
	if h.Version, flaw = readVersion(member(line, "version")); flaw != "" {
		flaws = append(flaws, flaw)
	}
	return h, title, flaws, true
}

// readVersion reads a version; a header without one is of version 1.
func readVersion(raw []byte) (version int, flaw string) {
	if raw == nil {
		return 1, ""
	}
	if s, ok := unquote(raw); ok {
		if v, err := strconv.Atoi(s); err == nil && v >= 1 {
			return v, "the header's version is a string"
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil && f > 0, f >= newest:
		return newest, "" // too large to count
	case err != nil || f != float64(int(f)) || f < 1:
		return Version, "the header's version " + clip(raw) + " is none"
	}
	return int(f), ""
}

// readTitle reads oh-my-pi's title line, which may stand before the header.
func readTitle(line []byte) (string, bool) {
	head, ok := readHead(line)
	if !ok || string(head.kind) != `"title"` {
		return "", false
	}
	title, _ := unquote(member(line, "title"))
	return title, true
}
