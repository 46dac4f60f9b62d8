package group

import (
	"math/bits"
	"math/rand/v2"
)

// table numbers different keys from 0 on, in the order of their arrival. It is a hash table
// with open addressing, at most half full.
type table struct {
	slots []slot // a power of two
	keys  []uint64
	shift uint8 // 64 minus the bits of a slot's number
}

type slot struct {
	key uint64
	id  uint32 // plus 1; 0 is a free slot
}

// seed keeps keys from colliding on purpose.
var seed = rand.Uint64() | 1

func (t *table) first(key uint64) uint64 {
	high, low := bits.Mul64(key^seed, 0x9e3779b97f4a7c15)
	return (high ^ low) * seed >> t.shift
}

// id is the number of a key.
func (t *table) id(key uint64) uint32 {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for at := t.first(key); ; at = (at + 1) & mask {
		s := &t.slots[at&mask]
		if s.id == 0 {
			t.keys = append(t.keys, key)
			*s = slot{key, uint32(len(t.keys))}
		}
		if s.key == key {
			return s.id - 1
		}
	}
}

func (t *table) grow() {
	n := max(64, 2*len(t.slots))
	t.slots, t.shift = make([]slot, n), uint8(64-bits.Len(uint(n-1)))
	mask := uint64(n - 1)
	for id, key := range t.keys {
		at := t.first(key)
		for t.slots[at&mask].id != 0 {
			at++
		}
		t.slots[at&mask] = slot{key, uint32(id + 1)}
	}
}
