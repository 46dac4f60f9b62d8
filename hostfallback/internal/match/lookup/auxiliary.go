// Package lookup searches single posting lists for candidates: ascending docIDs, of which it
// keeps the docIDs that the list contains. It builds and keeps the auxiliary tables of its searches.
package lookup

import (
	"fmt"
	"sync"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/work"
)

// Auxiliary holds the tables of the lists of a source. A table is built at its first use; if
// two goroutines build it, one result is dropped. Published tables are immutable. An
// Auxiliary is safe for concurrent use.
type Auxiliary struct {
	Source *plan.Source
	Memory *work.Budget

	lines   PerList[codec.Line]
	locals  PerList[local]
	splits  PerList[lines]
	skipped PerList[skips]
	buckets [6]PerList[Buckets] // HS8 to HS256
	bitsets PerList[codec.Bits]
	autos   PerList[Prepared]
	missing atomic.Int64            // lists that are not prepared
	heads   atomic.Pointer[summary] // of all lists; nil until all are prepared
}

// New returns the tables of src, all of which are still to be built. They take their memory
// from memory.
func New(src *plan.Source, memory *work.Budget) *Auxiliary {
	t := &Auxiliary{Source: src, Memory: memory}
	t.missing.Store(int64(len(src.Lists)))
	return t
}

// Prepared returns the form of list h for plan.Auto, or nil if it is not built.
func (t *Auxiliary) Prepared(h plan.Handle) *Prepared {
	return t.autos.At(h, len(t.Source.Lists)).Load()
}

// Buckets is the table of codec.AppendBuckets with its hash function: bucket h holds the
// docIDs x with x>>Shift = h, at the indexes First[h] to First[h+1]-1.
type Buckets struct {
	First []uint32
	Shift uint8
}

// PerList holds one pointer for each list. It allocates at the first use.
type PerList[T any] struct {
	once sync.Once
	p    []atomic.Pointer[T]
}

// At returns the pointer of list h; lists is the number of lists.
func (p *PerList[T]) At(h plan.Handle, lists int) *atomic.Pointer[T] {
	p.once.Do(func() { p.p = make([]atomic.Pointer[T], lists) })
	return &p.p[h]
}

// get returns the table of list h. If it is missing, get builds a table of size bytes from
// docs, which it decodes if they are nil. Without memory it returns plan.ErrOutOfMemory.
func get[T any](t *Auxiliary, p *PerList[T], h plan.Handle, docs []uint32, size int64, build func(docs []uint32) T) (*T, error) {
	slot := p.At(h, len(t.Source.Lists))
	if got := slot.Load(); got != nil {
		return got, nil
	}
	if !t.Memory.Take(size) {
		return nil, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "host", Op: "auxiliary tables",
			Err: fmt.Errorf("%d bytes for list %d on top of %d pass the limit of %d", size, h, t.Memory.Used(), t.Memory.Limit())}
	}
	if docs == nil {
		var err error
		if docs, err = t.decode(h); err != nil {
			t.Memory.Return(size)
			return nil, err
		}
	}
	built := build(docs)
	if !slot.CompareAndSwap(nil, &built) {
		t.Memory.Return(size)
	}
	return slot.Load(), nil
}

// decode returns the docIDs of list h and checks that they ascend and are below
// Source.Docs.
func (t *Auxiliary) decode(h plan.Handle) ([]uint32, error) {
	l := t.Source.List(h)
	var docs []uint32
	var err error
	if l.Codec == codec.Raw {
		docs, err = l.Words, l.Validate()
	} else {
		docs, err = l.AppendTo(nil)
	}
	if err == nil && len(docs) > 0 && docs[len(docs)-1] >= t.Source.Docs {
		err = &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", docs[len(docs)-1], t.Source.Docs)}
	}
	return docs, Named(h, err)
}

// line returns the regression line of list h (Ao et al. 2011, section 4.3).
func (t *Auxiliary) line(h plan.Handle) (*codec.Line, error) {
	return get(t, &t.lines, h, nil, 32, codec.FitLine)
}

// bucket returns the bucket table of list h under an HS algorithm (section 4.4).
func (t *Auxiliary) bucket(h plan.Handle, hs plan.Algorithm) (*Buckets, error) {
	shift := codec.BucketShift(t.Source.Lists[h].Len, t.Source.Docs, hs.Bucket())
	entries := int64(t.Source.Docs>>shift) + 2
	return get(t, &t.buckets[hs-plan.HS8], h, nil, 4*entries, func(docs []uint32) Buckets {
		return Buckets{First: codec.AppendBuckets(make([]uint32, 0, entries), docs, shift), Shift: shift}
	})
}

// skips returns the skip list over list h.
func (t *Auxiliary) skips(h plan.Handle) (skips, error) {
	size := 4 * int64(t.Source.Lists[h].Len) / (skipFan - 1)
	s, err := get(t, &t.skipped, h, nil, size, newSkips)
	if err != nil {
		return nil, err
	}
	return *s, nil
}

// Denser reports whether list h contains more than one in ratio documents.
func (t *Auxiliary) Denser(h plan.Handle, ratio uint64) bool {
	return uint64(t.Source.Lists[h].Len)*ratio > uint64(t.Source.Docs)
}

// bitset returns the bits of list h over all documents; docs are its docIDs, or nil if they are still to
// be decoded. The bits have ranks if the lists have frequencies: the rank of a docID is the index of its
// frequency.
func (t *Auxiliary) bitset(h plan.Handle, docs []uint32) (*codec.Bits, error) {
	return get(t, &t.bitsets, h, docs, t.bitsetSize(), func(docs []uint32) codec.Bits {
		set := codec.Bits{Len: uint32(len(docs)), Words: t.newBitset(docs)}
		if t.Source.Freqs != nil {
			set.Ranks = codec.AppendRanks(make([]uint32, 0, len(set.Words)/codec.BlockWords), set.Words)
		}
		return set
	})
}

// bitsetSize returns the number of bytes of bitset.
func (t *Auxiliary) bitsetSize() int64 {
	size := 4 * int64(t.bitsetWords())
	if t.Source.Freqs != nil {
		size += size / codec.BlockWords
	}
	return size
}

// bitsetWords returns the number of words of a bitset, whole blocks of codec.Bits.
func (t *Auxiliary) bitsetWords() int {
	const block = 32 * codec.BlockWords
	return int((uint64(t.Source.Docs) + block - 1) / block * codec.BlockWords)
}

// newBitset returns the bits of docs.
func (t *Auxiliary) newBitset(docs []uint32) []uint32 {
	set := make([]uint32, t.bitsetWords())
	for _, x := range docs {
		set[x>>5] |= 1 << (x & 31)
	}
	return set
}

// Plain returns the docIDs of list h if they are in memory without encoding, else nil.
func (t *Auxiliary) Plain(h plan.Handle) []uint32 {
	if l := t.Source.List(h); l.Codec == codec.Raw {
		return l.Words
	}
	if auto := t.Prepared(h); auto != nil {
		return auto.Docs
	}
	return nil
}
