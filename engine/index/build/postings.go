package build

import "encoding/binary"

// postings is an inverted index in memory: streams of compressed postings of terms. A posting is the
// varint (docID gap less one) * 2, plus 1 if its frequency is 1; else the varint of the frequency less
// 2 follows. The gap of the first is counted from -1, so every list decodes alone. One goroutine at a
// time.
type postings struct {
	lexicon[growing]
	arena   arena
	scratch []byte
}

// growing is the list of one term.
type growing struct {
	docs   uint32 // postings
	next   uint32 // docID that a gap of 0 means
	stream stream
}

// growingSize is the memory of an entry, in bytes.
const growingSize = 40

// reset drops the content and keeps the memory.
func (p *postings) reset() {
	p.lexicon.reset()
	p.arena.reset()
}

// memory is the memory of the content and of sorting it, in bytes.
func (p *postings) memory() uint64 {
	pages := uint64(p.terms+pageSize-1) / pageSize
	return uint64(p.arena.used+p.long.used)*blockSize + pages*pageSize*growingSize + uint64(len(p.slots))*4 + uint64(p.terms)*sortSize
}

// full is as for arena.
func (p *postings) full() bool { return p.arena.full() || p.long.full() }

func (p *postings) empty() bool { return p.terms == 0 }

func (p *postings) cursor() cursor { return &memoryCursor{p: p, order: p.sorted()} }

// put adds a posting. The caller knows that doc is at least e.next, and that
// freq is not 0.
func (p *postings) put(e *growing, doc, freq uint32) {
	var b [2 * binary.MaxVarintLen64]byte
	p.arena.append(&e.stream, appendPosting(b[:0], doc-e.next, freq))
	e.next = doc + 1
	e.docs++
}

// putAll adds postings. The caller knows that docs ascend, the first one at least e.next,
// and that no freq is 0.
func (p *postings) putAll(e *growing, docs, freqs []uint32) {
	b := p.scratch[:0]
	next := e.next
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
	e.next = next
	e.docs += uint32(len(docs))
}

func appendPosting(b []byte, gap, freq uint32) []byte {
	if freq == 1 {
		return binary.AppendUvarint(b, uint64(gap)<<1|1)
	}
	b = binary.AppendUvarint(b, uint64(gap)<<1)
	return binary.AppendUvarint(b, uint64(freq-2))
}
