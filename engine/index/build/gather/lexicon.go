package gather

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// lexicon numbers terms from 0, and keeps a value of each: a hash table by linear probing. A term of
// up to maxShort bytes lies in its entry, so that most look-ups touch one slot and one entry. One
// goroutine at a time.
type lexicon[T any] struct {
	Slots []uint32     // number of an entry plus one, or 0
	pages [][]entry[T] // pages of pageSize entries; entries never move
	terms uint32       // number of entries
	long  arena        // other terms, by AppendBytes
}

// entry is a term and its value. The order of short terms is the order of their heads, then tails.
type entry[T any] struct {
	head  uint64 // the first eight bytes of the term, big-endian, with zeros behind its end
	tail  uint64 // seven more bytes, and the length; of a long term its address and isLong
	value T
}

const (
	pageBits   = 10
	pageSize   = 1 << pageBits
	firstSlots = 1 << 10
	maxShort   = 15   // bytes of a term in its entry
	isLong     = 0xff // lowest byte of a tail
	// sortSize is the memory for sorting, in bytes per term.
	sortSize = 20
)

// Seeds keep an input from choosing terms of equal hashes.
var (
	seed      = maphash.MakeSeed()
	shortSeed = [2]uint64{rand.Uint64(), rand.Uint64()}
)

// short makes head and tail of a short term.
func short(term []byte) (head, tail uint64) {
	n := uint(len(term))
	if cap(term) > maxShort { // most terms lie in larger memory
		b := term[:maxShort+1]
		head, tail = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		if n < 8 {
			head, tail = head&^(^uint64(0)>>(8*n)), 0
		} else {
			tail &^= ^uint64(0) >> (8 * (n - 8))
		}
	} else {
		var b [maxShort + 1]byte
		copy(b[:], term)
		head, tail = binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	}
	return head, tail | uint64(n)
}

func hashShort(head, tail uint64) uint32 {
	high, low := bits.Mul64(head^shortSeed[0], tail^shortSeed[1])
	return uint32(high ^ low)
}

func hashLong(term []byte) uint32 { return uint32(maphash.Bytes(seed, term)) }

// reset drops the content and keeps the memory.
func (x *lexicon[T]) reset() {
	clear(x.Slots)
	x.terms = 0
	x.long.reset()
}

// at returns entry id, from 0. It stays where it is until reset.
func (x *lexicon[T]) at(id uint32) *entry[T] { return &x.pages[id>>pageBits][id&(pageSize-1)] }

// Value returns the value of entry id.
func (x *lexicon[T]) Value(id uint32) *T { return &x.at(id).value }

// appendTerm appends the term of entry e.
func (x *lexicon[T]) appendTerm(dst []byte, e *entry[T]) []byte {
	if e.tail&0xff == isLong {
		return append(dst, x.longTerm(e.tail)...)
	}
	n := len(dst) + int(e.tail&0xff)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, e.head), e.tail)[:n]
}

// view returns the term of entry e, in scratch memory if it is short.
func (x *lexicon[T]) view(e *entry[T], scratch []byte) []byte {
	if e.tail&0xff == isLong {
		return x.longTerm(e.tail)
	}
	return x.appendTerm(scratch, e)
}

func (x *lexicon[T]) longTerm(tail uint64) []byte {
	term, _ := cutBytes(x.long.bytes(address(tail >> 8)))
	return term
}

// Find returns the number of the entry of term, of at most hdl.MaxTermLen bytes, which is made with
// the zero value if there is none.
func (x *lexicon[T]) Find(term []byte) uint32 {
	if uint64(x.terms)*2 >= uint64(len(x.Slots)) {
		x.grow()
	}
	if len(term) > maxShort {
		return x.findLong(term)
	}
	head, tail := short(term)
	mask := uint32(len(x.Slots) - 1)
	for i := hashShort(head, tail) & mask; ; i = (i + 1) & mask {
		slot := x.Slots[i]
		if slot == 0 {
			return x.add(i, head, tail)
		}
		if e := x.at(slot - 1); e.head == head && e.tail == tail {
			return slot - 1
		}
	}
}

func (x *lexicon[T]) findLong(term []byte) uint32 {
	head := binary.BigEndian.Uint64(term)
	mask := uint32(len(x.Slots) - 1)
	for i := hashLong(term) & mask; ; i = (i + 1) & mask {
		slot := x.Slots[i]
		if slot == 0 {
			at := x.long.alloc(binary.MaxVarintLen32 + len(term))
			AppendBytes(x.long.bytes(at)[:0], term)
			return x.add(i, head, uint64(at)<<8|isLong)
		}
		if e := x.at(slot - 1); e.head == head && e.tail&0xff == isLong && bytes.Equal(x.longTerm(e.tail), term) {
			return slot - 1
		}
	}
}

// add makes an entry for slot i.
func (x *lexicon[T]) add(i uint32, head, tail uint64) (id uint32) {
	if id = x.terms; int(id>>pageBits) == len(x.pages) {
		x.pages = append(x.pages, make([]entry[T], pageSize))
	}
	x.terms++
	x.Slots[i] = x.terms
	*x.at(id) = entry[T]{head: head, tail: tail}
	return id
}

// grow doubles the hash table.
func (x *lexicon[T]) grow() {
	x.Slots = make([]uint32, max(2*len(x.Slots), firstSlots))
	mask := uint32(len(x.Slots) - 1)
	for id := range x.terms {
		e := x.at(id)
		i := hashShort(e.head, e.tail)
		if e.tail&0xff == isLong {
			i = hashLong(x.longTerm(e.tail))
		}
		for i &= mask; x.Slots[i] != 0; i = (i + 1) & mask {
		}
		x.Slots[i] = id + 1
	}
}

// sorted returns the numbers of all entries in the order of their terms.
func (x *lexicon[T]) sorted() []uint32 {
	type key struct {
		head uint64
		id   uint32
	}
	keys := make([]key, x.terms)
	for id := range x.terms {
		keys[id] = key{x.at(id).head, id}
	}
	slices.SortFunc(keys, func(k, l key) int {
		if k.head != l.head {
			return cmp.Compare(k.head, l.head)
		}
		e, f := x.at(k.id), x.at(l.id)
		if e.tail&0xff != isLong && f.tail&0xff != isLong {
			return cmp.Compare(e.tail, f.tail)
		}
		var one, two [2 * 8]byte
		return bytes.Compare(x.view(e, one[:0]), x.view(f, two[:0]))
	})
	ids := make([]uint32, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}
