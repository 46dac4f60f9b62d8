package rank

import (
	"cmp"
	"context"
	"math"
	"math/bits"

	"heddle/engine/plan"
)

// The blocks of block-max pruning (Mallia, Suel and Tonellotto 2024).
const (
	blockShift  = 5 // documents of a block
	blockDocs   = 1 << blockShift
	levelShift  = 2  // an impact of 8 bits in units of a level
	sparseRatio = 4  // a sparse list has fewer postings than blocks/sparseRatio
	baseShift   = 6  // entries with a common base
	blockBits   = 24 // bits of the number of a block
)

// blocks holds the postings of a list with impacts of 8 bits by block. A dense list has an entry for each block,
// a sparse list one for each block with postings. The level of a block is its greatest impact in units of
// 1<<levelShift, rounded up.
type blocks struct {
	levels []uint64 // levels of eight blocks, one a byte; nil for a sparse list
	places []uint32 // block<<8 | level of each entry, and a greater value at the end; nil for a dense list

	// The postings of entry i are those from start(i) to start(i+1). A posting is the offset of its
	// document in the block<<8 | impact. Postings are in the order of documents.
	bases    []uint32
	starts   []uint16
	postings []uint16

	floors [floorLevels]uint32 // as in table, of impacts
}

// noBlocks stands for a list that has no blocks, because there is no memory for them, or because its postings
// do not fit.
var noBlocks = new(blocks)

// blockCount is the number of blocks of docs documents.
func blockCount(docs uint32) int { return int(docs>>blockShift) + 1 }

// start returns the index of the first posting of entry i.
func (b *blocks) start(i int) int { return int(b.bases[i>>baseShift]) + int(b.starts[i]) }

// blocksBytes returns the size of the blocks of a list of n postings, at most this size for a sparse one.
func blocksBytes(n, docs uint32) int64 {
	entries, size := int64(n), int64(4)
	if count := blockCount(docs); int(n) >= count/sparseRatio {
		entries, size = int64(count), 1
	}
	return 2*int64(n) + (size+2)*(entries+8) + entries>>baseShift*4
}

// newBlocks reads a list. It returns nil for a list whose postings do not fit: with documents that do not ascend,
// or impacts of more than 8 bits.
func newBlocks(ctx context.Context, l *reader, docs uint32) (*blocks, error) {
	count := blockCount(docs)
	b := &blocks{postings: make([]uint16, 0, l.length)}
	dense := l.length >= count/sparseRatio
	if dense {
		b.levels = make([]uint64, count/8+1)
		b.starts, b.bases = make([]uint16, 0, count+1), make([]uint32, 0, count>>baseShift+1)
	} else {
		b.starts, b.places = make([]uint16, 0, l.length+1), make([]uint32, 0, l.length+1)
	}
	var counts [256]uint32 // postings by impact
	last, block := int64(-1), uint32(math.MaxUint32)
	for more := len(l.docs) > 0; more; {
		var part, tfs []uint32
		var err error
		if part, tfs, more, err = l.take(math.MaxUint32); err != nil {
			return nil, err
		}
		for i, x := range part {
			impact := tfs[i] >> 24
			if int64(x) <= last || impact<<24 != tfs[i] {
				return nil, nil
			}
			last = int64(x)
			counts[impact]++
			here := x >> blockShift
			level := (impact + 1<<levelShift - 1) >> levelShift
			if dense {
				for len(b.starts) <= int(here) {
					b.begin()
				}
				at, shift := here/8, here%8*8
				if old := uint32(b.levels[at] >> shift & 255); level > old {
					b.levels[at] += uint64(level-old) << shift
				}
			} else {
				if here != block {
					block = here
					b.begin()
					b.places = append(b.places, here<<8)
				}
				e := &b.places[len(b.places)-1]
				*e = max(*e, here<<8|level)
			}
			b.postings = append(b.postings, uint16(x%blockDocs<<8|impact))
		}
		if err := cmp.Or(ctx.Err(), l.decode()); err != nil {
			return nil, err
		}
	}
	if !dense {
		b.places = append(b.places, math.MaxUint32)
	}
	for b.begin(); dense && len(b.starts) <= count; b.begin() {
	}
	total, i := uint64(0), 0
	for impact := uint32(255); impact > 0; impact-- {
		total += uint64(counts[impact])
		for ; i < len(b.floors) && total >= 1<<i; i++ {
			b.floors[i] = impact
		}
	}
	return b, nil
}

// begin begins an entry behind the postings.
func (b *blocks) begin() {
	if len(b.starts)>>baseShift == len(b.bases) {
		b.bases = append(b.bases, uint32(len(b.postings)))
	}
	b.starts = append(b.starts, uint16(uint32(len(b.postings))-b.bases[len(b.bases)-1]))
}

// floor returns an impact that at least k documents reach, 0 if the list is shorter.
func (b *blocks) floor(k int) uint32 { return b.floors[bits.Len(uint(k-1))] }

// addBlocks makes the blocks of list h, or noBlocks.
func (t *tables) addBlocks(ctx context.Context, h plan.Handle) error {
	aux, memory := t.norms.aux, t.norms.memory
	slot := t.blocks.At(h, len(aux.Source.Lists))
	var c claim
	var built *blocks
	if c.take(memory, blocksBytes(aux.Source.Lists[h].Len, aux.Source.Docs)) {
		l := new(reader)
		err := l.open(aux, &t.components, plan.Term{List: h, Weight: 1}, nil, 0)
		if err == nil {
			built, err = newBlocks(ctx, l, aux.Source.Docs)
		}
		if err != nil {
			c.free(memory)
			return err
		}
	}
	if !slot.CompareAndSwap(nil, cmp.Or(built, noBlocks)) || built == nil { // another batch was faster
		c.free(memory)
		return nil
	}
	t.norms.mu.Lock()
	t.used.size += c.size
	t.norms.mu.Unlock()
	return nil
}
