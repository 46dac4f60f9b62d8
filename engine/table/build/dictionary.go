package build

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"unsafe"

	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// dictionary numbers strings in the order in which they come first. A hash table of numbers
// finds them; their texts lie in blocks, so that an entry costs about entryBytes beside its
// text.
type dictionary struct {
	limit uint64         // bytes of all dictionaries
	total *atomic.Uint64 // bytes that they take so far
	seed  maphash.Seed
	slots []uint32 // number of a string plus 1, or 0; a power of two
	block []byte   // with room for further texts
	list  []string
	rows  []uint32 // of each
}

const (
	entryBytes = 32      // of an entry in list, rows and slots
	blockBytes = 1 << 20 // of texts
)

// codes appends the numbers of values, 0 for missing ones.
func (d *dictionary) codes(dst []uint64, v *read.Values) (_ []uint64, err error) {
	v.Each(func(row int, value []byte, ok bool) {
		if !ok || err != nil {
			dst = append(dst, 0)
			return
		}
		var id uint32
		if id, err = d.number(value); err == nil {
			d.rows[id]++
			dst = append(dst, uint64(id))
		}
	})
	return dst, err
}

// number is the number of a string, which it adds if it is not there.
func (d *dictionary) number(value []byte) (id uint32, err error) {
	if 4*len(d.list) >= 3*len(d.slots) {
		d.grow()
	}
	at := d.first(value)
	for ; d.slots[at] > 0; at = (at + 1) & (len(d.slots) - 1) {
		if id := d.slots[at] - 1; d.list[id] == string(value) {
			return id, nil
		}
	}
	if len(value) > hdb.MaxStringLen {
		return 0, fmt.Errorf("a string of %d bytes, %.60q...; at most %d are possible", len(value), value, hdb.MaxStringLen)
	}
	if n := d.total.Add(uint64(len(value)) + entryBytes); n > d.limit {
		return 0, fmt.Errorf("%d different values here; the dictionaries of all columns take more than half of the memory limit, %d bytes: raise it, or leave the column out", len(d.list), d.limit)
	}
	d.list, d.rows = append(d.list, d.text(value)), append(d.rows, 0)
	d.slots[at] = uint32(len(d.list))
	return uint32(len(d.list) - 1), nil
}

// first is the slot at which the search for a string begins.
func (d *dictionary) first(value []byte) int {
	return int(maphash.Bytes(d.seed, value) & uint64(len(d.slots)-1))
}

// text copies a string into a block.
func (d *dictionary) text(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	if len(d.block)+len(value) > cap(d.block) {
		d.block = make([]byte, 0, max(len(value), min(blockBytes, 64*(len(d.list)+1))))
	}
	from := len(d.block)
	d.block = append(d.block, value...)
	return unsafe.String(&d.block[from], len(value)) // nobody writes to this part of the block again
}

func (d *dictionary) grow() {
	if d.slots == nil {
		d.seed = maphash.MakeSeed()
	}
	d.slots = make([]uint32, max(64, 2*len(d.slots)))
	for id, s := range d.list {
		at := d.first(unsafe.Slice(unsafe.StringData(s), len(s)))
		for d.slots[at] > 0 {
			at = (at + 1) & (len(d.slots) - 1)
		}
		d.slots[at] = uint32(id + 1)
	}
}

// sort puts the entries in order, and gives the place of each by its number.
func (d *dictionary) sort() (place []uint32) {
	d.slots = nil
	order := make([]uint32, len(d.list))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(d.list[a], d.list[b]) })
	place = make([]uint32, len(order))
	list, rows := make([]string, len(order)), make([]uint32, len(order))
	for i, id := range order {
		place[id], list[i], rows[i] = uint32(i), d.list[id], d.rows[id]
	}
	d.list, d.rows = list, rows
	return place
}
