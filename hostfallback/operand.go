package hostfallback

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// operand is the OR of one or several lists of a formula, read from range to
// range. It belongs to one goroutine and is reused.
type operand struct {
	several bool
	one     span
	union   union
}

// open makes o read the lists in the documents from from to to.
func (o *operand) open(s *store, lists []plan.Handle, from, to uint64) error {
	if o.several = len(lists) > 1; o.several {
		return o.union.open(s, lists, int(from/rangeDocs), int((to+rangeDocs-1)/rangeDocs))
	}
	return o.one.open(s, lists[0])
}

// seek passes the documents below base and returns a lower bound of those that
// are left, or never.
func (o *operand) seek(base uint64) (uint64, error) {
	if o.several {
		return o.union.ahead(base), nil
	}
	p := &o.one
	if p.bits != nil {
		if base/32 >= uint64(len(p.bits)) {
			return never, nil
		}
		return base, nil
	}
	if err := p.seek(uint32(base)); err != nil {
		return 0, err
	}
	if x, ok := p.next(); ok {
		return max(uint64(x), base), nil
	}
	return never, nil
}

// ahead passes the chunks before that of base and returns a lower bound of the
// documents that are left, or never.
func (u *union) ahead(base uint64) uint64 {
	u.seek(int(base / lookup.ChunkDocs))
	for at := u.at; at < u.end; at++ {
		if at < u.reach || u.waiting[at-u.first] >= 0 {
			return max(uint64(at)*lookup.ChunkDocs, base)
		}
	}
	return never
}

// bits are those of the documents from base on, if o is one list that has bits.
func (o *operand) bits(base uint32) ([]uint32, bool) {
	if o.several || o.one.bits == nil {
		return nil, false
	}
	words := o.one.bits
	from := min(int(base/32), len(words))
	return words[from : from+min(len(words)-from, 2*rangeWords)&^1], true
}

// load sets the bits of the documents from base on and clears all others, or does
// that only if fresh, and says whether o may have any.
func (o *operand) load(to *rangeSet, base uint32, fresh bool) (any bool, err error) {
	if words, ok := o.bits(base); ok {
		if fresh {
			lookup.CopyBits(to[:len(words)/2], words)
			clear(to[len(words)/2:])
		} else {
			lookup.OrBits(to[:], words)
		}
		return len(words) > 0, nil
	}
	if o.several {
		c, err := o.union.join()
		switch {
		case err != nil:
			return false, err
		case c.bits == nil:
			if fresh {
				*to = rangeSet{}
			}
			lookup.SetBits((*[rangeWords]uint64)(to), c.docs)
			return len(c.docs) > 0, nil
		case fresh:
			clear(to[copy(to[:], c.bits):])
		default:
			for i, x := range c.bits {
				to[i] |= x
			}
		}
		return true, nil
	}
	if fresh {
		*to = rangeSet{}
	}
	return o.one.addTo(to, base)
}

// addTo sets the bits of the documents of the range at base and says whether there
// may be any.
func (p *span) addTo(to *rangeSet, base uint32) (any bool, err error) {
	if err := p.seek(base); err != nil {
		return false, err
	}
	if p.words != nil {
		p.at = p.words.Or((*[rangeWords]uint64)(to), p.at, (base+rangeDocs-1)/64)
		return true, nil
	}
	for {
		docs, more := p.take(base + rangeDocs - 1)
		lookup.SetBits((*[rangeWords]uint64)(to), docs)
		any = any || len(docs) > 0
		if !more {
			return any, nil
		}
		if err := p.decode(); err != nil {
			return any, err
		}
	}
}
