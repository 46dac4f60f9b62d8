package gather

import "encoding/binary"

// Postings is an inverted index in memory: streams of compressed postings of terms. A posting is the
// varint (docID gap less one) * 2, plus 1 if its frequency is 1; else the varint of the frequency less
// 2 follows. The gap of the first is counted from -1, so every list decodes alone. One goroutine at a
// time.
type Postings struct {
	lexicon[Growing]
	arena   arena
	scratch []byte
}

// Growing is the list of one term.
type Growing struct {
	Docs   uint32 // postings
	Next   uint32 // docID that a gap of 0 means
	stream stream
}

// growingSize is the memory of an entry, in bytes.
const growingSize = 40

// Reset drops the content and keeps the memory.
func (p *Postings) Reset() {
	p.lexicon.reset()
	p.arena.reset()
}

// Memory is the memory of the content and of sorting it, in bytes.
func (p *Postings) Memory() uint64 {
	pages := uint64(p.terms+pageSize-1) / pageSize
	return uint64(p.arena.used+p.long.used)*blockSize + pages*pageSize*growingSize + uint64(len(p.Slots))*4 + uint64(p.terms)*sortSize
}

// Full reports that there may be no room for another chunk of documents.
func (p *Postings) Full() bool { return p.arena.full() || p.long.full() }

func (p *Postings) Empty() bool { return p.terms == 0 }

func (p *Postings) Cursor() Cursor { return &memoryCursor{p: p, order: p.sorted()} }

// Put adds a posting. The caller knows that doc is at least e.next, and that
// freq is not 0.
func (p *Postings) Put(e *Growing, doc, freq uint32) {
	var b [2 * binary.MaxVarintLen64]byte
	p.arena.append(&e.stream, appendPosting(b[:0], doc-e.Next, freq))
	e.Next = doc + 1
	e.Docs++
}

// PutAll adds postings. The caller knows that docs ascend, the first one at least e.next,
// and that no freq is 0.
func (p *Postings) PutAll(e *Growing, docs, freqs []uint32) {
	b := p.scratch[:0]
	next := e.Next
	for i, d := range docs {
		if gap := d - next; gap < 1<<6 && freqs[i] == 1 { // most postings
			b = append(b, byte(gap<<1|1))
		} else {
			b = appendPosting(b, gap, freqs[i])
		}
		next = d + 1
	}
	p.scratch = b
	p.arena.append(&e.stream, b)
	e.Next = next
	e.Docs += uint32(len(docs))
}

func appendPosting(b []byte, gap, freq uint32) []byte {
	if freq == 1 {
		return binary.AppendUvarint(b, uint64(gap)<<1|1)
	}
	b = binary.AppendUvarint(b, uint64(gap)<<1)
	return binary.AppendUvarint(b, uint64(freq-2))
}
