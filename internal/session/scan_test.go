package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestParseTime compares with the library at many times and forms.
func TestParseTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := time.UnixMilli(rapid.Int64Range(-62_000_000_000_000, 253_000_000_000_000).Draw(t, "ms")).UTC().Format(timeForm)
		if rapid.Bool().Draw(t, "spoil") {
			b := []byte(text)
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0919-:TZ. +x")).Draw(t, "byte")
			text = string(b)
		}
		want, err := time.Parse(time.RFC3339Nano, text)
		got, ok := parseTime([]byte(`"` + text + `"`))
		if ok != (err == nil) || ok && got != want.UnixMilli() {
			t.Fatalf("%s: %d %v, want %v %v", text, got, ok, want, err)
		}
	})
}

// anyJSON draws a JSON value in any spacing.
func anyJSON(t *rapid.T, depth int) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\t\r"}).Draw(t, "space") }
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 && kind > 3 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		s := rapid.SampledFrom([]string{"", "a", "\\", "\"", "\\\\\"", "type", "}", "]", "{\"", "é", "\u2028", "text", "toolCall"}).Draw(t, "s")
		b, _ := json.Marshal(s)
		return string(b)
	case 2:
		return rapid.SampledFrom([]string{"null", "true", "-1.5e3", "0"}).Draw(t, "scalar")
	case 3:
		return rapid.SampledFrom([]string{"[]", "{}"}).Draw(t, "empty")
	case 4:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			items = append(items, space()+anyJSON(t, depth-1)+space())
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return anyObject(t, depth-1)
}

func anyObject(t *rapid.T, depth int) string {
	keys := rapid.SampledFrom([]string{"type", "id", "parentId", "timestamp", "ID", "text", "role", "content", "x", "message", ""})
	var items []string
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		k, _ := json.Marshal(keys.Draw(t, "key"))
		items = append(items, " "+string(k)+" :"+anyJSON(t, depth))
	}
	return "{" + strings.Join(items, " ,") + "}"
}

// TestMembersAreTheLibrarys: walking finds the values that decoding finds.
func TestMembersAreTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(anyObject(t, 3))
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for k, v := range want {
			if got := member(text, k); !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(v)) {
				t.Fatalf("%s: %q is %s, want %s", text, k, got, v)
			}
		}
		// Any part of it may be looked at without harm.
		cut := text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
		readHead(cut)
		member(cut, "x")
		classifyMessage(cut)
		saysText(cut)
		appendMembers(nil, cut)
		setMember(cut, "id", []byte("1"))
	})
}

// TestClassIsTheMessages: what the scan finds of an answer is what decoding finds.
func TestClassIsTheMessages(t *testing.T) {
	tests := []struct {
		message string
		text    bool
		failed  bool
	}{
		{`{"role":"assistant","content":[{"type":"text","text":"x"}],"stopReason":"stop","timestamp":1}`, true, false},
		{`{"role":"assistant","content":[{"type":"text","text":""}],"stopReason":"stop","timestamp":1}`, false, false},
		{`{"role":"assistant","content":[{"type":"text","text":" \n\t"}],"stopReason":"aborted","timestamp":1}`, false, true},
		{`{"role":"assistant","content":[{"type":"text","text":"\u0041"}],"stopReason":"error","errorMessage":"a {b}","timestamp":1}`, true, true},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"{\"type\":\"text\",\"text\":\"x\"}"}],"stopReason":"toolUse","timestamp":1}`, false, false},
		{`{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"n","arguments":{"content":[{"type":"text","text":"x"}],"stopReason":"error"}}],"stopReason":"toolUse","timestamp":1}`, false, false},
		{`{"role":"assistant","content":[{"text":"x","type":"text"}],"stopReason":"length"}`, true, true},
		{`{"content":"x","stopReason":"stop","role":"assistant"}`, true, false},
		{`{"role":"assistant","content":null}`, false, false},
		{`{"role":"assistant","stopReason":"stop","usage":{"stopReason":"error"},"content":[]}`, false, false},
		{`{"role":"user","content":[{"type":"text","text":"x"}],"stopReason":"error"}`, false, false},
	}
	for _, tt := range tests {
		line := `{"type":"message","id":"1","parentId":null,"timestamp":"2026-11-20T07:00:00.000Z","message":` + tt.message + `}`
		f := newFold(nil)
		f.line([]byte(line), f.mem.add([]byte(line)))
		c := Snapshot{f.state()}.Class(0)
		if c.HasText != tt.text || c.Failed != tt.failed {
			t.Errorf("%s: text %v failed %v", tt.message, c.HasText, c.Failed)
		}
	}
}

// TestPlainHeadIsTheWalkedHead: the fast path finds what the slow one finds.
func TestPlainHeadIsTheWalkedHead(t *testing.T) {
	const plain = `{"type":"message","id":"0b44d2e1","parentId":"7c1e90af","timestamp":"2026-11-20T07:19:04.120Z","message":{"role":"user"}}`
	if _, ok := readPlainHead([]byte(plain)); !ok {
		t.Fatal("the usual line is not read the fast way")
	}
	rapid.Check(t, func(t *rapid.T) {
		line := []byte(plain)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`"\\:,{}az09 Z`)).Draw(t, "byte")
		}
		fast, ok := readPlainHead(line)
		if !ok {
			return
		}
		slow, _ := walkHead(line)
		for _, pair := range [][2][]byte{{fast.kind, slow.kind}, {fast.id, slow.id}, {fast.parent, slow.parent}, {fast.time, slow.time}, {fast.rest.key(), slow.rest.key()}} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Fatalf("%s: %q, want %q", line, pair[0], pair[1])
			}
		}
	})
}
