package rank

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// reader reads one list of a query in ascending order, with the component of each
// posting. It belongs to one goroutine and is reused from list to list.
type reader struct {
	src        *plan.Source
	components *components
	handle     plan.Handle
	weight     uint32
	table      *table // nil without one

	// The postings from at on are not read yet. With plain postings they are the whole
	// list, else one block.
	docs, tfs []uint32
	at        int
	plain     bool // docs and tfs belong to the table

	// In the current range of documents:
	bound uint32 // the greatest contribution of the list to a score
	end   int    // with plain postings, the index behind the range

	// For a list without plain postings:
	blocks     codec.Blocks
	next       int // the block to decode next
	freqs      codec.Packed
	segment    int // the segment in buf, -1 for none
	buf        [codec.SegmentLen]uint32
	own, ownOf []uint32 // memory of docs and tfs
}

// open positions l at document from in the list of t. The table may be nil.
func (l *reader) open(src *plan.Source, components *components, t plan.Term, known *table, from uint64) error {
	l.src, l.components, l.handle, l.weight, l.table = src, components, t.List, t.Weight, known
	if l.plain = known != nil && known.tfs != nil; l.plain {
		l.docs, l.tfs, l.at = known.docs, known.tfs, 0
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

// seek skips the postings of documents before x.
func (l *reader) seek(x uint32) error {
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

// decode reads the next block that is not empty. At the end of the list docs is empty.
func (l *reader) decode() error {
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

// decodeBlock decodes block k into docs and tfs.
func (l *reader) decodeBlock(k int) error {
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
		l.components.of(to[i:i+n], docs[i:i+n], freqs)
		i += n
	}
	l.docs, l.tfs = docs, to
	return nil
}

// load decodes a segment of frequencies into buf.
func (l *reader) load(segment int) error {
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

// ahead returns a lower bound of the next document of the list from base on, or never.
func (l *reader) ahead(base uint64) uint64 {
	if l.at >= len(l.docs) {
		return never
	}
	return max(uint64(l.docs[l.at]), base)
}

// enter moves to the range of documents from base to last and reports whether the list
// may contain some of them. Only plain postings move at once, decoded ones when they are
// read. base is a multiple of minRange, and so is last+1 unless no document follows.
func (l *reader) enter(base, last uint32) bool {
	if l.at >= len(l.docs) || l.docs[l.at] > last {
		return false
	}
	if l.plain {
		if first, shift := l.table.bucket.First, l.table.bucket.Shift; shift <= minRangeShift {
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

// most returns the greatest contribution of the list to a score.
func (l *reader) most() uint32 {
	if l.table == nil || l.at >= len(l.docs) {
		return l.weight
	}
	return contribution(uint64(l.weight), l.table.greatest)
}

// leave skips the range of enter.
func (l *reader) leave() {
	if l.plain {
		l.at = l.end
	}
}

// take returns the next postings up to document last and moves behind them. If more is
// true, the next block may have further ones.
func (l *reader) take(last uint32) (docs, tfs []uint32, more bool) {
	end := l.end
	if !l.plain {
		end = len(l.docs)
		if more = end > 0 && l.docs[end-1] <= last; !more && l.at < end {
			end = l.at + lookup.Gallop(l.docs[l.at:], last)
			end += lookup.Equal(l.docs[end], last)
		}
	}
	docs, tfs = l.docs[l.at:end], l.tfs[l.at:end]
	l.at = end
	return docs, tfs, more
}
