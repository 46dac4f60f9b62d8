package gather

import (
	"encoding/binary"
	"io"
	"slices"
)

// Piles is the records of many chunks in memory (see Tally). Each pile has the terms of one range, in
// blocks in the order of the chunks: varint docID of the first document, then the records by
// AppendBytes. A term has a record for each chunk that contains it. Adding a block costs a copy. The
// records of a term are joined when its pile is read: the hash table of one pile stays in the cache of
// a core, and a table of all terms does not. The first chunk determines the ranges. One goroutine at a
// time.
type Piles struct {
	arena   arena
	bounds  [pileCount]uint32 // least prefix of each pile
	piles   [pileCount]pile
	joining uint64 // memory that joining the largest pile takes
}

type pile struct {
	stream
	records uint64
}

const (
	pileCount = 256
	// joinSize bounds the memory for joining, in bytes per record beside two copies: an entry, slots,
	// the sorted numbers and the number of the term.
	joinSize = joinedSize + 16 + sortSize + 5
)

func (p *Piles) Cursor() Cursor { return &pileCursor{p: p} }

func (p *Piles) Empty() bool { return p.arena.used == 0 }

// Reset drops the content and keeps the memory.
func (p *Piles) Reset() {
	p.arena.reset()
	p.piles = [pileCount]pile{}
	p.joining = 0
}

// Memory is the memory of the content and of joining it, in bytes.
func (p *Piles) Memory() uint64 { return uint64(p.arena.used)*blockSize + p.joining }

// Full reports that there may be no room for another chunk.
func (p *Piles) Full() bool { return p.arena.full() }

// cut determines the ranges of the piles: about equal parts of the records of a chunk.
func (p *Piles) cut(groups []Group) {
	p.bounds = [pileCount]uint32{}
	number, start, total := 0, 0, 1
	if len(groups) > 0 {
		total += groups[len(groups)-1].end
	}
	for _, g := range groups {
		for ; number < start*pileCount/total; number++ {
			p.bounds[number+1] = g.prefix
		}
		start = g.end
	}
	for number++; number < pileCount; number++ {
		p.bounds[number] = 1 << 24 // no term
	}
}

// Add appends the records of a chunk, whose docIDs count from base. All docIDs of p are below base.
func (p *Piles) Add(records []byte, groups []Group, base uint32) {
	if p.Empty() {
		p.cut(groups)
	}
	start, number := 0, 0
	for i := 0; i < len(groups); {
		for number+1 < pileCount && groups[i].prefix >= p.bounds[number+1] {
			number++
		}
		to := &p.piles[number]
		for ; i < len(groups) && (number+1 == pileCount || groups[i].prefix < p.bounds[number+1]); i++ {
			to.records += uint64(groups[i].records)
		}
		end := groups[i-1].end
		var head [2 * binary.MaxVarintLen64]byte
		b := binary.AppendUvarint(head[:0], uint64(base))
		b = binary.AppendUvarint(b, uint64(end-start))
		p.arena.append(&to.stream, b)
		p.arena.append(&to.stream, records[start:end])
		p.joining = max(p.joining, uint64(to.length)*5/2+to.records*joinSize)
		start = end
	}
}

// pileCursor walks piles.
type pileCursor struct {
	p     *Piles
	piles int             // number of piles that have been joined
	terms lexicon[joined] // terms of the last pile
	order []uint32        // order of the terms that are left
	ids   []uint32        // terms of the records
	data  []byte          // contents of the pile
	lists []byte          // lists of the terms
}

// joined is the list of a term of a pile.
type joined struct {
	docs  uint32 // postings
	next  uint32 // docID that a gap of 0 means
	start uint32 // where the list starts, among the lists
	end   uint32 // where the list ends, among the lists; before the records are placed, the greatest number of their bytes
}

const (
	joinedSize = 32 // bytes of an entry
	maxGap     = 5  // bytes of a gap, at most
)

func (c *pileCursor) Next(l *List) error {
	for len(c.order) == 0 {
		if c.piles == pileCount {
			return io.EOF
		}
		c.join(&c.p.piles[c.piles])
		c.piles++
	}
	e := c.terms.at(c.order[0])
	c.order = c.order[1:]
	l.Term = c.terms.appendTerm(l.Term[:0], e)
	l.Docs = e.value.docs
	l.data = c.lists[e.value.start:e.value.end]
	return nil
}

// join makes c.lists the lists of a pile: it adds up the bytes of the records, and then places them.
func (c *pileCursor) join(p *pile) {
	c.terms.reset()
	c.ids = c.ids[:0]
	c.data = c.p.arena.read(c.data[:0], &p.stream)
	eachRecord(c.data, func(_ uint32, term, body []byte) {
		id := c.terms.Find(term)
		c.ids = append(c.ids, id)
		c.terms.Value(id).end += uint32(len(body)) + maxGap - 3 // a gap in place of three numbers
	})
	c.order = c.terms.sorted()
	total := uint32(0)
	for _, id := range c.order {
		j := c.terms.Value(id)
		room := j.end
		*j = joined{start: total, end: total}
		total += room
	}
	c.lists = slices.Grow(c.lists[:0], int(total))[:total]
	var first [binary.MaxVarintLen64]byte
	i := 0
	eachRecord(c.data, func(base uint32, _, body []byte) {
		j := c.terms.Value(c.ids[i])
		i++
		gap, rest := j.add(first[:0], base, body)
		j.end += uint32(copy(c.lists[j.end:], gap))
		j.end += uint32(copy(c.lists[j.end:], rest))
	})
}

// add adds a record to a list, and returns its bytes: gap, in the memory of dst, and rest.
func (j *joined) add(dst []byte, base uint32, body []byte) (gap, rest []byte) {
	docs, rest := cutUvarint(body)
	code, rest := cutUvarint(rest)
	span, rest := cutUvarint(rest)
	doc := base + uint32(code>>1)
	gap = binary.AppendUvarint(dst, uint64(doc-j.next)<<1|code&1) // the only change
	j.docs += uint32(docs)
	j.next = doc + uint32(span) + 1
	return gap, rest
}

// eachRecord calls f for the records of a pile.
func eachRecord(data []byte, f func(base uint32, term, body []byte)) {
	for len(data) > 0 {
		var base uint64
		var block, term, body []byte
		base, data = cutUvarint(data)
		for block, data = cutBytes(data); len(block) > 0; {
			term, block = cutBytes(block)
			body, block = cutBytes(block)
			f(uint32(base), term, body)
		}
	}
}

// cutUvarint and cutBytes read bytes that this process wrote to memory.
func cutUvarint(b []byte) (uint64, []byte) {
	if len(b) > 0 && b[0] < 0x80 { // most numbers
		return uint64(b[0]), b[1:]
	}
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

func cutBytes(b []byte) (data, rest []byte) {
	n, b := cutUvarint(b)
	return b[:n], b[n:]
}
