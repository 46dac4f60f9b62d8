package hdl

import (
	"iter"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/plan"
)

// Dictionary finds the handle of a term: a hash table of 8-byte slots with
// linear probing. It is read-only and safe for concurrent use.
//
// A slot is 0 when empty, else the upper half of the term's xxHash64 in its
// upper half and handle+1 in its lower half. A term's first slot is its hash
// modulo the number of slots, a power of two; so a term that is not there costs
// one cache miss as a rule, and only a hit goes on to the term's bytes.
type Dictionary struct {
	slots   []uint64
	offsets []uint64 // where each term begins in bytes; one entry more than terms
	bytes   []byte
}

// NewDictionary makes a dictionary in memory; the handle of a term is its index
// in terms. The order is free, a term that occurs twice or is longer than
// MaxTermLen is an ErrInput.
func NewDictionary(terms []string) (*Dictionary, error) {
	if uint64(len(terms)) > math.MaxUint32 {
		return nil, inputError("%d terms; at most %d are possible", len(terms), uint32(math.MaxUint32))
	}
	d := &Dictionary{
		slots:   make([]uint64, slotCount(uint64(len(terms)))),
		offsets: make([]uint64, 1, len(terms)+1),
	}
	for h, t := range terms {
		if len(t) > MaxTermLen {
			return nil, inputError("term %d has %d bytes; at most %d are possible", h, len(t), MaxTermLen)
		}
		if first, ok := d.Lookup(t); ok {
			return nil, inputError("terms %d and %d are the same: %q", first, h, t)
		}
		d.bytes = append(d.bytes, t...)
		d.offsets = append(d.offsets, uint64(len(d.bytes)))
		insert(d.slots, xxhash.Sum64String(t), plan.Handle(h))
	}
	return d, nil
}

// slotCount is the number of slots for n terms: the least power of two above
// 3n/2, so that one third of the slots at least is empty.
func slotCount(n uint64) uint64 {
	slots := uint64(1)
	for slots <= n+n/2 {
		slots *= 2
	}
	return slots
}

func slot(hash uint64, h plan.Handle) uint64 { return hash>>32<<32 | uint64(h+1) }

// insert puts h into the first empty slot from its hash on; there must be one.
func insert(slots []uint64, hash uint64, h plan.Handle) {
	mask := uint64(len(slots) - 1)
	i := hash & mask
	for slots[i] != 0 {
		i = (i + 1) & mask
	}
	slots[i] = slot(hash, h)
}

// Lookup returns the handle of a term. It allocates nothing.
func (d *Dictionary) Lookup(term string) (plan.Handle, bool) {
	hash := xxhash.Sum64String(term)
	mask := uint64(len(d.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := d.slots[i]
		if s == 0 {
			return 0, false
		}
		if s>>32 == hash>>32 {
			h := plan.Handle(s) - 1
			if string(d.term(h)) == term {
				return h, true
			}
		}
	}
}

// Term returns a copy of the term of handle h, which must be below Terms.
func (d *Dictionary) Term(h plan.Handle) string { return string(d.term(h)) }

// term is Term without the copy.
func (d *Dictionary) term(h plan.Handle) []byte { return d.bytes[d.offsets[h]:d.offsets[h+1]] }

// Terms is the number of terms.
func (d *Dictionary) Terms() int { return len(d.offsets) - 1 }

// Prefix yields the terms that begin with prefix, by handle. It looks at all terms. It is
// safe for concurrent use.
func (d *Dictionary) Prefix(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for h := range d.Terms() {
			if t := d.term(plan.Handle(h)); strings.HasPrefix(string(t), prefix) && !yield(string(t)) {
				return
			}
		}
	}
}
