package hostfallback

import (
	"cmp"
	"math/bits"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// fewDocs is the most docIDs of a chunk that are sorted instead of set as bits.
const fewDocs = 32

// chunk is what a union has of the chunkDocs documents from base on: docIDs where
// they are few, else bits.
type chunk struct {
	base uint32
	docs []uint32 // strictly ascending
	bits []uint64 // bit i is docID base+i; nil where there are docs
}

// count is the number of docIDs.
func (c chunk) count() int {
	n := len(c.docs)
	for _, x := range c.bits {
		n += bits.OnesCount64(x)
	}
	return n
}

// appendTo appends the docIDs to dst.
func (c chunk) appendTo(dst []uint32) []uint32 {
	if c.bits == nil {
		return append(dst, c.docs...)
	}
	n, end := c.count(), len(dst)
	dst = slices.Grow(dst, n+3)
	lookup.Expand(dst[end:end+n+3], c.bits, c.base)
	return dst[:end+n]
}

// union makes the union of lists in ascending order, chunk by chunk.
//
// Lists that have bits are joined word by word, densest first, and nothing more
// is read of a chunk once all of its bits are set. The others wait at the chunk
// where they go on: so a chunk costs nothing for a list that has no docID there,
// and a chunk where no list has one is passed over.
//
// A union belongs to one goroutine and is reused; what next gives is valid until
// it is called again.
type union struct {
	docs    uint64  // universe
	at, end int     // the next chunk and the one behind the last
	first   int     // the chunk of waiting[0]
	waiting []int32 // by chunk: the span that goes on there or before, -1 for none
	behind  []int32 // by span: another one that waits at the same chunk, or -1
	spans   []span
	dense   []*span // those with bits, densest first
	reach   int     // chunks in which one of them may have bits
	few     []uint32
	acc     [lookup.ChunkDocs / 64]uint64
}

// chunks is the number of chunks of a universe.
func chunks(docs uint32) int { return int((uint64(docs) + lookup.ChunkDocs - 1) / lookup.ChunkDocs) }

// open makes u the union of lists in the chunks from, ..., end-1.
func (u *union) open(s *store, lists []plan.Handle, from, end int) error {
	u.docs, u.end = uint64(s.src.Docs), min(end, chunks(s.src.Docs))
	u.at, u.first, u.reach = from, from, 0
	n := max(u.end-from, 0)
	u.waiting = slices.Grow(u.waiting[:0], n)[:n]
	for i := range u.waiting {
		u.waiting[i] = -1
	}
	for len(u.spans) < len(lists) {
		u.spans = append(u.spans, span{})
		u.behind = append(u.behind, -1)
	}
	u.dense = u.dense[:0]
	for i, h := range lists {
		p := &u.spans[i]
		if err := p.open(s, h); err != nil {
			return err
		}
		if p.bits != nil {
			u.dense = append(u.dense, p)
			u.reach = max(u.reach, (len(p.bits)*32+lookup.ChunkDocs-1)/lookup.ChunkDocs)
			continue
		}
		if from > 0 {
			if err := p.seek(uint32(from * lookup.ChunkDocs)); err != nil {
				return err
			}
		}
		u.wait(i)
	}
	slices.SortFunc(u.dense, func(a, b *span) int { return cmp.Compare(b.len, a.len) })
	return nil
}

// wait puts span i where it goes on, at the next chunk or behind it.
func (u *union) wait(i int) {
	if x, ok := u.spans[i].next(); ok {
		if c := max(int(x/lookup.ChunkDocs), u.at); c < u.end {
			u.push(i, c)
		}
	}
}

func (u *union) push(i, c int) {
	u.behind[i] = u.waiting[c-u.first]
	u.waiting[c-u.first] = int32(i)
}

// seek passes over the chunks before c, in which nobody is interested.
func (u *union) seek(c int) {
	for c = min(c, u.end); u.at < c; u.at++ {
		for i := u.waiting[u.at-u.first]; i >= 0; {
			behind := u.behind[i]
			if c < u.end {
				u.push(int(i), c)
			}
			i = behind
		}
	}
}

// next gives the next chunk that has a docID, and false at the end.
func (u *union) next() (chunk, bool, error) {
	for u.at < u.end {
		if u.waiting[u.at-u.first] < 0 && u.at >= u.reach {
			u.at++
			continue
		}
		if c, err := u.join(); err != nil || len(c.docs) > 0 || c.bits != nil {
			return c, err == nil, err
		}
	}
	return chunk{}, false, nil
}

// join gives chunk u.at and goes on to the next.
func (u *union) join() (chunk, error) {
	base := u.at * lookup.ChunkDocs
	i := u.waiting[u.at-u.first]
	u.at++
	c := chunk{base: uint32(base)}
	all := u.acc[:(min(u.docs-uint64(base), lookup.ChunkDocs)+63)/64]
	full := false
	for _, p := range u.dense {
		if base/32 < len(p.bits) && !full {
			if c.bits == nil {
				c.bits = all
				clear(all)
			}
			full = lookup.OrBits(all, p.bits[base/32:])
		}
	}
	u.few = u.few[:0]
	spans := 0
	for i >= 0 {
		behind := u.behind[i]
		if full {
			if u.at < u.end {
				u.push(int(i), u.at)
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
	if n := (u.docs - uint64(base)) % 64; c.bits != nil && u.docs-uint64(base) < lookup.ChunkDocs && n > 0 {
		all[len(all)-1] &= 1<<n - 1 // only lists that are corrupt have more
	}
	if c.bits == nil {
		c.docs = u.few
		if spans > 1 {
			slices.Sort(c.docs)
			c.docs = slices.Compact(c.docs)
		}
	}
	return c, nil
}

// add adds what p has in chunk c: to few, or to bits once these are too many.
func (u *union) add(c *chunk, all []uint64, p *span) error {
	if x, ok := p.next(); ok && x < c.base { // seldom: the span waits where it goes on
		if err := p.seek(c.base); err != nil {
			return err
		}
	}
	wide := func() {
		if c.bits == nil {
			c.bits = all
			clear(all)
			lookup.SetBits(&u.acc, u.few)
		}
	}
	if p.words != nil {
		wide()
		p.at = p.words.Or(&u.acc, p.at, (c.base+lookup.ChunkDocs-1)/64)
		return nil
	}
	for {
		docs, more := p.take(uint32(min(uint64(c.base)+lookup.ChunkDocs, u.docs) - 1))
		if len(u.few)+len(docs) > fewDocs {
			wide()
		}
		if c.bits == nil {
			u.few = append(u.few, docs...)
		} else {
			lookup.SetBits(&u.acc, docs)
		}
		if !more {
			return nil
		}
		if err := p.decode(); err != nil {
			return err
		}
	}
}
