package match

import (
	"cmp"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/internal/match/lookup"
)

// boardChunks is the number of chunks of a board: 4 M documents, whose bits take 512 KiB and stay
// in the second-level cache.
const boardChunks = 128

// boardShare decides between a board and a union. A board saves time if the lists together have more
// docIDs than one in boardShare documents: clearing and counting its bits then costs less than sorting
// the docIDs.
const boardShare = 2048

// board computes the OR of lists with many docIDs in ranges of boardChunks chunks. In each range it sets
// the bits of one list after another. A union, in contrast, reads all lists in each chunk.
//
// A board belongs to one goroutine and is reused.
type board struct {
	first  uint64                           // the document of the first bit
	bits   [boardChunks * chunkWords]uint64 // bit i is document first+i; undefined in a full chunk
	full   [boardChunks]bool                // by chunk: the dense lists have all its documents
	runs   []docset.Runs                    // lists that are short as runs; they are read after the dense lists
	spans  []span                           // all other lists
	dense  []*span                          // the spans with bits or runs, the longest list first
	sparse []*span                          // the spans with docIDs or words
	gaps   docset.Runs                      // the documents of the chunks that dense lists do not fill
}

// fillShare is a mean number of lists that contain a document. From it on, long lists with runs are read first,
// as dense lists: they probably have all documents of some chunks, in which no other list is read.
const fillShare = 2

// total returns the number of docIDs in lists.
func total(src *plan.Source, lists []plan.Handle) (n uint64) {
	for _, h := range lists {
		n += uint64(src.Lists[h].Len)
	}
	return n
}

// pays reports whether a board answers the OR of lists in less time than a union.
func (b *board) pays(src *plan.Source, lists []plan.Handle) bool {
	return total(src, lists)*boardShare >= uint64(src.Docs)
}

// open positions b at document from in lists.
func (b *board) open(aux *lookup.Auxiliary, lists []plan.Handle, from uint64) error {
	b.runs, b.dense, b.sparse = b.runs[:0], b.dense[:0], b.sparse[:0]
	fills := total(aux.Source, lists) >= fillShare*uint64(aux.Source.Docs)
	n := 0
	for _, h := range lists {
		if runs, few := aux.RunsOf(h); few && !(fills && aux.Denser(h, plan.DenseRatio)) {
			b.runs = append(b.runs, runs)
			continue
		}
		if n == len(b.spans) {
			b.spans = append(b.spans, span{})
		}
		p := &b.spans[n]
		n++
		if err := p.open(aux, h); err != nil {
			return err
		}
		if p.bits == nil && from > 0 {
			if err := p.seek(uint32(from)); err != nil {
				return err
			}
		}
	}
	for i := range b.spans[:n] {
		if p := &b.spans[i]; p.bits != nil || p.runs != nil {
			b.dense = append(b.dense, p)
		} else {
			b.sparse = append(b.sparse, p)
		}
	}
	// Long lists fill chunks, which spares the other lists.
	slices.SortFunc(b.dense, func(x, y *span) int { return cmp.Compare(y.listLen, x.listLen) })
	return nil
}

// unite appends the docIDs of the union of lists among the documents from from to to-1 to w.docs
// unless the batch is CountOnly, and returns their number. from is a multiple of chunkDocs.
func (b *board) unite(w *worker, j *batch, lists []plan.Handle, from, to uint64, f *filter.Set) (count int, err error) {
	if err := b.open(j.aux, lists, from); err != nil {
		return 0, err
	}
	for ; from < to; from += boardChunks * chunkDocs {
		b.first = from
		if err := j.ended(); err != nil {
			return 0, err
		}
		end := min(from+boardChunks*chunkDocs, to)
		if err := b.fill(from, end); err != nil {
			return 0, err
		}
		for base := from; base < end; base += chunkDocs {
			bits := b.chunk(base, end)
			if b.full[(base-b.first)/chunkDocs] {
				if f == nil {
					count += w.putRun(j, uint32(base), int(min(end-base, chunkDocs)))
					continue
				}
				for i := range bits {
					bits[i] = ^uint64(0)
				}
			}
			if n := (end - base) % 64; end-base < chunkDocs && n > 0 {
				bits[len(bits)-1] &= 1<<n - 1 // a full chunk or a corrupt list sets bits behind the last document
			}
			count += w.put(j, chunk{base: uint32(base), bits: bits}.within(f))
		}
	}
	return count, nil
}

// chunk returns the bits of the chunk at base, up to document end.
func (b *board) chunk(base, end uint64) []uint64 {
	at := (base - b.first) / 64
	return b.bits[at : at+(min(end-base, chunkDocs)+63)/64]
}

// fill sets b to the documents of the lists from from to end-1. A chunk that is full needs no
// further list.
func (b *board) fill(from, end uint64) error {
	b.gaps = b.gaps[:0]
	for base := from; base < end; base += chunkDocs {
		bits, last := b.chunk(base, end), min(base+chunkDocs, end)-1
		any, full := orDense(bits, b.dense, uint32(base), uint32(last))
		if !any {
			clear(bits)
		} else if !full && last%64 < 63 {
			full = allBut(bits, 63-last%64)
		}
		b.full[(base-b.first)/chunkDocs] = full
		switch n := len(b.gaps); {
		case full:
		case n > 0 && uint64(b.gaps[n-1].Last)+1 == base:
			b.gaps[n-1].Last = uint32(last)
		default:
			b.gaps = append(b.gaps, docset.Run{First: uint32(base), Last: uint32(last)})
		}
	}
	if len(b.gaps) == 0 {
		return nil
	}
	for _, runs := range b.runs {
		runs.Or(b.bits[:], runs.Find(uint32(from)), uint32(from), uint32(end-1))
	}
	for _, p := range b.sparse {
		for _, gap := range b.gaps {
			if x, ok := p.next(); !ok || x > gap.Last {
				continue
			} else if x < gap.First {
				if err := p.seek(gap.First); err != nil {
					return err
				}
			}
			if err := b.addSparse(p, gap.Last); err != nil {
				return err
			}
		}
	}
	return nil
}

// allBut reports whether all bits are set, apart from the last n bits, at most 63, which do not count.
func allBut(bits []uint64, n uint64) bool {
	for _, x := range bits[:len(bits)-1] {
		if x != ^uint64(0) {
			return false
		}
	}
	return bits[len(bits)-1]<<n == ^uint64(0)<<n
}

// addSparse adds the docIDs of p up to last and moves behind them.
func (b *board) addSparse(p *span, last uint32) error {
	first := uint32(b.first / 64)
	if p.words != nil {
		index := p.words.Index[p.at:]
		set := p.words.Bits[p.at:][:len(index)]
		for i, k := range index {
			if k > last/64 {
				p.at += i
				return nil
			}
			b.bits[(k-first)%uint32(len(b.bits))] |= set[i]
		}
		p.at += len(index)
		return nil
	}
	for {
		docs, more := p.take(last)
		for _, x := range docs {
			b.bits[(x/64-first)%uint32(len(b.bits))] |= 1 << (x % 64)
		}
		if !more {
			return nil
		}
		if err := p.decode(); err != nil {
			return err
		}
	}
}
