package tree

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBitsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 400).Draw(t, "size")
		set, other := newRanked(size), newBits(size)
		var in, and []bool
		for i := range size {
			in = append(in, rapid.Bool().Draw(t, "in"))
			and = append(and, rapid.Bool().Draw(t, "and"))
			set.put(int32(i), in[i])
			other.put(int32(i), and[i])
		}
		lo := rapid.IntRange(0, size).Draw(t, "lo")
		hi := rapid.IntRange(lo, size).Draw(t, "hi")
		set.clearRange(int32(lo), int32(hi))
		var members, both []int32
		for i := range size {
			in[i] = in[i] && (i < lo || i >= hi)
			if in[i] {
				members = append(members, int32(i))
			}
			if in[i] && and[i] {
				both = append(both, int32(i))
			}
		}
		set.count()
		if set.len() != len(members) {
			t.Fatalf("%d members, want %d", set.len(), len(members))
		}
		for k, i := range members {
			if set.at(k) != i || set.rank(i) != int32(k) || !set.has(i) {
				t.Fatalf("member %d is %d (want %d), of rank %d", k, set.at(k), i, set.rank(i))
			}
		}
		i := int32(rapid.IntRange(0, size-1).Draw(t, "i"))
		from := int32(rapid.IntRange(0, size-1).Draw(t, "from"))
		for _, c := range []struct {
			name      string
			got, want int32
		}{
			{"next", set.next(i), firstFrom(members, i)},
			{"nextIn", set.nextIn(other, i), firstFrom(both, i)},
			{"prevIn", set.prevIn(other, i, from), lastUpTo(both, i, from)},
			{"prevIn all", set.prevIn(nil, i, from), lastUpTo(members, i, from)},
		} {
			if c.got != c.want {
				t.Fatalf("%s from %d (not before %d): %d, want %d", c.name, i, from, c.got, c.want)
			}
		}
	})
}

func firstFrom(members []int32, i int32) int32 {
	if k := slices.IndexFunc(members, func(m int32) bool { return m >= i }); k >= 0 {
		return members[k]
	}
	return -1
}

func lastUpTo(members []int32, i, lo int32) int32 {
	found := int32(-1)
	for _, m := range members {
		if m >= lo && m <= i {
			found = m
		}
	}
	return found
}
