package hostfallback

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// rankList reads one list of a ranked query in ascending order, with the share of
// each posting. It belongs to one goroutine and is reused from list to list.
type rankList struct {
	weight uint64
	// What is decoded and not yet read: docs[at:] and shares[at:].
	docs, shares []uint32
	at           int

	handle  plan.Handle
	blocks  codec.Blocks
	next    int // the block to decode next
	freqs   codec.Packed
	segment int // that in buf, -1 for none
	buf     [codec.SegmentLen]uint32
	src     *plan.Source
	norm    plan.Norm
}

// open makes l read the list of term t from document from on.
func (l *rankList) open(src *plan.Source, norm plan.Norm, t plan.Term, from uint64) error {
	l.weight, l.handle, l.src, l.norm = uint64(t.Weight), t.List, src, norm
	l.docs, l.shares, l.at, l.next, l.segment = l.docs[:0], l.shares[:0], 0, 0, -1
	var err error
	if err = l.blocks.Open(src.List(t.List)); err == nil {
		l.freqs, err = src.Freq(t.List)
	}
	if err != nil {
		return named(t.List, err)
	}
	return l.seek(uint32(from))
}

// seek passes over the postings of documents before x. At the end of the list none
// is left.
func (l *rankList) seek(x uint32) error {
	if n := len(l.docs); n == 0 || l.docs[n-1] < x {
		l.next = max(l.next, l.blocks.Find(x))
		if err := l.decode(); err != nil {
			return err
		}
	}
	for l.at < len(l.docs) && l.docs[l.at] < x {
		if l.at += gallop(l.docs[l.at:], x); l.at == len(l.docs) {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode makes the next block that has docIDs the one to read.
func (l *rankList) decode() error {
	l.docs, l.at = l.docs[:0], 0
	for ; len(l.docs) == 0 && l.next < l.blocks.Count(); l.next++ {
		if err := l.decodeBlock(l.next); err != nil {
			return named(l.handle, err)
		}
	}
	return nil
}

// decodeBlock makes docs and shares those of block k.
func (l *rankList) decodeBlock(k int) (err error) {
	if l.docs, err = l.blocks.Decode(l.docs[:0], k); err != nil || len(l.docs) == 0 {
		return err
	}
	if err := inUniverse(l.docs, l.src, l.handle); err != nil {
		return err
	}
	l.shares = slices.Grow(l.shares[:0], len(l.docs))[:len(l.docs)]
	for i, at := 0, l.blocks.Start(k); i < len(l.docs); {
		if err := l.load((at + i) / codec.SegmentLen); err != nil {
			return err
		}
		freqs := l.buf[(at+i)%codec.SegmentLen:]
		n := min(len(freqs), len(l.docs)-i)
		shares(l.shares[i:i+n], l.docs[i:i+n], freqs, l.norm, l.src.Lengths)
		i += n
	}
	return nil
}

// load makes buf hold a segment of frequencies.
func (l *rankList) load(segment int) error {
	if segment == l.segment {
		return nil
	}
	l.segment = -1
	if _, err := l.freqs.Decode(segment, &l.buf); err != nil {
		return err
	}
	l.segment = segment
	return nil
}

// inUniverse gives an error if the last of docs, which ascend, is none of src.
func inUniverse(docs []uint32, src *plan.Source, h plan.Handle) error {
	if x := docs[len(docs)-1]; x >= src.Docs {
		return &codec.CorruptError{Codec: src.Lists[h].Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", x, src.Docs)}
	}
	return nil
}
