package phrase

import (
	"math/bits"
	"sync"

	"heddle/codec"
	"heddle/codec/positions"
	"heddle/engine/plan"
)

// cursor finds ascending documents in a list, and reads the positions of the last one.
type cursor struct {
	src  *plan.Source
	list plan.Handle

	bits   codec.Bits // without words unless the list is a bitset
	blocks codec.Blocks
	docs   []uint32 // the documents of a block
	memory []uint32
	at     int // in docs
	start  int // number of the first posting of docs
	next   int // block to decode next

	postings [codec.SegmentLen]int // numbers of postings, one for each document of narrow, unless the list is a bitset
	ranked   bool                  // they are known, also of a bitset

	doc     uint32
	found   bool // the list has the document
	posting int  // number of the posting of the document, unless the list is a bitset
	located bool // the fields below are known
	first   uint64
	count   uint64 // occurrences of the document, from first on

	word, below uint32 // a word of 64 bits of a bitset, and the number of documents below it
	ranks       bool   // these are known

	occurrences  plan.Occurrences
	values       positions.Cursor
	freqs        codec.Packed
	asked        int    // the last segment of tally
	segment      int    // the segment of freqs in before; -1: none
	segmentFirst uint64 // occurrences before it
	before       [codec.SegmentLen + 1]uint32
	buf          []uint32
}

// cursors keeps the memory of cursors.
var cursors = sync.Pool{New: func() any { return new(cursor) }}

func open(src *plan.Source, h plan.Handle) (*cursor, error) {
	c := cursors.Get().(*cursor)
	c.src, c.list, c.asked, c.segment = src, h, -1, -1
	c.occurrences = src.Positions.Of(h)
	c.values.Reader = &src.Positions.Values
	l := src.List(h)
	var err error
	if l.Codec == codec.Bitset {
		if c.bits, err = l.Bits(); err != nil {
			return nil, err
		}
	} else if err := c.blocks.Open(l); err != nil {
		return nil, err
	}
	if c.occurrences.Count > uint64(l.Len) {
		c.freqs, err = src.Freq(h)
	}
	return c, err
}

// find moves to doc, and returns whether the list has it. Documents ascend.
func (c *cursor) find(doc uint32) (bool, error) {
	if len(c.bits.Words) > 0 {
		c.doc, c.found, c.located = doc, c.bits.Has(doc), false
		return c.found, nil
	}
	c.found, c.located = false, false
	if n := len(c.docs); n == 0 || c.docs[n-1] < doc {
		c.next = max(c.next, c.blocks.Find(doc))
		if err := c.decode(); err != nil {
			return false, err
		}
	}
	low, step := c.at, 1
	for low+step <= len(c.docs) && c.docs[low+step-1] < doc {
		low, step = low+step, 2*step
	}
	high := min(low+step, len(c.docs))
	for low < high {
		if middle := (low + high) / 2; c.docs[middle] < doc {
			low = middle + 1
		} else {
			high = middle
		}
	}
	c.at = low
	c.found = c.at < len(c.docs) && c.docs[c.at] == doc
	c.posting = c.start + c.at
	return c.found, nil
}

// decode decodes the next block that is not empty. At the end of the list docs is empty.
func (c *cursor) decode() error {
	c.docs, c.at = nil, 0
	for ; len(c.docs) == 0 && c.next < c.blocks.Count(); c.next++ {
		docs, err := c.blocks.Decode(c.memory[:0], c.next)
		if err != nil {
			return err
		}
		c.memory, c.docs, c.start = docs, docs, c.blocks.Start(c.next)
	}
	return nil
}

// most bounds the number of occurrences in the documents of a segment of postings.
func (c *cursor) most(segment int) uint64 {
	if c.freqs.Len > 0 && segment < c.freqs.Segments() {
		return 1 << c.freqs.Bits(segment)
	}
	return 1
}

