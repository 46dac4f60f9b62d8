package hostfallback

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// operand reads one list of a formula from range to range. It belongs to one
// goroutine and is reused from formula to formula.
type operand struct {
	handle plan.Handle
	bits   []uint32 // of the whole list, if there are some
	docs   []uint32 // else what is plain or decoded and was not passed yet

	packed bool         // more docs come from blocks, from block at on
	blocks codec.Blocks //
	at     int
	buf    []uint32
}

// open makes o read list h of s from its start. It takes bits and plain copies
// that Auto has made already; making them would take longer than one reading.
func (o *operand) open(s *store, h plan.Handle) error {
	l := s.src.List(h)
	*o = operand{handle: h, buf: o.buf[:0]}
	if t := s.tables.autos.at(h, len(s.src.Lists)).Load(); t != nil && (t.bits != nil || t.docs != nil) {
		o.bits, o.docs = t.bits, t.docs
		return nil
	}
	switch l.Codec {
	case codec.Raw:
		docs, err := rawDocs(l)
		o.docs = docs
		return named(h, err)
	case codec.Bitset:
		b, err := l.Bits()
		o.bits = b.Words
		return named(h, err)
	}
	o.packed = true
	return named(h, o.blocks.Open(l))
}

// seek passes the documents below base and returns the first that may be left,
// or never.
func (o *operand) seek(base uint64) (uint64, error) {
	if o.bits != nil {
		if base/32 >= uint64(len(o.bits)) {
			return never, nil
		}
		return base, nil
	}
	for {
		o.docs = o.docs[passed(o.docs, base):]
		if len(o.docs) > 0 {
			return max(uint64(o.docs[0]), base), nil
		}
		if !o.packed {
			return never, nil
		}
		o.at = max(o.at, o.blocks.Find(uint32(base)))
		if more, err := o.refill(); err != nil {
			return 0, named(o.handle, err)
		} else if !more {
			return never, nil
		}
	}
}

// passed is the number of docs at the front that are below x, if docs ascend.
func passed(docs []uint32, x uint64) int {
	end := 1
	for end <= len(docs) && uint64(docs[end-1]) < x {
		end *= 2
	}
	lo, hi := end/2, min(end, len(docs)) // docs[lo-1] is below x
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); uint64(docs[mid]) < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// refill decodes the next block into docs, if there is one.
func (o *operand) refill() (more bool, err error) {
	if !o.packed || o.at >= o.blocks.Count() {
		return false, nil
	}
	o.buf, err = o.blocks.Decode(o.buf[:0], o.at)
	o.docs = o.buf
	o.at++
	return true, err
}

// add sets the bits of the documents from base on and says whether there can be
// any. Docs that are out of order, which no encoder writes, end it early.
func (o *operand) add(set *rangeSet, base uint32) (any bool, err error) {
	if o.bits != nil {
		return addBits(set, o.words(base)), nil
	}
	for more := true; more && err == nil; more, err = o.refill() {
		i := 0
		for i < len(o.docs) {
			x := o.docs[i] - base
			if x >= rangeDocs {
				break
			}
			set[x/64] |= 1 << (x % 64)
			i++
		}
		any = any || i > 0
		if o.docs = o.docs[i:]; len(o.docs) > 0 {
			return any, nil
		}
	}
	return any, err
}

// remove clears the bits of the documents from base on.
func (o *operand) remove(set *rangeSet, base uint32) (err error) {
	if o.bits != nil {
		removeBits(set, o.words(base))
		return nil
	}
	for more := true; more && err == nil; more, err = o.refill() {
		i := 0
		for i < len(o.docs) {
			x := o.docs[i] - base
			if x >= rangeDocs {
				break
			}
			set[x/64] &^= 1 << (x % 64)
			i++
		}
		if o.docs = o.docs[i:]; len(o.docs) > 0 {
			return nil
		}
	}
	return err
}

// keep clears the bits of set that the bits of o have not, and says whether any
// are left.
func (o *operand) keep(set *rangeSet, base uint32) bool {
	words := o.words(base)
	any := uint64(0)
	for i := range len(words) / 2 {
		x := set[i] & (uint64(words[2*i]) | uint64(words[2*i+1])<<32)
		set[i] = x
		any |= x
	}
	clear(set[len(words)/2:])
	return any != 0
}

// words are the bits of the documents from base on, of whole pairs of words.
func (o *operand) words(base uint32) []uint32 {
	from := min(int(base/32), len(o.bits))
	return o.bits[from : from+min(len(o.bits)-from, 2*rangeWords)&^1]
}

func addBits(set *rangeSet, words []uint32) (any bool) {
	for i := range len(words) / 2 {
		set[i] |= uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return len(words) > 0
}

func removeBits(set *rangeSet, words []uint32) {
	for i := range len(words) / 2 {
		set[i] &^= uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
}
