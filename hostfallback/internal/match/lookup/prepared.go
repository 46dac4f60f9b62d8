package lookup

import (
	"errors"
	"math/bits"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/docset"
)

// Prepared is the form in which plan.Auto keeps one list. Its parts depend on the shape of
// the list and on the memory left:
//
//   - Dense lists have Bits. A probe is one load, and two such lists can be joined word by
//     word. Bitset lists use their own words. Lists with frequencies have Ranks, too.
//   - Sparser lists have a sieve of 8 to 16 bits for each docID, which rejects nearly all
//     candidates that the list lacks, and small buckets for the candidates that pass.
//   - Compressed lists also have a plain copy, because a batch would decode nearly every
//     segment several times.
//   - Clustered lists also have Words, and Runs if their docIDs follow each other.
//   - Lists of at most one segment have Runs, but neither Bits nor a sieve.
type Prepared struct {
	docset.Interval // from the first docID to the last
	// A search for a few docIDs needs these, which lie together:
	Docs   []uint32
	Bits   []uint32
	sieve  []uint32
	bucket Buckets

	Ranks     []uint32 // number of bits set before each block of Bits, as in codec.Bits; nil without frequencies
	Words     docset.Words
	Runs      docset.Runs
	Scattered bool // the docIDs hit few cache lines of a bitset
	Head
}

// autoBucket is the mean size of the buckets.
const autoBucket = 4

// DenseJoin is the least density, as 1/DenseJoin, at which joining two lists with bits word
// by word takes less time than looking up each candidate.
const DenseJoin = 16

// wordsPay reports whether Words is the fastest way to look up the given number of
// candidates. One word takes as long as four candidates in buckets, about eight in bits, or
// 16 words of a bitset.
func (t *Prepared) wordsPay(candidates int) bool {
	n := len(t.Words.Index)
	if t.Bits != nil {
		return n > 0 && 16*n < min(candidates, len(t.Bits)/2)
	}
	return n > 0 && 4*n < candidates
}

// fewRuns reports whether the list is read as Runs in less time than in any other form. One run
// takes as long as 16 words of a bitset, or two of Words. Other forms must be opened first. length is the
// number of docIDs.
func (t *Prepared) fewRuns(length uint32) bool {
	n := len(t.Runs)
	switch {
	case n <= 4:
		return n > 0
	case n*docset.RunDocs > int(length):
		return false
	case t.Bits != nil && 32*n > len(t.Bits):
		return false
	}
	return len(t.Words.Index) == 0 || 2*n < len(t.Words.Index)
}

// Prepare returns the form of list h for plan.Auto, which it builds if it is missing.
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
	} else if t.missing.Add(-1) == 0 {
		t.keepHeads()
	}
	return slot.Load(), nil
}

// buildAuto returns the best form of list h that fits into memory and the number of bytes
// that it has reserved. It reads the whole list, so a prepared list is not corrupt.
func (t *Auxiliary) buildAuto(h plan.Handle) (table *Prepared, size int64, err error) {
	l := t.Source.List(h)
	docs, err := t.decode(h)
	if err != nil {
		return nil, 0, err
	}
	table = &Prepared{Interval: docset.IntervalOf(docs), Head: newHead(docs, t.Source.Docs)}
	take := func(bytes int) bool {
		if !t.Memory.Take(int64(bytes)) {
			return false
		}
		size += int64(bytes)
		return true
	}
	long := l.Len > codec.SegmentLen
	if n := docset.CountRuns(docs); n > 0 && (!long || n*docset.RunDocs <= len(docs)) && take(8*n) {
		table.Runs = docset.NewRuns(docs, n)
	}
	if l.Codec == codec.Bitset {
		view, err := l.Bits()
		table.Bits, table.Ranks = view.Words, view.Ranks
		return table, size, Named(h, err)
	}
	table.Scattered = long && scattered(docs)
	if t.dense(h) {
		if bits, err := t.bitset(h, docs); err == nil { // it reserves its own memory
			table.Bits, table.Ranks = bits.Words, bits.Ranks
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
	if n := docset.CountWords(docs); n > 0 && n*docset.WordDocs <= len(docs) && take(12*n) {
		table.Words = docset.NewWords(docs, n)
	}
	if l.Codec == codec.Raw || !(long && t.Denser(h, DenseJoin)) && take(4*len(docs)) {
		table.Docs = docs
	}
	return table, size, nil
}

// FilterFew copies the candidates that the list contains to the front of dst and returns their number.
// dst is at least as long as cand and may be cand. The list has Bits or Docs.
func (t *Prepared) FilterFew(dst, cand []uint32) (n int) {
	switch {
	case t.Bits != nil:
		return filterBits(dst, cand, t.Bits)
	case t.sieve == nil:
		for at, docs := 0, t.Docs; len(cand) > 0; cand = cand[1:] {
			if at += docset.Near(docs[at:], cand[0]); at == len(docs) {
				break
			}
			dst[n] = cand[0]
			n += docset.Equal(docs[at], cand[0])
		}
		return n
	}
	return filterBuckets(dst, dst[:filterSieve(dst, cand, t.sieve)], t.Docs, &t.bucket)
}

// dense reports whether list h gets Bits that its codec does not have.
func (t *Auxiliary) dense(h plan.Handle) bool {
	l := &t.Source.Lists[h]
	return l.Len > codec.SegmentLen && l.Codec != codec.Bitset && t.Denser(h, plan.DenseRatio)
}
