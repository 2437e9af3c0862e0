package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/tree"
)

// foldLines takes lines as a scan does, the quick way where that is open, or all
// of them the long way, which is what the quick one is held against.
func foldLines(text []byte, quick bool) (f *fold, taken int) {
	f = newFold(func(p jsonl.Pos) ([]byte, error) { return text[p.Off : p.Off+int64(p.Len)], nil })
	f.lazy = true
	off := 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		pos := jsonl.Pos{Off: int64(off), Len: len(line)}
		off += len(line) + 1
		switch {
		case len(line) == 0:
		case quick && f.quick(line, pos):
			taken++
		default:
			f.line(line, pos)
		}
	}
	f.settle()
	return f, taken
}

// sameFolds says where two folds of the same lines differ. What an answer holds
// is only compared where its line is JSON: nobody reads the others.
func sameFolds(text []byte, a, b *fold) error {
	if a.twice != b.twice {
		return fmt.Errorf("an id stands twice: %v, %v", a.twice, b.twice)
	}
	if a.twice {
		return nil // both will be thrown away
	}
	x, y := a.state(), b.state()
	if x.view.Len() != y.view.Len() {
		return fmt.Errorf("%d entries, %d", x.view.Len(), y.view.Len())
	}
	for n := range tree.Node(x.view.Len()) {
		if x.view.Parent(n) != y.view.Parent(n) || x.view.Time(n) != y.view.Time(n) || x.ids.id(n) != y.ids.id(n) ||
			x.pos[n] != y.pos[n] || y.ids.find(x.ids.id(n)) != x.ids.find(y.ids.id(n)) {
			return fmt.Errorf("entry %d is not the same", n)
		}
		p := x.pos[n]
		if line := text[p.Off : p.Off+int64(p.Len)]; json.Valid(line) && (Snapshot{x}).Class(n) != (Snapshot{y}).Class(n) {
			return fmt.Errorf("%s: %+v, %+v", line, Snapshot{x}.Class(n), Snapshot{y}.Class(n))
		}
	}
	for _, pair := range [][2]any{
		{x.leaf, y.leaf},
		{x.name, y.name},
		{x.problems, y.problems},
		{x.bytes, y.bytes},
		{x.marks, y.marks},
		{a.last, b.last},
		{string(a.lastID), string(b.lastID)},
		{a.lastTime, b.lastTime},
		{a.lastPos, b.lastPos},
		{a.damaged, b.damaged},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			return fmt.Errorf("%v, %v", pair[0], pair[1])
		}
	}
	return nil
}

// usual are messages as we write them, with the parts that vary.
var usual = []string{
	`"message":{"role":"user","content":[{"type":"text","text":"x"}],"timestamp":1795159140001}`,
	`"message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[],"isError":false,"timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"text","text":"x"}],"stopReason":"stop","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"text","text":" \n"}],"stopReason":"error","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[],"stopReason":"aborted","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"thinking","thinking":"a\"]}\\","thinkingSignature":"E="},{"type":"text","text":"x"}],"stopReason":"length","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"thinking","thinking":""},{"type":"toolCall","id":"c","name":"read","arguments":{"text":["}",{}]}}],"usage":{"cost":{}},"stopReason":"toolUse","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{"content":[{"type":"text","text":"x"}],"stopReason":"error"}},{"type":"text","text":"y"}],"stopReason":"toolUse","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{},"thoughtSignature":"s"}],"stopReason":"stop","stopReason":"error","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","text":"x"}],"usage":{"stopReason":"stop","timestamp":1795159140001}}`,
	`"message":{"role":"bashExecution","command":"ls","output":"","timestamp":1795159140001}`,
	`"message":{"role":"assistant","content":"x","stopReason":"stop","timestamp":1795159140001}`,
}

// drawLines draws a session's lines: mostly messages below each other, some of
// everything else, some spoilt.
func drawLines(t *rapid.T) []byte {
	var lines, ids []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range rapid.IntRange(1, 30).Draw(t, "lines") {
		id := rapid.SampledFrom([]string{fmt.Sprintf("%08x", i), fmt.Sprintf("%08x", i), fmt.Sprintf("%08x", i), "deadbeef", "odd"}).Draw(t, "id")
		parent := "null"
		if len(ids) > 0 {
			parent = `"` + ids[len(ids)-1] + `"`
			if rapid.IntRange(0, 5).Draw(t, "branch") == 0 {
				parent = `"` + rapid.SampledFrom(append(ids, "missing0", "deadbeef")).Draw(t, "parent") + `"`
			}
		}
		at := time.UnixMilli(1_795_159_140_001 + rapid.Int64Range(-90_000, 90_000).Draw(t, "ms")).UTC().Format(timeForm)
		head := func(kind string) string {
			return fmt.Sprintf(`{"type":"%s","id":"%s","parentId":%s,"timestamp":"%s",`, kind, id, parent, at)
		}
		switch rapid.IntRange(0, 12).Draw(t, "kind") {
		case 0:
			add(`%s"targetId":"%s","label":"l"}`, head("label"), rapid.SampledFrom(append(ids, "x")).Draw(t, "target"))
		case 1:
			add(`%s"customType":"%s"}`, head("custom"), PositionType)
		case 2:
			add(`%s"name":"n"}`, head("session_info"))
		default:
			add(`%s%s}`, head("message"), rapid.SampledFrom(usual).Draw(t, "message"))
		}
		ids = append(ids, id)
		if rapid.IntRange(0, 15).Draw(t, "spoil") == 0 {
			b := []byte(lines[i])
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`"\:,{}[]az09 Z`)).Draw(t, "byte")
			lines[i] = string(b)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// TestQuickIsTheLongWay: whatever stands in a file, taking usual lines the
// quick way makes the same of it.
func TestQuickIsTheLongWay(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawLines(t)
		quick, n := foldLines(text, true)
		taken += n
		long, _ := foldLines(text, false)
		if err := sameFolds(text, quick, long); err != nil {
			t.Fatalf("%v, in\n%s", err, text)
		}
	})
	if taken == 0 {
		t.Fatal("no line was taken the quick way")
	}
}

