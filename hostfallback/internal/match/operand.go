package match

import (
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// operand is the OR of one or several lists of an expression, read chunk by chunk. It
// belongs to one goroutine and is reused.
type operand struct {
	several bool // union has the lists; else one has the only list
	one     span
	union   union
}

// open positions o at document from in lists, which it reads up to document to-1.
func (o *operand) open(aux *lookup.Auxiliary, lists []plan.Handle, from, to uint64) error {
	if o.several = len(lists) > 1; o.several {
		return o.union.open(aux, lists, int(from/chunkDocs), int((to+chunkDocs-1)/chunkDocs))
	}
	return o.one.open(aux, lists[0])
}

// seek skips the documents below base and returns a lower bound of the next one, or
// never.
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

// bits returns the bits of the documents from base on if o is one list with bits.
func (o *operand) bits(base uint32) ([]uint32, bool) {
	if o.several || o.one.bits == nil {
		return nil, false
	}
	words := o.one.bits
	from := min(int(base/32), len(words))
	return words[from : from+min(len(words)-from, 2*chunkWords)&^1], true
}

// load adds the documents of o in the chunk at base to the set to. If fresh is true, the set is
// undefined before and gets no other documents. It reports whether o may have documents in the chunk.
func (o *operand) load(to *docset.Chunk, base uint32, fresh bool) (any bool, err error) {
	if words, ok := o.bits(base); ok {
		if fresh {
			docset.CopyBits(to[:len(words)/2], words)
			clear(to[len(words)/2:])
		} else {
			docset.OrBits(to[:], words)
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
				*to = docset.Chunk{}
			}
			docset.SetBits(to, c.docs)
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
		*to = docset.Chunk{}
	}
	return o.one.addTo(to, base)
}

// setBits adds the words or runs of the chunk at base to acc and moves behind them.
func (p *span) setBits(acc *docset.Chunk, base uint32) {
	if p.words != nil {
		p.at = p.words.Or(acc, p.at, (base+chunkDocs-1)/64)
	} else {
		p.at = p.runs.Or(acc[:], p.at, base, base+(chunkDocs-1))
	}
}

// addTo adds the documents of the chunk at base to to and reports whether there may be
// any.
func (p *span) addTo(to *docset.Chunk, base uint32) (any bool, err error) {
	if err := p.seek(base); err != nil {
		return false, err
	}
	if p.words != nil || p.runs != nil {
		p.setBits(to, base)
		return true, nil
	}
	for {
		docs, more := p.take(base + chunkDocs - 1)
		docset.SetBits(to, docs)
		any = any || len(docs) > 0
		if !more {
			return any, nil
		}
		if err := p.decode(); err != nil {
			return any, err
		}
	}
}
