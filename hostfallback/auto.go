package hostfallback

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
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
type autoTable struct {
	stretch          // from the first docID to the last
	classes   uint64 // see classes
	docs      []uint32
	bits      []uint32
	words     words
	sieve     []uint32
	bucket    buckets
	scattered bool
}

// autoBucket is the mean size of Auto's buckets: few candidates get there, so a
// short search is worth more than a small table.
const autoBucket = 4

// wordsPay tells whether as many candidates are better looked for in the list's
// words than otherwise: a word takes as long as four of them in buckets, as eight
// or so in bits, or as 16 words of a bitset.
func (t *autoTable) wordsPay(candidates int) bool {
	n := len(t.words.index)
	if t.bits != nil {
		return n > 0 && 16*n < min(candidates, len(t.bits)/2)
	}
	return n > 0 && 4*n < candidates
}

// auto returns the table of list h.
func (t *tables) auto(h plan.Handle) (*autoTable, error) {
	slot := t.autos.at(h, len(t.src.Lists))
	if got := slot.Load(); got != nil {
		return got, nil
	}
	built, size, err := t.buildAuto(h)
	if err != nil {
		return nil, err
	}
	if !slot.CompareAndSwap(nil, built) {
		t.used.Add(-size)
	}
	return slot.Load(), nil
}

// buildAuto makes the best table for list h that there is room for, and says how
// many bytes of it were reserved. It reads the whole list, so Auto sees no
// corrupt list afterwards.
func (t *tables) buildAuto(h plan.Handle) (table *autoTable, size int64, err error) {
	l := t.src.List(h)
	docs, err := t.decode(h)
	if err != nil {
		return nil, 0, err
	}
	table = &autoTable{stretch: stretch{1, 0}}
	if len(docs) > 0 {
		table.stretch = stretch{docs[0], docs[len(docs)-1]}
		table.classes = classes(docs)
	}
	take := func(bytes int) bool {
		if !t.reserve(int64(bytes)) {
			return false
		}
		size += int64(bytes)
		return true
	}
	if l.Codec == codec.Bitset {
		view, err := l.Bits()
		table.bits = view.Words
		return table, 0, named(h, err)
	}
	long := l.Len > codec.SegmentLen
	table.scattered = long && scattered(docs)
	if long && t.denser(h, plan.DenseRatio) {
		if bits, err := t.bitset(h, docs); err == nil { // it keeps its own books
			table.bits = *bits
		} else if !errors.Is(err, plan.ErrOutOfMemory) {
			return nil, 0, err
		}
	}
	if long && table.bits == nil {
		shift := codec.BucketShift(l.Len, t.src.Docs, autoBucket)
		sieve := 1 << bits.Len32(l.Len/4) // words: 8 to 16 bits a docID
		entries := int(docs[len(docs)-1]>>shift) + 2
		if !take(4 * (sieve + entries)) {
			return table, size, nil
		}
		table.sieve = newSieve(docs, sieve)
		table.bucket = buckets{first: codec.AppendBuckets(make([]uint32, 0, entries), docs, shift), shift: shift}
	}
	if n := countWords(docs); n > 0 && n*wordDocs <= len(docs) && take(12*n) {
		table.words = newWords(docs, n)
	}
	if l.Codec == codec.Raw || !(long && t.denser(h, denseLead)) && take(4*len(docs)) {
		table.docs = docs
	}
	return table, size, nil
}

// stretch is the docIDs from first to last, none where first is above last.
type stretch struct{ first, last uint32 }

var everywhere = stretch{0, math.MaxUint32}

// and is what s and t have in common.
func (s stretch) and(t stretch) stretch {
	return stretch{max(s.first, t.first), min(s.last, t.last)}
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
func (s stretch) cut(docs []uint32) []uint32 {
	if len(docs) == 0 {
		return docs
	}
	if docs[0] < s.first {
		docs = docs[lowerBound(docs, s.first):]
	}
	if len(docs) > 0 && docs[len(docs)-1] > s.last {
		docs = docs[:lowerBound(docs, s.last+1)]
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
func (s *store) prepare(ctx context.Context) error {
	for _, dense := range []bool{true, false} {
		err := parallel(ctx, s.opt.Threads, len(s.src.Lists), func(i int) error {
			if s.tables.denser(plan.Handle(i), plan.DenseRatio) != dense {
				return nil
			}
			if _, err := s.tables.auto(plan.Handle(i)); !errors.Is(err, codec.ErrCorrupt) {
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
