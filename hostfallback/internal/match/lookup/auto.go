package lookup

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/work"
)

// autoTable is what Auto keeps of one list. Which of it there is depends on the
// list's shape and on the room that is left:
//
//   - dense lists have bits: a probe is one load, and two such lists can meet word
//     by word (Bitset lists bring theirs);
//   - the others have a sieve, one bit for each of 8 to 16 times as many classes
//     of docIDs as they have docIDs, which turns away nearly all candidates that
//     the list has not, and small buckets for those that pass;
//   - compressed lists also have a plain copy, because in a batch nearly every
//     segment would be decoded again and again;
//   - lists whose docIDs lie close together have their words as well;
//   - lists of up to one segment have neither bits nor a sieve.
type Prepared struct {
	Interval         // from the first docID to the last
	Classes   uint64 // see classes
	Docs      []uint32
	Bits      []uint32
	Words     Words
	sieve     []uint32
	bucket    Buckets
	Scattered bool
}

// autoBucket is the mean size of Auto's buckets: few candidates get there, so a
// short search is worth more than a small table.
const autoBucket = 4

// denseLead is the density, as 1/denseLead, from which on two lists with bits
// meet word by word: that takes less time then than looking up each candidate.
const DenseLead = 16

// wordsPay tells whether as many candidates are better looked for in the list's
// words than otherwise: a word takes as long as four of them in buckets, as eight
// or so in bits, or as 16 words of a bitset.
func (t *Prepared) wordsPay(candidates int) bool {
	n := len(t.Words.Index)
	if t.Bits != nil {
		return n > 0 && 16*n < min(candidates, len(t.Bits)/2)
	}
	return n > 0 && 4*n < candidates
}

// auto returns the table of list h.
func (t *Auxiliary) Prepare(h plan.Handle) (*Prepared, error) {
	slot := t.autos.At(h, len(t.Source.Lists))
	if got := slot.Load(); got != nil {
		return got, nil
	}
	built, size, err := t.buildAuto(h)
	if err != nil {
		return nil, err
	}
	if !slot.CompareAndSwap(nil, built) {
		t.Memory.Return(size)
	}
	return slot.Load(), nil
}

// buildAuto makes the best table for list h that there is room for, and says how
// many bytes of it were reserved. It reads the whole list, so Auto sees no
// corrupt list afterwards.
func (t *Auxiliary) buildAuto(h plan.Handle) (table *Prepared, size int64, err error) {
	l := t.Source.List(h)
	docs, err := t.decode(h)
	if err != nil {
		return nil, 0, err
	}
	table = &Prepared{Interval: Interval{1, 0}}
	if len(docs) > 0 {
		table.Interval = Interval{docs[0], docs[len(docs)-1]}
		table.Classes = classes(docs)
	}
	take := func(bytes int) bool {
		if !t.Memory.Take(int64(bytes)) {
			return false
		}
		size += int64(bytes)
		return true
	}
	if l.Codec == codec.Bitset {
		view, err := l.Bits()
		table.Bits = view.Words
		return table, 0, Named(h, err)
	}
	long := l.Len > codec.SegmentLen
	table.Scattered = long && scattered(docs)
	if long && t.Denser(h, plan.DenseRatio) {
		if bits, err := t.bitset(h, docs); err == nil { // it keeps its own books
			table.Bits = *bits
		} else if !errors.Is(err, plan.ErrOutOfMemory) {
			return nil, 0, err
		}
	}
	if long && table.Bits == nil {
		shift := codec.BucketShift(l.Len, t.Source.Docs, autoBucket)
		sieve := 1 << bits.Len32(l.Len/4) // words: 8 to 16 bits a docID
		entries := int(docs[len(docs)-1]>>shift) + 2
		if !take(4 * (sieve + entries)) {
			return table, size, nil
		}
		table.sieve = newSieve(docs, sieve)
		table.bucket = Buckets{First: codec.AppendBuckets(make([]uint32, 0, entries), docs, shift), Shift: shift}
	}
	if n := countWords(docs); n > 0 && n*wordDocs <= len(docs) && take(12*n) {
		table.Words = newWords(docs, n)
	}
	if l.Codec == codec.Raw || !(long && t.Denser(h, DenseLead)) && take(4*len(docs)) {
		table.Docs = docs
	}
	return table, size, nil
}

// stretch is the docIDs from first to last, none where first is above last.
type Interval struct{ First, Last uint32 }

var Everywhere = Interval{0, math.MaxUint32}

// and is what s and t have in common.
func (s Interval) Intersect(t Interval) Interval {
	return Interval{max(s.First, t.First), min(s.Last, t.Last)}
}

// classes has a bit for each of 64 classes of docIDs, set if docs have one of that
// class: lists without a common class have no common docID. That spares most
// queries about the shortest lists all else.
func classes(docs []uint32) (set uint64) {
	for _, x := range docs {
		if set |= 1 << (x * 0x9e3779b1 >> 26); set == ^uint64(0) {
			break
		}
	}
	return set
}

// cut is the part of ascending docs that lies in s.
func (s Interval) Cut(docs []uint32) []uint32 {
	if len(docs) == 0 {
		return docs
	}
	if docs[0] < s.First {
		docs = docs[LowerBound(docs, s.First):]
	}
	if len(docs) > 0 && docs[len(docs)-1] > s.Last {
		docs = docs[:LowerBound(docs, s.Last+1)]
	}
	return docs
}

// scattered tells whether docs leave two thirds of the cache lines of a bitset
// between the first and the last of them alone.
func scattered(docs []uint32) bool {
	const line = 512 // bits
	hit, last := uint32(1), docs[0]/line
	for _, x := range docs {
		if x/line != last {
			last = x / line
			hit++
		}
	}
	return hit < (last-docs[0]/line)/3
}

// newSieve gives each docID one bit in as many words, a power of two: docIDs
// fall into the same class when they agree in their low bits, so that neighbours,
// which often belong together, do not.
func newSieve(docs []uint32, words int) []uint32 {
	sieve := make([]uint32, words)
	for _, x := range docs {
		sieve[int(x>>5)&(words-1)] |= 1 << (x & 31)
	}
	return sieve
}

// filterSieve copies the candidates whose bit is set to dst and returns how many
// there are.
func filterSieve(dst, cand, sieve []uint32) int {
	n := 0
	mask := len(sieve) - 1
	for _, x := range cand {
		if i := int(x>>5) & mask; i < len(sieve) { // always; it saves a panic path
			dst[n] = x
			n += int(sieve[i] >> (x & 31) & 1)
		}
	}
	return n
}

// prepare builds the tables of Auto for every list, those of dense lists first:
// they gain most. A list that is corrupt goes without; a query that names it
// will say so.
func (t *Auxiliary) PrepareAll(ctx context.Context, threads int) error {
	for _, dense := range []bool{true, false} {
		err := work.Parallel(ctx, threads, len(t.Source.Lists), func(_, i int) error {
			if t.Denser(plan.Handle(i), plan.DenseRatio) != dense {
				return nil
			}
			if _, err := t.Prepare(plan.Handle(i)); !errors.Is(err, codec.ErrCorrupt) {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
