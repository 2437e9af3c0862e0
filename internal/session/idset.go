package session

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"banyan/internal/tree"
)

// idSet finds the node of an id. One goroutine adds; any goroutine may look
// through an idView.
//
// Ids that we make are 8 hex digits and take 8 bytes here, not a string's 24
// and more; other ids go to a list beside. The table is open addressing with
// slots that are written once: a reader that meets a node younger than its view
// passes over it.
type idSet struct {
	keys []uint64 // by node: the hex digits' value, or odd and a place in odds
	odds []ID
	// slots are node + 1; 0 is empty. The length is a power of two. Once a view
	// has them they are only read and written atomically.
	slots []int32
	// placed is how many keys are in slots. It is less than all of them only
	// between push and settle.
	placed int
}

// odd marks the key of an id that is not 8 lower-case hex digits.
const odd = 1 << 63

// Seeds are per process, so that no file can be made to collide.
var (
	idSeed     = [2]uint64{rand.Uint64(), rand.Uint64() | 1}
	idHashSeed = maphash.MakeSeed()
)

// idView is an idSet as it was at one moment.
type idView struct {
	keys  []uint64
	odds  []ID
	slots []int32
}

func (s *idSet) view() idView { return idView{s.keys, s.odds, s.slots} }

// add gives the next node an id, or says which node has it already. Ids that
// were pushed must be settled.
func (s *idSet) add(id []byte) (taken tree.Node, ok bool) {
	if 2*len(s.keys) >= len(s.slots) {
		s.build(len(s.keys) + 1)
	}
	key, plain := hexKey(id)
	slot, taken := probe(s.view(), id, key, plain)
	if taken != tree.None {
		return taken, false
	}
	s.push(id)
	s.placed = len(s.keys)
	atomic.StoreInt32(&s.slots[slot], int32(s.placed))
	return tree.None, true
}

// push gives the next node an id without looking whether it is free. Only
// recent finds it before settle.
func (s *idSet) push(id []byte) {
	key, plain := hexKey(id)
	if !plain {
		key = odd | uint64(len(s.odds))
		s.odds = append(s.odds, ID(id))
	}
	s.pushKey(key)
}

// pushKey is push of an id of 8 hex digits, by their value.
func (s *idSet) pushKey(key uint64) { s.keys = append(s.keys, key) }

// recent looks for an id among the youngest of those that were pushed and not
// settled. all says that there are no others.
func (s *idSet) recent(id ID) (n tree.Node, all bool) {
	const most = 512
	key, plain := hexKey(id)
	if !plain {
		return tree.None, s.placed == len(s.keys)
	}
	from := max(s.placed, len(s.keys)-most)
	for i := len(s.keys) - 1; i >= from; i-- {
		if s.keys[i] == key {
			return tree.Node(i), from == s.placed
		}
	}
	return tree.None, from == s.placed
}

// settle makes pushed ids known; false if one of them was given twice.
func (s *idSet) settle() bool {
	pushed := s.keys[s.placed:]
	if len(pushed) > s.placed || 2*len(s.keys) > len(s.slots) {
		return s.build(len(s.keys))
	}
	mask := uint64(len(s.slots) - 1)
	for _, key := range pushed {
		i := s.hash(key) & mask
		for s.slots[i] != 0 {
			if s.same(s.keys[s.slots[i]-1], key) {
				return false
			}
			i = (i + 1) & mask
		}
		s.placed++
		atomic.StoreInt32(&s.slots[i], int32(s.placed))
	}
	return true
}

// build makes a table that holds n ids and more, with all there are; false if
// one of them was given twice. Views keep the old one, which holds all of theirs.
// Nobody sees the new one while it is made, so the processor need not wait for
// each slot that it writes.
func (s *idSet) build(n int) bool {
	size := max(64, len(s.slots))
	for size < 2*n {
		size *= 2
	}
	slots, mask := make([]int32, size), uint64(size-1)
	for n, key := range s.keys {
		i := s.hash(key) & mask
		for slots[i] != 0 {
			if s.same(s.keys[slots[i]-1], key) {
				return false
			}
			i = (i + 1) & mask
		}
		slots[i] = int32(n + 1)
	}
	s.slots, s.placed = slots, len(s.keys)
	return true
}

// same tells whether two keys are the same id.
func (s *idSet) same(a, b uint64) bool {
	return a == b || a&b&odd != 0 && s.odds[a&^odd] == s.odds[b&^odd]
}

func (s *idSet) hash(key uint64) uint64 {
	if key&odd != 0 {
		return maphash.String(idHashSeed, string(s.odds[key&^odd]))
	}
	return hashKey(key)
}

// find is the node of an id, tree.None where there is none.
func (v idView) find(id ID) tree.Node {
	if len(v.slots) == 0 {
		return tree.None
	}
	key, plain := hexKey(id)
	_, n := probe(v, id, key, plain)
	return n
}

// probe is the node of an id, or the empty slot where it would be.
func probe[T ID | []byte](v idView, id T, key uint64, plain bool) (uint64, tree.Node) {
	mask := uint64(len(v.slots) - 1)
	for i := hashID(id, key, plain) & mask; ; i = (i + 1) & mask {
		n := int(atomic.LoadInt32(&v.slots[i])) - 1
		switch {
		case n < 0:
			return i, tree.None
		case n >= len(v.keys): // younger than the view
		case plain && v.keys[n] == key, !plain && v.keys[n]&odd != 0 && string(v.odds[v.keys[n]&^odd]) == string(id):
			return i, tree.Node(n)
		}
	}
}

// id is the id of a node.
func (v idView) id(n tree.Node) ID {
	key := v.keys[n]
	if key&odd != 0 {
		return v.odds[key&^odd]
	}
	return hexID(uint32(key))
}

func hashID[T ID | []byte](id T, key uint64, plain bool) uint64 {
	if !plain {
		return maphash.String(idHashSeed, string(id))
	}
	return hashKey(key)
}

func hashKey(key uint64) uint64 {
	hi, lo := bits.Mul64(key^idSeed[0], idSeed[1])
	return hi ^ lo
}

// hexKey is the value of an id of 8 lower-case hex digits.
func hexKey[T ID | []byte](id T) (uint64, bool) {
	if len(id) != 8 {
		return 0, false
	}
	var key uint64
	var bad byte
	for i := range 8 {
		v := hexDigits[id[i]]
		bad |= v
		key = key<<4 | uint64(v&15)
	}
	return key, bad < 16
}

// hexDigits are the values of lower-case hex digits; 16 for all other bytes.
var hexDigits = func() (values [256]byte) {
	for i := range values {
		values[i] = 16
	}
	for v, c := range []byte("0123456789abcdef") {
		values[c] = byte(v)
	}
	return values
}()

func hexID(v uint32) ID {
	var b [9]byte // a leading 1 keeps the zeros
	return ID(strconv.AppendUint(b[:0], 1<<32|uint64(v), 16)[1:])
}
