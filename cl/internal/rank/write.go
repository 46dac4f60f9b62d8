package rank

import (
	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// write puts the records of the window into an upload.
func (c *cut) write(up []uint32) {
	put := func(words ...uint32) { up = up[copy(up, words):] }
	bits := c.set.Bits()
	n := c.batch.Norm
	put(n.Base, n.Slope, uint32(n.Shift), uint32(n.Impacts))
	for _, p := range c.parts {
		l, at, f := &c.set.Src.Lists[p.list], c.set.Places[p.list], c.data.places[p.list]
		put(at.Off, l.Len, l.Words, uint32(l.Codec)|at.Buffer<<8)
		put(p.begin, p.count, p.to, p.firstRun)
		put(f.Off, uint32(p.words), p.starts, f.Rest|f.Buffer<<8)
	}
	c.termsAt = 1 + listUnits*len(c.parts)
	terms := 0
	for _, i := range c.queries {
		rest := uint32(0)
		for _, t := range c.batch.Query(i) {
			rest += t.Weight
		}
		for _, t := range c.batch.Query(i) {
			rest -= t.Weight
			if k, ok := c.known[t.List]; ok {
				p := c.parts[k]
				sought := uint32(0)
				if p.isSought(c.set.Src.List(p.list)) {
					sought = 1
				}
				put(p.starts, p.to, p.count, t.Weight)
				words, at := bitset(bits, t.List)
				put(uint32(k), rest, sought|words<<1, at)
				terms++
			}
		}
	}
	c.queriesAt = c.termsAt + termUnits*terms
	terms, c.filtered = 0, false
	for _, i := range c.queries {
		n := 0
		for _, t := range c.batch.Query(i) {
			if _, ok := c.known[t.List]; ok {
				n++
			}
		}
		at, words := filterOf(c.batch, i)
		c.filtered = c.filtered || words > 0
		put(uint32(terms), uint32(n), at, words)
		terms += n
	}
	c.words = 4 * (c.queriesAt + len(c.queries))
}

// filterOf returns the place of the filter of a query in the buffer of filters, in units of four
// words, and its words: 0 without one.
func filterOf(b *plan.RankBatch, i int) (at, words uint32) {
	f := filter.Of(b.Filter(i))
	if f == nil {
		return 0, 0
	}
	return f.Bits()[0], f.Words()
}

// bitset returns the length and the place of the bitset of a list, in words: 0 without one.
func bitset(bits *lists.Tables, h plan.Handle) (words, at uint32) {
	if bits == nil || bits.Records[h].Probe() != lists.ProbeBits {
		return 0, 0
	}
	return bits.Records[h].Entries(), bits.Records[h].Table()
}

// bitsets returns the buffer of the bitsets of lists. Without bitsets it is any buffer.
func (r *Ranker) bitsets() *ocl.MemObject {
	if bits := r.set.Bits(); bits != nil && bits.Buffer != nil {
		return bits.Buffer
	}
	return r.set.Arena.Buffers[0]
}

// count adds up the bytes that the kernels of the window load and store. Of the searches it
// counts only the searches for documents of the shortest list in the next one.
func (c *cut) count() {
	c.moved = 0
	ranges := uint64(c.end - c.first)
	or, length := c.batch.Mode == plan.Or, uint64(4)
	if c.data.narrow {
		length = 2
	}
	if c.batch.Norm.Impacts > 0 {
		length = 0
	}
	for _, p := range c.parts {
		l, n := &c.set.Src.Lists[p.list], uint64(p.count)
		c.moved += 4*uint64(l.Words)*n/uint64(l.Len) + 8*n + 4*ranges // decoding, and docIDs to find starts
		if or {
			c.moved += 4*uint64(l.FreqWords)*n/uint64(l.Len) + (4+length)*n
		}
	}
	for _, i := range c.queries {
		if c.global() && c.end == c.ranges {
			c.moved += 8 * uint64(c.set.Src.Docs) // accumulators are cleared, and scanned
		}
		for j, t := range c.batch.Query(i) {
			k, ok := c.known[t.List]
			if !ok {
				continue
			}
			n := uint64(c.parts[k].count)
			switch {
			case c.global():
				c.moved += 16 * n // docIDs, components, and accumulators read and written
			case or:
				c.moved += 8*n + 8*ranges // docIDs and components
			case j == 0:
				c.moved += (4+length+12)*n + 8*ranges // the frequency and its place
			case j == 1:
				shortest := uint64(c.set.Src.Lists[c.batch.Query(i)[0].List].Len)
				c.moved += shortest * (8 + 4*uint64(log2(int(n/ranges)+1)))
			}
		}
	}
}
