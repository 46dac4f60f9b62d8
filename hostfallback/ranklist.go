package hostfallback

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// rankList reads one list of a ranked query in ascending order, with the share of
// each posting. It belongs to one goroutine and is reused from list to list.
type rankList struct {
	src    *plan.Source
	sharer *sharer
	handle plan.Handle
	weight uint32
	table  *rankTable // nil for none

	// Postings from at on are not read yet. They are all of the list where the
	// table has them, else those of a block.
	docs, shares []uint32
	at           int
	plain        bool // they are those of the table

	// In the range of documents that is read:
	bound uint32 // the most that the list contributes to a score
	end   int    // index of the posting behind it, if plain

	// Of a list that is decoded:
	blocks     codec.Blocks
	next       int // the block to decode next
	freqs      codec.Packed
	segment    int // that in buf, -1 for none
	buf        [codec.SegmentLen]uint32
	own, ownOf []uint32 // memory of docs and shares
}

// open makes l read the list of t from document from on, with its table if it is
// not nil.
func (l *rankList) open(src *plan.Source, sharer *sharer, t plan.Term, table *rankTable, from uint64) error {
	l.src, l.sharer, l.handle, l.weight, l.table = src, sharer, t.List, t.Weight, table
	if l.plain = table != nil && table.shares != nil; l.plain {
		l.docs, l.shares, l.at = table.docs, table.shares, 0
		l.at = lookup.LowerBound(l.docs, uint32(from))
		return nil
	}
	l.docs, l.at, l.next, l.segment = nil, 0, 0, -1
	err := l.blocks.Open(src.List(t.List))
	if err == nil {
		l.freqs, err = src.Freq(t.List)
	}
	if err != nil {
		return lookup.Named(t.List, err)
	}
	return l.seek(uint32(from))
}

// seek passes over the postings of documents before x.
func (l *rankList) seek(x uint32) error {
	if n := len(l.docs); !l.plain && (n == 0 || l.docs[n-1] < x) {
		l.next = max(l.next, l.blocks.Find(x))
		if err := l.decode(); err != nil {
			return err
		}
	}
	for l.at < len(l.docs) && l.docs[l.at] < x {
		if l.at += lookup.Gallop(l.docs[l.at:], x); l.at == len(l.docs) {
			if err := l.decode(); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode makes the next block that has docIDs the one to read; at the end of the
// list there is none.
func (l *rankList) decode() error {
	if l.plain {
		return nil
	}
	l.docs, l.at = nil, 0
	for ; len(l.docs) == 0 && l.next < l.blocks.Count(); l.next++ {
		if err := l.decodeBlock(l.next); err != nil {
			return lookup.Named(l.handle, err)
		}
	}
	return nil
}

// decodeBlock makes docs and shares those of block k.
func (l *rankList) decodeBlock(k int) error {
	docs, err := l.blocks.Decode(l.own[:0], k)
	if err != nil || len(docs) == 0 {
		return err
	}
	if x := docs[len(docs)-1]; x >= l.src.Docs {
		return &codec.CorruptError{Codec: l.src.Lists[l.handle].Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", x, l.src.Docs)}
	}
	to := slices.Grow(l.ownOf[:0], len(docs))[:len(docs)]
	l.own, l.ownOf = docs, to
	for i, at := 0, l.blocks.Start(k); i < len(docs); {
		if err := l.load((at + i) / codec.SegmentLen); err != nil {
			return err
		}
		freqs := l.buf[(at+i)%codec.SegmentLen:]
		n := min(len(freqs), len(docs)-i)
		l.sharer.shares(to[i:i+n], docs[i:i+n], freqs)
		i += n
	}
	l.docs, l.shares = docs, to
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

// ahead is a lower bound of the documents from base on that the list has, or
// never.
func (l *rankList) ahead(base uint64) uint64 {
	if l.at >= len(l.docs) {
		return never
	}
	return max(uint64(l.docs[l.at]), base)
}

// enter goes on to the range of documents from base to last and tells whether the
// list may have some of them. A list that is decoded stays where it is until it is
// read. base is a multiple of minRankDocs, and so is last+1 unless no document
// follows.
func (l *rankList) enter(base, last uint32) bool {
	if l.at >= len(l.docs) || l.docs[l.at] > last {
		return false
	}
	if l.plain {
		if first, shift := l.table.bucket.First, l.table.bucket.Shift; shift <= minRankShift {
			l.at = int(first[min(int(base>>shift), len(first)-1)])
			l.end = int(first[min(int(last>>shift)+1, len(first)-1)])
		} else {
			l.at += lookup.Gallop(l.docs[l.at:], base)
			l.end = l.at + lookup.Gallop(l.docs[l.at:], last)
			if l.end < len(l.docs) && l.docs[l.end] == last {
				l.end++
			}
		}
		if l.at == l.end {
			return false
		}
	}
	l.bound = l.weight
	if l.table != nil && l.table.maxima != nil {
		l.bound = plan.Contribution(l.weight, l.table.most(base, last))
	}
	return l.bound > 0
}

// most is the most that the list contributes to a score.
func (l *rankList) most() uint32 {
	if l.table == nil || l.at >= len(l.docs) {
		return l.weight
	}
	return contribution(uint64(l.weight), l.table.greatest)
}

// leave passes over the range of enter.
func (l *rankList) leave() {
	if l.plain {
		l.at = l.end
	}
}

// take passes over postings up to document last, and returns them. More says that
// there may be others.
func (l *rankList) take(last uint32) (docs, shares []uint32, more bool) {
	end := l.end
	if !l.plain {
		end = len(l.docs)
		if more = end > 0 && l.docs[end-1] <= last; !more && l.at < end {
			end = l.at + lookup.Gallop(l.docs[l.at:], last)
			end += lookup.Equal(l.docs[end], last)
		}
	}
	docs, shares = l.docs[l.at:end], l.shares[l.at:end]
	l.at = end
	return docs, shares, more
}
