package hdl

import (
	"iter"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl/compress"
	"heddle/engine/plan"
)

// termBlock is the number of terms that are front-coded together. The first of them is whole.
const termBlock = 16

// lexicon finds terms in their front-coded blocks. A Dictionary is faster, but making it takes
// longer than many searches. So lookups search the blocks until there has been one for 8 terms.
// Then they use a Dictionary, of 20 to 32 bytes per term and its text. Damage is a panic with a
// *mapped.Fault, or a term that is not found.
type lexicon struct {
	bytes   []byte
	offsets []uint64 // where each block begins in bytes; one entry more than blocks
	terms   uint32
	corrupt func(at uint64, format string, args ...any) error

	fast    atomic.Pointer[Dictionary] // nil until it pays
	lookups atomic.Uint32              // number of look-ups without the table
}

// block returns the bytes of block i.
func (l *lexicon) block(i uint64) []byte { return l.bytes[l.offsets[i]:l.offsets[i+1]] }

// blocksOfTerms is the number of blocks for n terms.
func blocksOfTerms(n uint64) uint64 { return (n + termBlock - 1) / termBlock }

// Lookup returns the handle of a term. It allocates nothing, unless it makes the Dictionary.
func (l *lexicon) Lookup(term string) (plan.Handle, bool) {
	if d := l.fast.Load(); d != nil {
		return d.Lookup(term)
	}
	if l.terms == 0 {
		return 0, false
	}
	if l.lookups.Add(1) == l.terms/8+1 {
		l.index()
	}
	return l.find(l.before(term), term)
}

// index makes the Dictionary.
func (l *lexicon) index() {
	d := &Dictionary{slots: make([]uint64, slotCount(uint64(l.terms))), offsets: make([]uint64, 1, l.terms+1)}
	for h, term := range l.from(0) {
		d.bytes = append(d.bytes, term...)
		d.offsets = append(d.offsets, uint64(len(d.bytes)))
		insert(d.slots, xxhash.Sum64(term), h)
	}
	l.fast.Store(d)
}

// before returns the last block whose first term is not behind term; 0 without one.
func (l *lexicon) before(term string) uint64 {
	lo, hi := uint64(0), blocksOfTerms(uint64(l.terms))
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if _, first, _, _ := compress.ReadFront(l.block(mid)); string(first) <= term {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// find returns the handle of a term of block i. It keeps the length of the prefix that term and
// the term of the block have in common, so it copies nothing.
func (l *lexicon) find(i uint64, term string) (plan.Handle, bool) {
	b, common := l.block(i), 0
	for h, end := i*termBlock, min((i+1)*termBlock, uint64(l.terms)); h < end && len(b) > 0; h++ {
		shared, rest, after, ok := int(b[0]>>4), []byte(nil), []byte(nil), true
		if n := int(b[0] & 15); shared < 15 && n < 15 && n < len(b) { // nearly all, without a call
			rest, after = b[1:1+n], b[1+n:]
		} else {
			shared, rest, after, ok = compress.ReadFront(b)
		}
		if !ok || shared < common {
			return 0, false // the term is behind the wanted term
		}
		b = after
		if shared > common {
			continue // a term before it, as the last one
		}
		n := 0
		for n < min(len(rest), len(term)-common) && rest[n] == term[common+n] {
			n++
		}
		if common += n; n == len(rest) && common == len(term) {
			return plan.Handle(h), true
		}
	}
	return 0, false
}

// Term returns the term of handle h, which must be below the number of terms.
func (l *lexicon) Term(h plan.Handle) string {
	for _, term := range l.from(h) {
		return string(term)
	}
	return "" // not reached: from panics or yields
}

// from yields the terms from handle h on, in ascending order. A term is valid until the next.
func (l *lexicon) from(first plan.Handle) iter.Seq2[plan.Handle, []byte] {
	return func(yield func(plan.Handle, []byte) bool) {
		var r compress.FrontReader
		terms := uint64(l.terms)
		for i := uint64(first) / termBlock; i < blocksOfTerms(terms); i++ {
			r.Text, r.Rest = r.Text[:0], l.block(i)
			for h, end := i*termBlock, min((i+1)*termBlock, terms); h < end; h++ {
				at := l.offsets[i+1] - uint64(len(r.Rest))
				var ok bool
				if r, ok = r.Next(); !ok || h+1 == end && len(r.Rest) > 0 {
					panic(&mapped.Fault{Err: l.corrupt(at, "term %d is not front-coded", h)})
				}
				if h >= uint64(first) && !yield(plan.Handle(h), r.Text) {
					return
				}
			}
		}
	}
}

// search returns a handle at or before the first term that is not below prefix, in its block.
func (l *lexicon) search(prefix string) plan.Handle { return plan.Handle(l.before(prefix) * termBlock) }

// place returns the offset of the block of term h.
func (l *lexicon) place(h plan.Handle) uint64 { return l.offsets[h/termBlock] }
