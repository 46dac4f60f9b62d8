package phrase

import (
	"slices"
	"sort"

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

	doc     uint32 // of a bitset, whose rank is its posting
	posting int    // number of the posting of the document, of another list
	found   bool   // the list has the document

	occurrences plan.Occurrences
	values      positions.Cursor
	freqs       codec.Packed
	segment     int // the segment of freqs in before; -1: none
	before      [codec.SegmentLen + 1]uint32
	buf         []uint32
}

func open(src *plan.Source, h plan.Handle) (*cursor, error) {
	c := &cursor{src: src, list: h, segment: -1}
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

// hold gives the cursor all documents of its list.
func (c *cursor) hold(docs []uint32) {
	if len(c.bits.Words) == 0 {
		c.docs, c.next = docs, c.blocks.Count()
	}
}

// find moves to doc, and returns whether the list has it. Documents ascend.
func (c *cursor) find(doc uint32) (bool, error) {
	if len(c.bits.Words) > 0 {
		c.doc, c.found = doc, c.bits.Has(doc)
		return c.found, nil
	}
	c.found = false
	if n := len(c.docs); n == 0 || c.docs[n-1] < doc {
		c.next = max(c.next, c.blocks.Find(doc))
		if err := c.decode(); err != nil {
			return false, err
		}
	}
	rest := c.docs[c.at:]
	step := 1
	for step < len(rest) && rest[step-1] < doc {
		step *= 2
	}
	from := step / 2
	rest = rest[from:min(step, len(rest))]
	c.at += from + sort.Search(len(rest), func(i int) bool { return rest[i] >= doc })
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

// positions appends the positions of the document; none if the list lacks it.
func (c *cursor) positions(dst []int64) ([]int64, error) {
	if !c.found {
		return dst, nil
	}
	if len(c.bits.Words) > 0 {
		c.posting = int(c.bits.Rank(c.doc))
	}
	first, n := uint64(c.posting), uint64(1)
	if c.occurrences.Count > uint64(c.occurrences.Postings) {
		if segment := c.posting / codec.SegmentLen; segment != c.segment {
			if err := c.load(segment); err != nil {
				return dst, err
			}
		}
		i := c.posting % codec.SegmentLen
		first = c.occurrences.Rank(uint32(c.segment)) + uint64(c.before[i])
		n = uint64(c.before[i+1] - c.before[i])
	}
	if first > c.occurrences.Count || n > c.occurrences.Count-first {
		return dst, &positions.CorruptError{Reason: "a posting behind the end of its list"}
	}
	var err error
	if c.buf, err = c.values.Append(c.buf[:0], c.occurrences.First+first, n); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(c.buf))
	next := int64(0)
	for _, gap := range c.buf {
		next += int64(gap)
		dst = append(dst, next)
		next++
	}
	return dst, nil
}

// load sums the frequencies of a segment up.
func (c *cursor) load(segment int) error {
	var freqs [codec.SegmentLen]uint32
	c.segment = -1
	n, err := c.freqs.Decode(segment, &freqs)
	if err != nil {
		return err
	}
	for i, f := range freqs[:n] {
		c.before[i+1] = c.before[i] + f + 1
	}
	c.segment = segment
	return nil
}
