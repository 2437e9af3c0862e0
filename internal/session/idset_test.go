package session

import (
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/tree"
)

// TestIDSetIsAMap: whatever ids are added, one by one or in bulk, a view finds
// what a map of its time finds, also after the set has grown.
func TestIDSetIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[0-9a-f]{8}`), rapid.SampledFrom([]string{"00000000", "0000000A", "a", "b~2", "ffffffff", "é"}),
			rapid.StringN(1, 12, -1),
		)
		var set idSet
		type moment struct {
			view idView
			want map[ID]tree.Node
		}
		all := map[ID]tree.Node{}
		var moments []moment
		lazy := rapid.Bool().Draw(t, "bulk")
		for range rapid.IntRange(1, 200).Draw(t, "n") {
			text := ID(id.Draw(t, "id"))
			before, known := all[text]
			if lazy && !known {
				set.push([]byte(text))
				all[text] = tree.Node(len(all))
				if rapid.IntRange(0, 20).Draw(t, "settle") == 0 && !set.settle() {
					t.Fatal("an id is said to stand twice")
				}
				continue
			}
			if lazy {
				continue
			}
			taken, ok := set.add([]byte(text))
			if ok == known || known && taken != before {
				t.Fatalf("%q: added %v, taken by %d; want %v, %d", text, ok, taken, !known, before)
			}
			if ok {
				all[text] = tree.Node(len(all))
			}
			if rapid.IntRange(0, 30).Draw(t, "look") == 0 {
				copied := map[ID]tree.Node{}
				for k, v := range all {
					copied[k] = v
				}
				moments = append(moments, moment{set.view(), copied})
			}
		}
		if !set.settle() {
			t.Fatal("an id is said to stand twice")
		}
		moments = append(moments, moment{set.view(), all})
		for _, m := range moments {
			for text := range all {
				want, known := m.want[text]
				if !known {
					want = tree.None
				}
				if got := m.view.find(text); got != want {
					t.Fatalf("%q is %d, want %d", text, got, want)
				}
				if known && m.view.id(want) != text {
					t.Fatalf("node %d is %q, want %q", want, m.view.id(want), text)
				}
			}
		}
		for text := range all {
			set.push([]byte(text))
			if set.settle() {
				t.Fatalf("%q stands twice and nobody says so", text)
			}
			break
		}
	})
}
