package tree

import (
	mathbits "math/bits"
	"slices"
)

// bits is a set of positions, 64 to a word. Going over a million of them word
// by word takes microseconds, which is what the outline's speed rests on.
type bits []uint64

// newBits is room for positions up to and including n, so that ranges may end there.
func newBits(n int) bits { return make(bits, n/64+1) }

func (b bits) has(i int32) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bits) set(i int32)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) clear(i int32)    { b[i>>6] &^= 1 << (i & 63) }

// put makes i a member or not.
func (b bits) put(i int32, member bool) {
	if member {
		b.set(i)
	} else {
		b.clear(i)
	}
}

// next is the first member at or after i, -1 if there is none.
func (b bits) next(i int32) int32 { return b.nextIn(nil, i) }

// nextIn is the first member at or after i that also is in and; nil is everything.
func (b bits) nextIn(and bits, i int32) int32 {
	mask := ^uint64(0) << (i & 63)
	for w := int(i >> 6); w < len(b); w++ {
		x := b[w] & mask
		if and != nil {
			x &= and[w]
		}
		if x != 0 {
			return int32(w<<6 + mathbits.TrailingZeros64(x))
		}
		mask = ^uint64(0)
	}
	return -1
}

// prevIn is the last member at or before i, but not before lo, that also is in
// and (nil is everything); -1 if there is none.
func (b bits) prevIn(and bits, i, lo int32) int32 {
	if i < lo {
		return -1
	}
	mask := ^uint64(0) >> (63 - i&63)
	for w := int(i >> 6); w >= int(lo>>6); w-- {
		x := b[w] & mask
		if and != nil {
			x &= and[w]
		}
		if x != 0 {
			if p := int32(w<<6 + 63 - mathbits.LeadingZeros64(x)); p >= lo {
				return p
			}
			return -1
		}
		mask = ^uint64(0)
	}
	return -1
}

// clearRange takes lo up to but not including hi out.
func (b bits) clearRange(lo, hi int32) {
	if lo >= hi {
		return
	}
	first, last := int(lo>>6), int((hi-1)>>6)
	head, tail := ^uint64(0)<<(lo&63), ^uint64(0)>>(63-(hi-1)&63)
	if first == last {
		b[first] &^= head & tail
		return
	}
	b[first] &^= head
	clear(b[first+1 : last])
	b[last] &^= tail
}

// without takes the members of another set out, only those that are not in it.
func (b bits) without(set bits) {
	for w := range b {
		b[w] &^= set[w]
	}
}

func (b bits) only(set bits) {
	for w := range b {
		b[w] &= set[w]
	}
}

// ranked is a set that can be counted: which is the r-th member, and the how
// many-th is this one.
type ranked struct {
	bits
	// before[w] is the number of members before word w; one longer than bits.
	before []int32
}

func newRanked(n int) ranked {
	b := newBits(n)
	return ranked{b, make([]int32, len(b)+1)}
}

// count brings before up to date after changes to the bits.
func (r ranked) count() {
	n := int32(0)
	for w, x := range r.bits {
		r.before[w] = n
		n += int32(mathbits.OnesCount64(x))
	}
	r.before[len(r.bits)] = n
}

// len is the number of members.
func (r ranked) len() int { return int(r.before[len(r.bits)]) }

// rank is the number of members before i.
func (r ranked) rank(i int32) int32 {
	w := i >> 6
	return r.before[w] + int32(mathbits.OnesCount64(r.bits[w]&(1<<(i&63)-1)))
}

// at is the member that has k members before it.
func (r ranked) at(k int) int32 {
	// The word is the last one with at most k members before it.
	w, _ := slices.BinarySearch(r.before, int32(k)+1)
	w--
	x := r.bits[w]
	for range int32(k) - r.before[w] {
		x &= x - 1
	}
	return int32(w<<6 + mathbits.TrailingZeros64(x))
}
