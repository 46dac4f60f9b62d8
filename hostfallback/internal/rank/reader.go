package rank

import (
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// reader reads one list of a query in ascending order, with the component of each
// posting. It belongs to one goroutine and is reused from list to list.
type reader struct {
	src        *plan.Source
	components *components
	handle     plan.Handle
	length     int    // number of postings of the list
	weight     uint32 // weight of the term, as in plan.Term
	table      *table // kept data of the list, nil without any

	// The docIDs from at on are not read yet. docs are the whole list or one block of it.
	docs  []uint32
	at    int
	whole bool       // docs are the whole list
	start int        // the index in the list of docs[0]
	tfs   []uint32   // the components of the whole list if the table has them, else nil
	bits  codec.Bits // the documents of the list as bits; without words if they are not in memory

	// The current range of documents:
	rangeLast     uint64 // its last document
	upperBound    uint32 // no contribution of the list to a score in the range is greater
	rangeEnd      int    // the index in docs behind the range, if docs are the whole list
	rangePostings int    // the number of postings in the range, estimated unless docs are the whole list

	blocks     codec.Blocks // the encoded docIDs, unless docs are the whole list
	next       int          // the block to decode next
	freqs      codec.Packed // the encoded frequencies, each less one
	segment    int          // the segment of freqs in freqBuf, -1 for none
	touched    int          // the segment of the last frequency that was read alone, -1 for none
	freqBuf    [codec.SegmentLen]uint32
	freqBounds [smallFreqs + 1]uint32 // for a ranked AND, by frequency less one: greatest contribution; the last entry for all higher frequencies
	docBuf     []uint32               // memory of decoded docs
	tfBuf      []uint32               // memory of computed components
}

// open positions l at document from in the list of t. known is the table of the list, nil without one.
func (l *reader) open(aux *lookup.Auxiliary, components *components, t plan.Term, known *table, from uint64) error {
	l.src, l.components, l.handle, l.weight, l.table = aux.Source, components, t.List, t.Weight, known
	l.length = int(l.src.Lists[t.List].Len)
	l.rangeLast = never
	l.docs, l.tfs, l.bits, l.at, l.start, l.next, l.segment, l.touched = nil, nil, codec.Bits{}, 0, 0, 0, -1, -1
	if known != nil && known.tfs != nil {
		l.docs, l.tfs = known.docs, known.tfs
	} else {
		if p := aux.Prepared(t.List); p != nil {
			l.docs, l.bits = p.Docs, codec.Bits{Len: uint32(l.length), Words: p.Bits, Ranks: p.Ranks}
		}
		var err error
		if l.freqs, err = l.src.Freq(t.List); err == nil && l.docs == nil {
			err = l.blocks.Open(l.src.List(t.List))
		}
		if err != nil {
			return lookup.Named(t.List, err)
		}
	}
	if l.whole = l.docs != nil; l.whole {
		l.at = docset.LowerBound(l.docs, uint32(from))
		return nil
	}
	return l.seek(uint32(from))
}

// seek skips the postings of documents before x.
func (l *reader) seek(x uint32) error {
	if n := len(l.docs); !l.whole && (n == 0 || l.docs[n-1] < x) {
		l.next = max(l.next, l.blocks.Find(x))
		l.at = n
		if err := l.decode(); err != nil {
			return err
		}
	}
	for l.at < len(l.docs) && l.docs[l.at] < x {
		if l.whole {
			l.at += docset.Gallop(l.docs[l.at:], x)
		} else { // without a branch that would be mispredicted
			l.at += docset.LowerBound(l.docs[l.at:], x)
		}
		if err := l.decode(); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes the next block that is not empty once all docIDs are read. At the end
// of the list docs is empty.
func (l *reader) decode() error {
	if l.whole || l.at < len(l.docs) {
		return nil
	}
	l.docs, l.at = nil, 0
	for ; len(l.docs) == 0 && l.next < l.blocks.Count(); l.next++ {
		docs, err := l.blocks.Decode(l.docBuf[:0], l.next)
		if err == nil && len(docs) > 0 {
			l.docBuf, l.docs, l.start = docs, docs, l.blocks.Start(l.next)
			if x := docs[len(docs)-1]; x >= l.src.Docs {
				err = &codec.CorruptError{Codec: l.src.Lists[l.handle].Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", x, l.src.Docs)}
			}
		}
		if err != nil {
			return lookup.Named(l.handle, err)
		}
	}
	return nil
}

// componentsOf returns the components of docs[from:to]. They are valid until the next call.
func (l *reader) componentsOf(from, to int) ([]uint32, error) {
	if l.tfs != nil {
		return l.tfs[from:to], nil
	}
	l.tfBuf = slices.Grow(l.tfBuf[:0], to-from)[:to-from]
	for i := from; i < to; {
		at := l.start + i
		if err := l.load(at / codec.SegmentLen); err != nil {
			return nil, err
		}
		freqs := l.freqBuf[at%codec.SegmentLen:]
		n := min(len(freqs), to-i)
		l.components.fill(l.tfBuf[i-from:][:n], l.docs[i:i+n], freqs)
		i += n
	}
	return l.tfBuf, nil
}

// freq returns the frequency less one of the posting at an index of the list. The list has no stored
// components.
func (l *reader) freq(at int) (uint32, error) {
	if segment := at / codec.SegmentLen; segment != l.segment {
		// The first frequency of a segment is read alone, because further reads may not follow.
		if l.checked() && segment != l.touched {
			l.touched = segment
			f, err := l.freqs.At(uint32(at))
			return f, lookup.Named(l.handle, err)
		}
		if err := l.load(segment); err != nil {
			return 0, err
		}
	}
	return l.freqBuf[at%codec.SegmentLen], nil
}

// fewFreqs is the number of frequencies of a segment that take less time to read alone than the
// segment.
const fewFreqs = 4

// freqsAt sets dst to the frequencies less one of the postings at ascending indexes of the list. The list has no
// stored components.
func (l *reader) freqsAt(dst, at []uint32) error {
	checked := l.checked()
	for i, x := range at {
		segment := int(x / codec.SegmentLen)
		if segment != l.segment {
			if checked && (i+fewFreqs >= len(at) || int(at[i+fewFreqs]/codec.SegmentLen) != segment) {
				f, err := l.freqs.At(x)
				if err != nil {
					return lookup.Named(l.handle, err)
				}
				dst[i] = f
				continue
			}
			if err := l.load(segment); err != nil {
				return err
			}
		}
		dst[i] = l.freqBuf[x%codec.SegmentLen]
	}
	return nil
}

// setFreqBounds sets l.freqBounds, for a list without stored components.
func (l *reader) setFreqBounds() {
	if l.tfs == nil {
		for f := range l.freqBounds {
			l.freqBounds[f] = contribution(uint64(l.weight), l.components.upperBound(uint32(f)))
		}
	}
}

// checked reports whether building a table has checked the frequencies.
func (l *reader) checked() bool { return l.table != nil && l.table != usedOnce }

// load decodes a segment of frequencies into buf.
func (l *reader) load(segment int) error {
	if segment == l.segment {
		return nil
	}
	l.segment = -1
	if _, err := l.freqs.Decode(segment, &l.freqBuf); err != nil {
		return lookup.Named(l.handle, err)
	}
	l.segment = segment
	return nil
}

// find returns the component of document x, 0 if the list lacks it. Unless the list has stored
// components, x must not be below the documents read before.
func (l *reader) find(x uint32) (uint32, error) {
	if l.tfs != nil {
		return l.table.find(x), nil
	}
	at, found, err := l.index(x)
	if !found || err != nil {
		return 0, err
	}
	f, err := l.freq(at)
	if err != nil {
		return 0, err
	}
	return l.components.at(x, f), nil
}

// index returns the index of document x in the list, and whether the list contains it. x must not be below
// the documents read before.
func (l *reader) index(x uint32) (at int, found bool, err error) {
	if len(l.bits.Words) > 0 {
		switch {
		case !l.bits.Has(x):
			return 0, false, nil
		case l.bits.Ranks != nil:
			return int(l.bits.Rank(x)), true, nil
		}
	}
	err = l.seek(x)
	return l.start + l.at, err == nil && l.at < len(l.docs) && l.docs[l.at] == x, err
}

// The number of postings that are read in order in the time of looking up one posting.
const (
	findSlower   = 8  // in plain docIDs
	decodeSlower = 32 // in encoded blocks
)

// lookUpPays reports whether looking up n documents of the range takes less time than
// reading its postings.
func (l *reader) lookUpPays(n int) bool {
	if l.whole || l.bits.Ranks != nil {
		return n*findSlower < l.rangePostings
	}
	return n*decodeSlower < l.rangePostings
}

// ahead returns a lower bound of the next document of the list from base on, or never.
func (l *reader) ahead(base uint64) uint64 {
	if l.at >= len(l.docs) {
		return never
	}
	return max(uint64(l.docs[l.at]), base)
}

// enter moves to the range of documents from base to last and reports whether the list
// may contain some of them. A list in blocks moves only when its postings are read.
// base is a multiple of minRange, and so is last+1 unless no document follows.
func (l *reader) enter(base, last uint32) bool {
	if l.at >= len(l.docs) || l.docs[l.at] > last {
		return false
	}
	l.rangeLast = uint64(last)
	if l.whole {
		if l.tfs != nil && l.table.buckets.Shift <= minRangeShift {
			first, shift := l.table.buckets.First, l.table.buckets.Shift
			l.at = int(first[min(int(base>>shift), len(first)-1)])
			l.rangeEnd = int(first[min(int(last>>shift)+1, len(first)-1)])
		} else {
			l.at += docset.Gallop(l.docs[l.at:], base)
			l.rangeEnd = l.at + docset.Gallop(l.docs[l.at:], last)
			if l.rangeEnd < len(l.docs) && l.docs[l.rangeEnd] == last {
				l.rangeEnd++
			}
		}
		if l.rangePostings = l.rangeEnd - l.at; l.rangePostings == 0 {
			return false
		}
	} else {
		l.rangePostings = int(uint64(l.length)*uint64(last-base+1)/uint64(l.src.Docs)) + 1
	}
	l.upperBound = l.rangeBound(base, last)
	return l.upperBound > 0
}

// rangeBound returns an upper bound of the contributions of the documents from base to last.
func (l *reader) rangeBound(base, last uint32) uint32 {
	if l.table == nil || l.table.blockMaxima == nil {
		return l.weight
	}
	return plan.Contribution(l.weight, l.table.blockMax(base, last))
}

// listBound returns an upper bound of all contributions of the list.
func (l *reader) listBound() uint32 {
	if l.table == nil || l.at >= len(l.docs) {
		return l.weight
	}
	return contribution(uint64(l.weight), l.table.greatest)
}

// leave skips the rest of the range that enter has moved to.
func (l *reader) leave() {
	if l.whole {
		l.at = l.rangeEnd
	}
}

// takeLen is the greatest number of postings whose components are computed together.
const takeLen = 4 * codec.SegmentLen

// take returns the next postings up to document last and moves behind them. If more is
// true, further postings up to last may follow after a call of decode.
func (l *reader) take(last uint32) (docs, tfs []uint32, more bool, err error) {
	if l.tfs != nil && uint64(last) == l.rangeLast {
		docs, tfs = l.docs[l.at:l.rangeEnd], l.tfs[l.at:l.rangeEnd]
		l.at = l.rangeEnd
		return docs, tfs, false, nil
	}
	end := len(l.docs)
	if l.tfs == nil {
		end = min(end, l.at+takeLen)
	}
	if more = end > l.at && l.docs[end-1] <= last; !more {
		end = l.at + docset.Gallop(l.docs[l.at:end], last)
		if end < len(l.docs) {
			end += docset.Equal(l.docs[end], last)
		}
	}
	docs = l.docs[l.at:end]
	tfs, err = l.componentsOf(l.at, end)
	l.at = end
	return docs, tfs, more, err
}

// takeFreqs is take with frequencies less one instead of components, for a list without stored
// components.
func (l *reader) takeFreqs(last uint32) (docs, freqs []uint32, more bool, err error) {
	if l.at == len(l.docs) {
		return nil, nil, false, nil
	}
	at := l.start + l.at
	in := at % codec.SegmentLen
	end := min(len(l.docs), l.at+codec.SegmentLen-in)
	if more = l.docs[end-1] <= last; !more {
		end = l.at + docset.Gallop(l.docs[l.at:end], last)
		end += docset.Equal(l.docs[end], last)
	}
	docs = l.docs[l.at:end]
	if len(docs) > 0 {
		err = l.load(at / codec.SegmentLen)
	}
	l.at = end
	return docs, l.freqBuf[in:][:len(docs)], more, err
}
