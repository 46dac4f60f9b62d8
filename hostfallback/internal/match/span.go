package match

import (
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// span reads one list in ascending order. It belongs to one goroutine and is reused from
// list to list. It is small, because a union may have thousands of spans.
//
// A list with bits is read at any position. Of any other list the span holds docIDs, words or
// runs from at on; the list ends where they do.
type span struct {
	bits    []uint32
	runs    docset.Runs
	docs    []uint32
	words   *docset.Words
	at      int    // index in docs, words or runs
	first   uint32 // docs[0], so that docs are not read before the chunk of their first docID
	handle  plan.Handle
	listLen uint32  // number of docIDs of the list
	packed  *packed // the encoded list if docs are one of its blocks, else nil
	spare   *packed // memory for packed
}

// packed reads a compressed list block by block.
type packed struct {
	blocks codec.Blocks
	next   int // the block to decode next
	buf    []uint32
}

// open positions p at the first docID of list h. It reads the fastest form that plan.Auto
// has built for the list, or the encoded list: building a form takes longer than reading
// the list once.
func (p *span) open(aux *lookup.Auxiliary, h plan.Handle) error {
	*p = span{handle: h, listLen: aux.Source.Lists[h].Len, spare: p.spare}
	if runs, few := aux.RunsOf(h); few && p.listLen > fewDocs { // a union sorts a few docIDs
		p.runs = runs
		return nil
	}
	if t := aux.Prepared(h); t != nil {
		p.first = t.First
		switch {
		case len(t.Words.Index) > 0 && (t.Bits == nil || 4*len(t.Words.Index) < len(t.Bits)):
			p.words = &t.Words
			return nil
		case t.Bits != nil:
			p.bits = t.Bits
			return nil
		case t.Docs != nil:
			p.docs = t.Docs
			return nil
		}
	}
	l := aux.Source.List(h)
	if l.Codec == codec.Bitset {
		b, err := l.Bits()
		p.bits = b.Words
		return lookup.Named(h, err)
	}
	if p.spare == nil {
		p.spare = new(packed)
	}
	p.packed = p.spare
	p.packed.next = 0
	if err := p.packed.blocks.Open(l); err != nil {
		return lookup.Named(h, err)
	}
	return p.decode()
}

// decode reads the next block that is not empty. At the end of the list docs is empty.
func (p *span) decode() error {
	p.docs, p.at = nil, 0
	for b := p.packed; b != nil && len(p.docs) == 0 && b.next < b.blocks.Count(); b.next++ {
		var err error
		if b.buf, err = b.blocks.Decode(b.buf[:0], b.next); err != nil {
			return lookup.Named(p.handle, err)
		}
		p.docs = b.buf
		if len(p.docs) > 0 {
			p.first = p.docs[0]
		}
	}
	return nil
}

// next returns a lower bound of the next docID, and false at the end of the list.
func (p *span) next() (uint32, bool) {
	switch {
	case p.words != nil && p.at < len(p.words.Index):
		return p.words.Index[p.at] * 64, true
	case p.at < len(p.runs):
		return p.runs[p.at].First, true
	case p.at >= len(p.docs):
		return 0, false
	case p.at == 0:
		return p.first, true
	}
	return p.docs[p.at], true
}

// seek skips the docIDs below x, a multiple of 64.
func (p *span) seek(x uint32) error {
	switch {
	case p.words != nil:
		p.at += docset.Gallop(p.words.Index[p.at:], x/64)
		return nil
	case p.runs != nil:
		p.at += p.runs[p.at:].Find(x)
		return nil
	}
	if b := p.packed; b != nil && p.at < len(p.docs) && p.docs[len(p.docs)-1] < x {
		b.next = max(b.next, b.blocks.Find(x))
		if err := p.decode(); err != nil {
			return err
		}
	}
	for p.at < len(p.docs) && p.docs[p.at] < x {
		if p.at += docset.Gallop(p.docs[p.at:], x); p.at == len(p.docs) {
			if err := p.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// take returns the decoded docIDs up to last and moves behind them. If more is true, the
// next block may have further docIDs up to last.
func (p *span) take(last uint32) (docs []uint32, more bool) {
	docs = p.docs[min(p.at, len(p.docs)):]
	if len(docs) > 0 && docs[len(docs)-1] > last {
		n := docset.Gallop(docs, last)
		if docs[n] == last {
			n++
		}
		p.at += n
		return docs[:n], false
	}
	p.at += len(docs)
	return docs, p.packed != nil && len(docs) > 0
}
