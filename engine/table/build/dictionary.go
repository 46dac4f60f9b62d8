package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"

	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// dictionary numbers the different texts of a column in the order in which they come first. A hash
// table of numbers finds them. The zero value is empty.
type dictionary struct {
	seed   maphash.Seed
	slots  []uint32 // number of a text plus 1, or 0; a power of two
	blocks [][]byte // blocks of texts, each text behind its length
	used   int      // blocks in use
	pages  [][]entry
	n      int    // texts
	texts  uint64 // bytes of blocks in use
}

// entry is a text and its number of rows.
type entry struct {
	block, at uint32
	rows      uint32
}

const (
	entryBytes = 32      // bytes of an entry beside its text: slots, later keys to sort
	blockBytes = 1 << 20 // greatest size of a block of texts, in bytes
	pageSize   = 1 << 7  // entries
)

// memory is the memory of the texts, and of sorting them, in bytes.
func (d *dictionary) memory() uint64 { return d.texts + uint64(d.n)*entryBytes }

// reset drops the texts and keeps the memory.
func (d *dictionary) reset() {
	*d = dictionary{blocks: d.blocks, pages: d.pages}
}

// codes appends the numbers of values, 0 for missing values.
func (d *dictionary) codes(dst []uint64, v *read.Values) (_ []uint64, err error) {
	var last []byte // the last value, of number id
	var id, rows uint32
	v.Each(func(row int, value []byte, ok bool) {
		switch {
		case !ok || err != nil:
			dst = append(dst, 0)
			return
		case rows == 0 || !bytes.Equal(value, last):
			if rows > 0 {
				d.entry(id).rows += rows
			}
			if id, err = d.number(value); err != nil {
				rows = 0
				return
			}
			last, rows = value, 0
		}
		rows++
		dst = append(dst, uint64(id))
	})
	if rows > 0 {
		d.entry(id).rows += rows
	}
	return dst, err
}

// number is the number of a text, which it adds if it is not there.
func (d *dictionary) number(value []byte) (id uint32, err error) {
	if 4*d.n >= 3*len(d.slots) {
		d.grow()
	}
	at := d.first(value)
	for ; d.slots[at] > 0; at = (at + 1) & (len(d.slots) - 1) {
		if id := d.slots[at] - 1; bytes.Equal(d.text(id), value) {
			return id, nil
		}
	}
	if len(value) > hdb.MaxStringLen {
		return 0, fmt.Errorf("a string of %d bytes, %.60q...; at most %d are possible", len(value), value, hdb.MaxStringLen)
	}
	d.add(value)
	d.slots[at] = uint32(d.n)
	return uint32(d.n - 1), nil
}

// add adds a text that is not there.
func (d *dictionary) add(value []byte) {
	size := binary.MaxVarintLen32 + len(value)
	if d.used == 0 || len(d.blocks[d.used-1])+size > cap(d.blocks[d.used-1]) {
		if d.used == len(d.blocks) {
			d.blocks = append(d.blocks, nil)
		}
		block := &d.blocks[d.used]
		if *block = (*block)[:0]; cap(*block) < size {
			*block = make([]byte, 0, max(size, min(blockBytes, 64*(d.n+1))))
		}
		d.texts += uint64(cap(*block))
		d.used++
	}
	block := &d.blocks[d.used-1]
	if d.n == pageSize*len(d.pages) {
		d.pages = append(d.pages, make([]entry, pageSize))
	}
	d.pages[d.n/pageSize][d.n%pageSize] = entry{uint32(d.used - 1), uint32(len(*block)), 0}
	*block = append(binary.AppendUvarint(*block, uint64(len(value))), value...)
	d.n++
}

// entry is the entry of a number.
func (d *dictionary) entry(id uint32) *entry { return &d.pages[id/pageSize][id%pageSize] }

// text is the text of a number.
func (d *dictionary) text(id uint32) []byte {
	e := d.entry(id)
	b := d.blocks[e.block][e.at:]
	n, size := binary.Uvarint(b)
	return b[size:][:n]
}

// first is the slot at which the search for a text begins.
func (d *dictionary) first(value []byte) int {
	return int(maphash.Bytes(d.seed, value) & uint64(len(d.slots)-1))
}

func (d *dictionary) grow() {
	if d.slots == nil {
		d.seed = maphash.MakeSeed()
	}
	n := max(64, 2*len(d.slots))
	d.slots = nil
	d.slots = large[uint32](n)
	for id := range uint32(d.n) {
		at := d.first(d.text(id))
		for d.slots[at] > 0 {
			at = (at + 1) & (len(d.slots) - 1)
		}
		d.slots[at] = id + 1
	}
}

// large makes a slice. It collects garbage before a large one: the collector cannot delay a single
// allocation, which would exceed the memory limit of the process if garbage fills the memory.
func large[T uint32 | sortKey](n int) []T {
	if n >= 1<<20 {
		runtime.GC()
	}
	return make([]T, n)
}

// sortKey is a text: its first eight bytes behind the bytes that all texts begin with, and its number.
type sortKey struct {
	prefix uint64
	id     uint32
}

// sorted gives the texts in their order.
func (d *dictionary) sorted() []sortKey {
	d.slots = nil
	keys := large[sortKey](d.n)
	common := d.common()
	for id := range keys {
		var prefix [8]byte
		copy(prefix[:], d.text(uint32(id))[common:])
		keys[id] = sortKey{binary.BigEndian.Uint64(prefix[:]), uint32(id)}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(d.text(a.id), d.text(b.id))
	})
	return keys
}

// common is the number of bytes that all texts begin with.
func (d *dictionary) common() (n int) {
	for id := range uint32(d.n) {
		text := d.text(id)
		if id == 0 {
			n = len(text)
		}
		first := d.text(0)
		for n = min(n, len(text)); !bytes.Equal(first[:n], text[:n]); n-- {
		}
	}
	return n
}
