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
// atomic slots that are written once: a reader that meets a node younger than
// its view passes over it.
type idSet struct {
	keys  []uint64 // by node: the hex digits' value, or odd and a place in odds
	odds  []ID
	slots []atomic.Int32 // node + 1; 0 is empty. The length is a power of two.
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
	slots []atomic.Int32
}

func (s *idSet) view() idView { return idView{s.keys, s.odds, s.slots} }

// add gives the next node an id, or says which node has it already.
func (s *idSet) add(id []byte) (taken tree.Node, ok bool) {
	if 2*len(s.keys) >= len(s.slots) {
		s.grow(len(s.keys) + 1)
	}
	key, plain := hexKey(id)
	if _, taken := probe(s.view(), id, key, plain); taken != tree.None {
		return taken, false
	}
	s.push(id)
	return tree.None, s.settle()
}

// push gives the next node an id without looking whether it is free. Nothing is
// found until settle.
func (s *idSet) push(id []byte) {
	key, plain := hexKey(id)
	if !plain {
		key = odd | uint64(len(s.odds))
		s.odds = append(s.odds, ID(id))
	}
	s.keys = append(s.keys, key)
}

// settle makes pushed ids known; false if one of them was given twice. Doing
// many at once keeps the processor from waiting for memory at each.
func (s *idSet) settle() bool {
	if 2*len(s.keys) > len(s.slots) {
		s.grow(len(s.keys))
	}
	v, mask := s.view(), uint64(len(s.slots)-1)
	for ; s.placed < len(v.keys); s.placed++ {
		key := v.keys[s.placed]
		i := v.hash(key) & mask
		for n := v.slots[i].Load(); n != 0; n = v.slots[i].Load() {
			if s.same(v.keys[n-1], key) {
				return false
			}
			i = (i + 1) & mask
		}
		v.slots[i].Store(int32(s.placed + 1))
	}
	return true
}

// same tells whether two keys are the same id.
func (s *idSet) same(a, b uint64) bool {
	return a == b || a&b&odd != 0 && s.odds[a&^odd] == s.odds[b&^odd]
}

// grow makes a table that holds n ids and more. Views keep the old one, which
// holds all of theirs.
func (s *idSet) grow(n int) {
	size := max(64, len(s.slots))
	for size < 2*n {
		size *= 2
	}
	s.slots = make([]atomic.Int32, size)
	v, mask := s.view(), uint64(size-1)
	for n, key := range v.keys[:s.placed] {
		i := v.hash(key) & mask
		for v.slots[i].Load() != 0 {
			i = (i + 1) & mask
		}
		v.slots[i].Store(int32(n + 1))
	}
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
		n := int(v.slots[i].Load()) - 1
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

func (v *idView) hash(key uint64) uint64 {
	if key&odd != 0 {
		return hashID(v.odds[key&^odd], key, false)
	}
	return hashID[ID]("", key, true)
}

func hashID[T ID | []byte](id T, key uint64, plain bool) uint64 {
	if !plain {
		return maphash.String(idHashSeed, string(id))
	}
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