func FuzzQuick(f *testing.F) {
	for i := range 40 {
		f.Add(rapid.Custom(drawLines).Example(i))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quick, _ := foldLines(text, true)
		long, _ := foldLines(text, false)
		if err := sameFolds(text, quick, long); err != nil {
			t.Fatal(err)
		}
	})
}

// TestUsualMessagesAreQuick: what the quick way is for, it takes.
func TestUsualMessagesAreQuick(t *testing.T) {
	var text []byte
	for i, message := range usual[:7] {
		text = fmt.Appendf(text, `{"type":"message","id":"%08x","parentId":"%08x","timestamp":"2026-11-20T07:19:0%d.001Z",%s}`+"\n", i+1, i, i, message)
	}
	if _, taken := foldLines(text, true); taken != 5 {
		t.Fatalf("%d of 7 lines, want all but the first, which is an orphan, and the one with blank text", taken)
	}
}

// TestClock: times in any order, minute after minute, are what parseTime reads.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c clock
		ms := rapid.Int64Range(-62_000_000_000_000, 253_000_000_000_000).Draw(t, "from")
		for range rapid.IntRange(1, 8).Draw(t, "times") {
			value := []byte(time.UnixMilli(ms + rapid.Int64Range(-70_000, 70_000).Draw(t, "ms")).UTC().Format(`"` + timeForm + `"`))
			if rapid.IntRange(0, 3).Draw(t, "spoil") == 0 {
				value[rapid.IntRange(0, len(value)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`0569-:TZ. +x"`)).Draw(t, "byte")
			}
			want, wantOK := parseTime(value)
			got, ok := c.parse(value)
			if got != want || ok != wantOK {
				t.Fatalf("%s: %d %v, want %d %v", value, got, ok, want, wantOK)
			}
		}
	})
}

// TestQuickUsage: usage read from the end of a line is what decoding finds.
func TestQuickUsage(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 200_000)
		cost := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0.0063, 0.0147, 1}))
		if rapid.IntRange(0, 3).Draw(t, "odd") == 0 {
			count = rapid.OneOf(count, rapid.SampledFrom([]int{-1, 1 << 31, 1 << 45}))
			cost = rapid.OneOf(cost, rapid.Float64())
		}
		usage, err := marshal(toWireUsage(llm.Usage{
			Input: count.Draw(t, "input"), Output: count.Draw(t, "output"), CacheRead: count.Draw(t, "read"),
			CacheWrite: count.Draw(t, "write"), Total: count.Draw(t, "total"), CostUnknown: rapid.IntRange(0, 5).Draw(t, "unknown") == 0,
			Cost: llm.Cost{Input: cost.Draw(t, "cost"), Output: cost.Draw(t, "cost"), CacheRead: cost.Draw(t, "cost"), CacheWrite: cost.Draw(t, "cost"), Total: cost.Draw(t, "cost")},
		}))
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(rapid.SampledFrom([]string{
			`"message":{"role":"assistant","content":[],"usage":%s,"stopReason":"stop","timestamp":1795159140001}`,
			`"message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"a":"b","usage":%s}}],"stopReason":"stop","timestamp":1795159140001}`,
			`"message":{"role":"assistant","usage":%s,"content":[],"stopReason":"error","timestamp":1795159140001}`,
			`"message":{"role":"assistant","x":{"a":1,"usage":%s},"stopReason":"stop","timestamp":1795159140001}`,
		}).Draw(t, "message"), usage)
		line := []byte(`{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-11-20T07:19:04.120Z",` + text + `}`)
		got, ok := quickUsage(line)
		if !ok {
			return
		}
		taken++
		if want := decodeUsage(member(member(line, "message"), "usage")); got != want {
			t.Fatalf("%s: %+v, want %+v", line, got, want)
		}
	})
	if taken == 0 {
		t.Fatal("no usage was read the quick way")
	}
}
