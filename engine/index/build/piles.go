package build

import "encoding/binary"

// piles is the lists of many chunks in memory. Each pile has the terms of one range, as records
// in the order of the chunks: a term has a record for each chunk that contains it. Adding a
// record costs a copy. The records of a term are joined when its pile is read: the hash table of
// one pile stays in the cache of a core, and a table of all terms does not. The first chunk
// determines the ranges. One goroutine at a time.
//
// A record is: varint length of the term, term, varint number of postings, varint of the first
// posting as in postings, with its docID as gap; varint of the last docID less the first,
// varint number of further bytes, the bytes.
type piles struct {
	arena   arena
	of      []uint8 // pile of a term, by its first two bytes
	piles   [pileCount]pile
	joining uint64 // memory that joining the largest pile takes
	record  []byte // scratch
}

type pile struct {
	stream
	records uint64
}

const (
	pileCount = 256
	// joinSize bounds the memory for joining, in bytes per record beside its own: an entry,
	// slots, the sorted numbers and the first piece of a stream.
	joinSize = entrySize + 16 + sortSize + firstPiece + linkSize
)

func (p *piles) cursor() cursor { return &pileCursor{p: p} }

func (p *piles) empty() bool { return p.arena.used == 0 }

// reset drops the content and keeps the memory.
func (p *piles) reset() {
	p.arena.reset()
	p.piles = [pileCount]pile{}
	p.joining = 0
}

// memory is the memory of the content and of joining it, in bytes.
func (p *piles) memory() uint64 { return uint64(p.arena.used)*blockSize + p.joining }

// full is as for postings.
func (p *piles) full() bool { return p.arena.full() }

// prefix is the first two bytes of a term, filled up with zeros.
func prefix(term []byte) uint16 {
	switch len(term) {
	case 0:
		return 0
	case 1:
		return uint16(term[0]) << 8
	}
	return binary.BigEndian.Uint16(term)
}

// cut determines the ranges of the piles: about equal parts of q.
func (p *piles) cut(q *postings) {
	var size [1 << 16]uint64
	total := uint64(1)
	for id := range q.terms {
		e := q.entry(id)
		n := uint64(e.termLen + e.stream.length)
		size[prefix(q.term(e))] += n
		total += n
	}
	p.of = make([]uint8, len(size))
	before := uint64(0)
	for i, n := range size {
		p.of[i] = uint8(before * pileCount / total)
		before += n
	}
}

// add appends the lists of q, whose docIDs count from base. All docIDs of p are below base.
func (p *piles) add(q *postings, base uint32) {
	if p.empty() {
		p.cut(q)
	}
	var data []byte
	for id := range q.terms {
		e := q.entry(id)
		if e.docs == 0 { // a term of skipped documents alone
			continue
		}
		term := q.term(e)
		data = q.arena.read(data[:0], &e.stream)
		code, n := binary.Uvarint(data)
		first := uint32(code >> 1)
		b := appendBytes(p.record[:0], term)
		b = binary.AppendUvarint(b, uint64(e.docs))
		b = binary.AppendUvarint(b, uint64(base)<<1+code)
		b = binary.AppendUvarint(b, uint64(e.last-first))
		b = appendBytes(b, data[n:])
		p.record = b
		to := &p.piles[p.of[prefix(term)]]
		p.arena.append(&to.stream, b)
		to.records++
		p.joining = max(p.joining, 3*uint64(to.length)+to.records*joinSize)
	}
}

// pileCursor walks piles.
type pileCursor struct {
	p     *piles
	piles int      // that have been joined
	last  postings // the last one of them
	lists memoryCursor
	data  []byte // of a pile
}

func (c *pileCursor) next(l *list) error {
	for {
		if err := c.lists.next(l); err == nil || c.piles == pileCount {
			return err
		}
		c.join(&c.p.piles[c.piles])
		c.piles++
	}
}

// join makes c.lists the lists of a pile.
func (c *pileCursor) join(p *pile) {
	c.last.reset()
	c.data = c.p.arena.read(c.data[:0], &p.stream)
	for b := c.data; len(b) > 0; {
		var term, data []byte
		var docs, code, span uint64
		term, b = cutBytes(b)
		docs, b = cutUvarint(b)
		code, b = cutUvarint(b)
		span, b = cutUvarint(b)
		data, b = cutBytes(b)
		c.last.join(term, uint32(docs), code, uint32(span), data)
	}
	c.lists = memoryCursor{p: &c.last, order: c.last.sorted()}
}

// cutUvarint and cutBytes read what this process wrote to memory.
func cutUvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

func cutBytes(b []byte) (data, rest []byte) {
	n, b := cutUvarint(b)
	return b[:n], b[n:]
}
