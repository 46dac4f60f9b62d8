package match

import (
	"cmp"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// fewDocs is the greatest number of docIDs of a chunk that are sorted instead of set as
// bits.
const fewDocs = 32

// chunk is the part of a union among the chunkDocs documents from base on: a few docIDs, or
// bits.
type chunk struct {
	base uint32
	docs []uint32 // strictly ascending
	bits []uint64 // bit i is docID base+i; nil if there are docs
}

// count returns the number of docIDs.
func (c chunk) count() int {
	return len(c.docs) + docset.Count(c.bits)
}

// pieceWords is the number of words that appendTo expands at a time. It counts their docIDs only if dst may lack
// room for them.
const pieceWords = 128

// appendTo appends the docIDs to dst.
func (c chunk) appendTo(dst []uint32) []uint32 {
	if c.bits == nil {
		return append(dst, c.docs...)
	}
	for at := 0; at < len(c.bits); at += pieceWords {
		piece := c.bits[at:min(at+pieceWords, len(c.bits))]
		n, end := 64*len(piece), len(dst)
		if cap(dst)-end < n+docset.Slack { // less room than for a full piece
			n = docset.Count(piece)
			dst = slices.Grow(dst, n+docset.Slack)
		}
		dst = dst[:end+docset.Expand(dst[end:end+n+docset.Slack], piece, c.base+uint32(64*at))]
	}
	return dst
}

// within removes the docIDs that filter f lacks; nil lacks none.
func (c chunk) within(f *filter.Set) chunk {
	switch {
	case f == nil:
	case c.bits == nil:
		c.docs = c.docs[:f.Keep(c.docs)]
	default:
		f.And(c.bits, c.base)
	}
	return c
}

// union computes the union of lists in ascending order, chunk by chunk.
//
// Lists with bits are joined word by word, the densest first, until all bits of a chunk are
// set. Each of the remaining lists waits at the chunk of its next docID. A chunk therefore
// costs nothing for a list without docIDs in it, and a chunk without docIDs is skipped.
//
// A union belongs to one goroutine and is reused. A chunk is valid until the next call.
type union struct {
	docs                uint64  // the number of documents
	nextChunk, endChunk int     // the number of the next chunk, and of the chunk behind the last one
	firstChunk          int     // the number of the chunk of waiting[0]
	waiting             []int32 // by chunk: the first span that waits there, -1 for none
	nextWaiting         []int32 // by span: the next span that waits at the same chunk, or -1
	spans               []span
	dense               []*span      // the spans with bits, the densest first
	denseEnd            int          // the end of the chunks in which dense spans may have bits
	sparseDocs          []uint32     // docIDs of the current chunk while they are few
	acc                 docset.Chunk // bits of the current chunk
}

// open positions u at chunk from of the union of lists, which ends before chunk end.
func (u *union) open(aux *lookup.Auxiliary, lists []plan.Handle, from, end int) error {
	u.docs, u.endChunk = uint64(aux.Source.Docs), min(end, chunks(aux.Source.Docs))
	u.nextChunk, u.firstChunk, u.denseEnd = from, from, 0
	n := max(u.endChunk-from, 0)
	u.waiting = slices.Grow(u.waiting[:0], n)[:n]
	for i := range u.waiting {
		u.waiting[i] = -1
	}
	for len(u.spans) < len(lists) {
		u.spans = append(u.spans, span{})
		u.nextWaiting = append(u.nextWaiting, -1)
	}
	u.dense = u.dense[:0]
	for i, h := range lists {
		p := &u.spans[i]
		if err := p.open(aux, h); err != nil {
			return err
		}
		if p.bits != nil {
			u.dense = append(u.dense, p)
			u.denseEnd = max(u.denseEnd, (len(p.bits)*32+chunkDocs-1)/chunkDocs)
			continue
		}
		if from > 0 {
			if err := p.seek(uint32(from * chunkDocs)); err != nil {
				return err
			}
		}
		u.wait(i)
	}
	slices.SortFunc(u.dense, func(a, b *span) int { return cmp.Compare(b.listLen, a.listLen) })
	return nil
}

// wait makes span i wait at the chunk of its next docID, or at the next chunk.
func (u *union) wait(i int) {
	if x, ok := u.spans[i].next(); ok {
		if c := max(int(x/chunkDocs), u.nextChunk); c < u.endChunk {
			u.push(i, c)
		}
	}
}

// push makes span i wait at chunk c.
func (u *union) push(i, c int) {
	u.nextWaiting[i] = u.waiting[c-u.firstChunk]
	u.waiting[c-u.firstChunk] = int32(i)
}

// seek skips the chunks before c.
func (u *union) seek(c int) {
	for c = min(c, u.endChunk); u.nextChunk < c; u.nextChunk++ {
		for i := u.waiting[u.nextChunk-u.firstChunk]; i >= 0; {
			behind := u.nextWaiting[i]
			if c < u.endChunk {
				u.push(int(i), c)
			}
			i = behind
		}
	}
}

// next returns the next chunk that has docIDs, and false at the end.
func (u *union) next() (chunk, bool, error) {
	for u.nextChunk < u.endChunk {
		if u.waiting[u.nextChunk-u.firstChunk] < 0 && u.nextChunk >= u.denseEnd {
			u.nextChunk++
			continue
		}
		if c, err := u.join(); err != nil || len(c.docs) > 0 || c.bits != nil {
			return c, err == nil, err
		}
	}
	return chunk{}, false, nil
}

// join returns chunk u.at and moves to the next one.
func (u *union) join() (chunk, error) {
	base := u.nextChunk * chunkDocs
	i := u.waiting[u.nextChunk-u.firstChunk]
	u.nextChunk++
	c := chunk{base: uint32(base)}
	all := u.acc[:(min(u.docs-uint64(base), chunkDocs)+63)/64]
	any, full := orDense(all, u.dense, c.base, 0)
	if any {
		c.bits = all
	}
	u.sparseDocs = u.sparseDocs[:0]
	spans := 0
	for i >= 0 {
		behind := u.nextWaiting[i]
		if full {
			if u.nextChunk < u.endChunk {
				u.push(int(i), u.nextChunk)
			}
		} else {
			if err := u.add(&c, all, &u.spans[i]); err != nil {
				return c, err
			}
			u.wait(int(i))
			spans++
		}
		i = behind
	}
	if n := (u.docs - uint64(base)) % 64; c.bits != nil && u.docs-uint64(base) < chunkDocs && n > 0 {
		all[len(all)-1] &= 1<<n - 1 // only corrupt lists have more docIDs
	}
	if c.bits == nil {
		c.docs = u.sparseDocs
		if spans > 1 {
			slices.Sort(c.docs)
			c.docs = slices.Compact(c.docs)
		}
	}
	return c, nil
}

// orDense sets all to the bits and runs of the spans in dense from document base to last. any is false if
// they have none there; the words are then undefined. full tells that the union has all documents; then
// the words are undefined, too.
func orDense(all []uint64, dense []*span, base, last uint32) (any, full bool) {
	var pending []uint32 // bits of a list that is joined together with the next one
	for _, p := range dense {
		if full {
			return true, true
		}
		if p.runs != nil {
			p.at += p.runs[p.at:].Find(base)
			switch rest := p.runs[p.at:]; {
			case len(rest) == 0 || rest[0].First > last:
				continue
			case rest[0].First <= base && rest[0].Last >= last:
				return true, true
			case !any:
				any = true
				clear(all)
			}
			p.at = p.runs.Or(all, p.at, base, last)
			continue
		}
		if int(base/32) >= len(p.bits) {
			continue
		}
		words := p.bits[base/32:]
		switch {
		case !any:
			any = true
			n := min(len(words)/2, len(all))
			docset.CopyBits(all[:n], words)
			clear(all[n:])
		case pending == nil:
			pending = words
		default:
			full = docset.OrTwoBits(all, pending, words)
			pending = nil
		}
	}
	if pending != nil {
		full = docset.OrBits(all, pending)
	}
	return any, full
}

// add adds the docIDs of p in chunk c to u.few, or to bits if they are too many.
func (u *union) add(c *chunk, all []uint64, p *span) error {
	if x, ok := p.next(); ok && x < c.base { // seldom: a span waits at its next docID
		if err := p.seek(c.base); err != nil {
			return err
		}
	}
	wide := func() {
		if c.bits == nil {
			c.bits = all
			clear(all)
			docset.SetBits(&u.acc, u.sparseDocs)
		}
	}
	if p.words != nil || p.runs != nil {
		wide()
		p.setBits(&u.acc, c.base)
		return nil
	}
	for {
		docs, more := p.take(uint32(min(uint64(c.base)+chunkDocs, u.docs) - 1))
		if len(u.sparseDocs)+len(docs) > fewDocs {
			wide()
		}
		if c.bits == nil {
			u.sparseDocs = append(u.sparseDocs, docs...)
		} else {
			docset.SetBits(&u.acc, docs)
		}
		if !more {
			return nil
		}
		if err := p.decode(); err != nil {
			return err
		}
	}
}

// ahead skips the chunks before the one of document base and returns a lower bound of the
// next document, or never.
func (u *union) ahead(base uint64) uint64 {
	u.seek(int(base / chunkDocs))
	for at := u.nextChunk; at < u.endChunk; at++ {
		if at < u.denseEnd || u.waiting[at-u.firstChunk] >= 0 {
			return max(uint64(at)*chunkDocs, base)
		}
	}
	return never
}
