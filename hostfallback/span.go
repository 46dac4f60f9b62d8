package hostfallback

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// span reads one list in ascending order and sets the bits of what it reads. It
// belongs to one goroutine and is reused from list to list.
//
// A list with bits is read at any place; of all others the span holds the docIDs
// from at on that are decoded, or the runs. It is done when there are none.
type span struct {
	handle plan.Handle
	len    uint32 // of the list
	bits   []uint32
	runs   []uint32 // first and last docID of each run
	docs   []uint32 // all of them, or a block of them
	at     int      // in docs or runs

	blocks codec.Blocks
	block  int // the next to decode
	count  int // of blocks, 0 if docs are all
	buf    []uint32
}

// open makes p read list h of s, in the form that is read fastest of those that
// Auto has made, else as it is encoded: to make more would take longer than one
// reading. It is then at the list's first docID.
func (p *span) open(s *store, h plan.Handle) error {
	l := s.src.List(h)
	p.handle, p.len, p.bits, p.runs, p.docs, p.at, p.block, p.count = h, l.Len, nil, nil, nil, 0, 0, 0
	if t := s.tables.autos.at(h, len(s.src.Lists)).Load(); t != nil {
		switch {
		case len(t.runs) > 0 && (t.bits == nil || 16*len(t.runs) < len(t.bits)):
			p.runs = t.runs
			return nil
		case t.bits != nil:
			p.bits = t.bits
			return nil
		case t.docs != nil:
			p.docs = t.docs
			return nil
		}
	}
	if l.Codec == codec.Bitset {
		b, err := l.Bits()
		p.bits = b.Words
		return named(h, err)
	}
	if err := p.blocks.Open(l); err != nil {
		return named(h, err)
	}
	p.count = p.blocks.Count()
	return p.decode()
}

// decode makes the next block that has docIDs the one to read, none at the end.
func (p *span) decode() error {
	p.docs, p.at = nil, 0
	for len(p.docs) == 0 && p.block < p.count {
		var err error
		if p.buf, err = p.blocks.Decode(p.buf[:0], p.block); err != nil {
			return named(p.handle, err)
		}
		p.docs = p.buf
		p.block++
	}
	return nil
}

// next is the least docID that is not read yet, and false when there is none.
// With runs it may have been read, and all between it and the last place too.
func (p *span) next() (uint32, bool) {
	switch {
	case p.at < len(p.docs):
		return p.docs[p.at], true
	case p.at < len(p.runs):
		return p.runs[p.at], true
	}
	return 0, false
}

// seek passes over what lies below x.
func (p *span) seek(x uint32) error {
	if p.runs != nil {
		for p.at < len(p.runs) && p.runs[p.at+1] < x {
			p.at += 2
		}
		return nil
	}
	if p.block < p.count && p.at < len(p.docs) && p.docs[len(p.docs)-1] < x {
		if k := p.blocks.Find(x); k >= p.block {
			p.block = k
			if err := p.decode(); err != nil {
				return err
			}
		}
	}
	for p.at < len(p.docs) {
		p.at += gallop(p.docs[p.at:], x)
		if p.at < len(p.docs) {
			break
		}
		if err := p.decode(); err != nil {
			return err
		}
	}
	return nil
}

// take passes over the docIDs that are decoded, up to last, and returns them. More
// says that the next block goes on in the same range.
func (p *span) take(last uint32) (docs []uint32, more bool) {
	docs = p.docs[min(p.at, len(p.docs)):]
	if len(docs) > 0 && docs[len(docs)-1] > last {
		n := gallop(docs, last)
		if docs[n] == last {
			n++
		}
		p.at += n
		return docs[:n], false
	}
	p.at += len(docs)
	return docs, p.block < p.count && len(docs) > 0
}

// takeRuns passes over the runs of the chunk at base and sets their bits.
func (p *span) takeRuns(acc *[chunkDocs / 64]uint64, base uint32) {
	last := base + chunkDocs - 1
	for ; p.at < len(p.runs) && p.runs[p.at] <= last; p.at += 2 {
		to := p.runs[p.at+1]
		setRun(acc, max(p.runs[p.at], base), min(to, last))
		if to > last {
			return
		}
	}
}