// narrow keeps the documents that the list has, of ascending ones, and sets their postings unless the list is a bitset.
func (c *cursor) narrow(docs []uint32, keep []uint8) ([]uint8, error) {
	n := 0
	if words := c.bits.Words; len(words) > 0 {
		for _, k := range keep {
			keep[n] = k
			if doc := docs[k]; int(doc/32) < len(words) {
				n += int(words[doc/32] >> (doc % 32) & 1)
			}
		}
		return keep[:n], nil
	}
	for _, k := range keep {
		ok, err := c.find(docs[k])
		if err != nil {
			return nil, err
		}
		if ok {
			keep[n], c.postings[k] = k, c.posting
			n++
		}
	}
	return keep[:n], nil
}

// from sets the postings of SegmentLen documents of the list.
func (c *cursor) from(posting int) {
	for k := range c.postings {
		c.postings[k] = posting + k
	}
	c.ranked = true
}

// hit moves to document k of narrow, which the list has.
func (c *cursor) hit(doc uint32, k uint8) {
	c.doc, c.posting, c.found, c.located = doc, c.postings[k], true, false
}

// rank sets the posting of a bitset to the document.
func (c *cursor) rank() {
	word := c.doc / 64
	if word < c.word || word > c.word+8 || !c.ranks {
		c.word, c.below, c.ranks = word, c.bits.Rank(64*word), true
	}
	for ; c.word < word; c.word++ {
		c.below += uint32(bits.OnesCount64(c.bits.Word(c.word)))
	}
	c.posting = int(c.below) + bits.OnesCount64(c.bits.Word(word)&(1<<(c.doc%64)-1))
}

// locate finds the occurrences of the document that was found.
func (c *cursor) locate() error {
	if c.located {
		return nil
	}
	if len(c.bits.Words) > 0 && !c.ranked {
		c.rank()
	}
	c.first, c.count, c.located = uint64(c.posting), 1, true
	if c.occurrences.Count > uint64(c.occurrences.Postings) {
		if err := c.tally(); err != nil {
			return err
		}
	}
	if c.first > c.occurrences.Count || c.count > c.occurrences.Count-c.first {
		return &positions.CorruptError{Reason: "a posting behind the end of its list"}
	}
	return nil
}

// tally sets first and count by the frequencies. Only the second posting of a segment makes it sum all of them up.
func (c *cursor) tally() error {
	segment, i := c.posting/codec.SegmentLen, c.posting%codec.SegmentLen
	if segment != c.segment && segment != c.asked {
		c.asked = segment
		before, freq, err := c.freqs.Sum(uint32(c.posting))
		c.first = c.occurrences.Rank(uint32(segment)) + before + uint64(i)
		c.count = uint64(freq) + 1
		return err
	}
	if err := c.load(segment); err != nil {
		return err
	}
	c.first = c.segmentFirst + uint64(c.before[i])
	c.count = uint64(c.before[i+1] - c.before[i])
	return nil
}

// positions appends the positions of the document; none if the list lacks it.
func (c *cursor) positions(dst []int64) ([]int64, error) {
	if !c.found {
		return dst, nil
	}
	err := c.locate()
	if err != nil {
		return dst, err
	}
	if c.buf, err = c.values.Append(c.buf[:0], c.occurrences.First+c.first, c.count); err != nil {
		return dst, err
	}
	next := int64(0)
	for _, gap := range c.buf {
		next += int64(gap)
		dst = append(dst, next)
		next++
	}
	return dst, nil
}

// load sums the frequencies of a segment up, unless it is the last one.
func (c *cursor) load(segment int) error {
	if segment == c.segment {
		return nil
	}
	c.segment = -1
	if c.freqs.Len == 0 {
		for i := range c.before {
			c.before[i] = uint32(i)
		}
		c.segment = segment
		return nil
	}
	var freqs [codec.SegmentLen]uint32
	n, err := c.freqs.Decode(segment, &freqs)
	if err != nil {
		return err
	}
	sum := uint32(0)
	for i, f := range freqs[:n] {
		sum += f + 1
		c.before[i+1] = sum
	}
	c.segment, c.segmentFirst = segment, c.occurrences.Rank(uint32(segment))
	return nil
}
