package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// postings is an inverted index in memory: a hash table from terms to streams of
// compressed postings. A posting is the varint (docID gap less one) * 2, plus 1
// if its frequency is 1; else the varint of the frequency less 2 follows. The
// gap of the first is counted from -1, so every list decodes alone. One
// goroutine at a time.
type postings struct {
	arena arena
	pages [][]entry // of pageSize entries; they never move
	terms uint32    // number of entries
	slots []uint32  // hash table by linear probing: entry number plus one, or 0

	scratch []byte
}

// entry is the list of one term.
type entry struct {
	hash    uint32
	term    address
	termLen uint32
	docs    uint32 // postings
	last    uint32 // docID of the last one, or 2³²-1
	count   uint32 // scratch of the analysis: occurrences in the current document
	stream  stream
}

const (
	pageBits  = 10
	pageSize  = 1 << pageBits
	entrySize = 40 // bytes
	// sortSize is the memory for sorting, in bytes per term.
	sortSize   = 16
	firstSlots = 1 << 10
)

var seed = maphash.MakeSeed()

func hashTerm(term []byte) uint32 { return uint32(maphash.Bytes(seed, term)) }

// reset drops the content and keeps the memory.
func (p *postings) reset() {
	p.arena.reset()
	p.terms = 0
	clear(p.slots)
}

// memory is the memory of the content and of sorting it, in bytes.
func (p *postings) memory() uint64 {
	pages := uint64(p.terms+pageSize-1) / pageSize
	return uint64(p.arena.used)*blockSize + pages*pageSize*entrySize + uint64(len(p.slots))*4 + uint64(p.terms)*sortSize
}

// full is as for arena.
func (p *postings) full() bool { return p.arena.full() }

func (p *postings) empty() bool { return p.terms == 0 }

func (p *postings) cursor() cursor { return &memoryCursor{p: p, order: p.sorted()} }

// entry returns entry id, from 0. It stays where it is until reset.
func (p *postings) entry(id uint32) *entry { return &p.pages[id>>pageBits][id&(pageSize-1)] }

// term returns the term of e, a view.
func (p *postings) term(e *entry) []byte { return p.arena.bytes(e.term)[:e.termLen] }

// find returns the number of the entry of term, of at most blockSize bytes,
// which is made if there is none. The hash is hashTerm(term).
func (p *postings) find(term []byte, hash uint32) uint32 {
	if uint64(p.terms)*2 >= uint64(len(p.slots)) {
		p.grow()
	}
	mask := uint32(len(p.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := p.slots[i]
		if slot == 0 {
			p.slots[i] = p.terms + 1
			return p.add(term, hash)
		}
		if e := p.entry(slot - 1); e.hash == hash && bytes.Equal(p.term(e), term) {
			return slot - 1
		}
	}
}

func (p *postings) add(term []byte, hash uint32) uint32 {
	id := p.terms
	if int(id>>pageBits) == len(p.pages) {
		p.pages = append(p.pages, make([]entry, pageSize))
	}
	p.terms++
	at := p.arena.alloc(len(term))
	copy(p.arena.bytes(at), term)
	*p.entry(id) = entry{hash: hash, term: at, termLen: uint32(len(term)), last: ^uint32(0)}
	return id
}

// grow doubles the hash table.
func (p *postings) grow() {
	p.slots = make([]uint32, max(2*len(p.slots), firstSlots))
	mask := uint32(len(p.slots) - 1)
	for id := range p.terms {
		i := p.entry(id).hash & mask
		for p.slots[i] != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = id + 1
	}
}

// put adds a posting. The caller knows that doc is above e.last, or e is empty,
// and that freq is not 0.
func (p *postings) put(e *entry, doc, freq uint32) {
	var b [2 * binary.MaxVarintLen64]byte
	p.arena.append(&e.stream, appendPosting(b[:0], doc-e.last-1, freq))
	e.last = doc
	e.docs++
}

// putAll adds postings. The caller knows that docs ascend, the first one above e.last or e empty,
// and that no freq is 0.
func (p *postings) putAll(e *entry, docs, freqs []uint32) {
	b := p.scratch[:0]
	last := e.last
	for i, d := range docs {
		if gap := d - last - 1; gap < 1<<6 && freqs[i] == 1 { // most postings
			b = append(b, byte(gap<<1|1))
		} else {
			b = appendPosting(b, gap, freqs[i])
		}
		last = d
	}
	p.scratch = b
	p.arena.append(&e.stream, b)
	e.last = last
	e.docs += uint32(len(docs))
}

func appendPosting(b []byte, gap, freq uint32) []byte {
	if freq == 1 {
		return binary.AppendUvarint(b, uint64(gap)<<1|1)
	}
	b = binary.AppendUvarint(b, uint64(gap)<<1)
	return binary.AppendUvarint(b, uint64(freq-2))
}

// join appends postings to the list of term: docs of them, the first one with its docID as gap
// in code, the last one span behind it, and data, the further bytes. The docIDs are above those
// of the list.
func (p *postings) join(term []byte, docs uint32, code uint64, span uint32, data []byte) {
	to := p.entry(p.find(term, hashTerm(term)))
	doc := uint32(code >> 1)
	var first [binary.MaxVarintLen64]byte // only the first gap changes
	p.arena.append(&to.stream, binary.AppendUvarint(first[:0], uint64(doc-to.last-1)<<1|code&1))
	p.arena.append(&to.stream, data)
	to.docs += docs
	to.last = doc + span
}

// sorted returns the numbers of all entries in the order of their terms.
func (p *postings) sorted() []uint32 {
	type key struct {
		prefix uint64 // first eight bytes of the term, filled up with zeros
		id     uint32
	}
	keys := make([]key, p.terms)
	for id := range p.terms {
		var prefix [8]byte
		copy(prefix[:], p.term(p.entry(id)))
		keys[id] = key{binary.BigEndian.Uint64(prefix[:]), id}
	}
	slices.SortFunc(keys, func(x, y key) int {
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		return bytes.Compare(p.term(p.entry(x.id)), p.term(p.entry(y.id)))
	})
	ids := make([]uint32, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}
