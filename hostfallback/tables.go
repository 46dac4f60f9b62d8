package hostfallback

import (
	"fmt"
	"sync"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
)

// tables holds the auxiliary tables of a store. Each is built when a query first
// needs it, by whichever goroutine comes first; when two build the same one, one
// result is dropped. A table is never changed once it can be seen.
type tables struct {
	src   *plan.Source
	limit int64
	used  atomic.Int64 // bytes of tables in use

	lines   perList[codec.Line]
	locals  perList[local]
	skipped perList[skips]
	buckets [6]perList[buckets] // HS8 to HS256
	bitsets perList[[]uint32]
	autos   perList[autoTable]
	norms   norms
}

// buckets is the table of codec.AppendBuckets with its hash function.
type buckets struct {
	first []uint32
	shift uint8
}

// perList has room for one *T a list, once the first is asked for.
type perList[T any] struct {
	once sync.Once
	p    []atomic.Pointer[T]
}

func (p *perList[T]) at(h plan.Handle, lists int) *atomic.Pointer[T] {
	p.once.Do(func() { p.p = make([]atomic.Pointer[T], lists) })
	return &p.p[h]
}

// reserve takes size bytes of the limit, if they are left.
func (t *tables) reserve(size int64) bool {
	if t.used.Add(size) <= t.limit {
		return true
	}
	t.used.Add(-size)
	return false
}

// get returns the table of list h and builds it if need be, from the list's
// docIDs, which it decodes where they are nil. The size is what the table will
// occupy, in bytes.
func get[T any](t *tables, p *perList[T], h plan.Handle, docs []uint32, size int64, build func(docs []uint32) T) (*T, error) {
	slot := p.at(h, len(t.src.Lists))
	if got := slot.Load(); got != nil {
		return got, nil
	}
	if !t.reserve(size) {
		return nil, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "host", Op: "auxiliary tables",
			Err: fmt.Errorf("%d bytes for list %d on top of %d pass the limit of %d", size, h, t.used.Load(), t.limit)}
	}
	if docs == nil {
		var err error
		if docs, err = t.decode(h); err != nil {
			t.used.Add(-size)
			return nil, err
		}
	}
	built := build(docs)
	if !slot.CompareAndSwap(nil, &built) {
		t.used.Add(-size)
	}
	return slot.Load(), nil
}

// decode returns the docIDs of list h, checked: ascending, and inside the
// universe.
func (t *tables) decode(h plan.Handle) ([]uint32, error) {
	l := t.src.List(h)
	var docs []uint32
	var err error
	if l.Codec == codec.Raw {
		docs, err = l.Words, l.Validate()
	} else {
		docs, err = l.AppendTo(nil)
	}
	if err == nil && len(docs) > 0 && docs[len(docs)-1] >= t.src.Docs {
		err = &codec.CorruptError{Codec: l.Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", docs[len(docs)-1], t.src.Docs)}
	}
	return docs, named(h, err)
}

// line returns the regression line of list h (Ao et al. 2011, section 4.3).
func (t *tables) line(h plan.Handle) (*codec.Line, error) {
	return get(t, &t.lines, h, nil, 32, codec.FitLine)
}

// bucket returns the bucket table of list h under an HS algorithm (section 4.4).
func (t *tables) bucket(h plan.Handle, hs plan.Algorithm) (*buckets, error) {
	shift := codec.BucketShift(t.src.Lists[h].Len, t.src.Docs, hs.Bucket())
	entries := int64(t.src.Docs>>shift) + 2
	return get(t, &t.buckets[hs-plan.HS8], h, nil, 4*entries, func(docs []uint32) buckets {
		return buckets{first: codec.AppendBuckets(make([]uint32, 0, entries), docs, shift), shift: shift}
	})
}

// skips returns the skip list over list h.
func (t *tables) skips(h plan.Handle) (skips, error) {
	size := 4 * int64(t.src.Lists[h].Len) / (skipFan - 1)
	s, err := get(t, &t.skipped, h, nil, size, newSkips)
	if err != nil {
		return nil, err
	}
	return *s, nil
}

// denser tells whether list h has more than one in ratio documents.
func (t *tables) denser(h plan.Handle, ratio uint64) bool {
	return uint64(t.src.Lists[h].Len)*ratio > uint64(t.src.Docs)
}

// bitset returns the bits of list h over the whole universe; docs are its docIDs
// or nil.
func (t *tables) bitset(h plan.Handle, docs []uint32) (*[]uint32, error) {
	return get(t, &t.bitsets, h, docs, t.bitsetSize(), t.newBitset)
}

// bitsetSize is the size of a bitset in bytes, whole words of 64 bits.
func (t *tables) bitsetSize() int64 { return 8 * ((int64(t.src.Docs) + 63) / 64) }

func (t *tables) newBitset(docs []uint32) []uint32 {
	set := make([]uint32, t.bitsetSize()/4)
	for _, x := range docs {
		set[x>>5] |= 1 << (x & 31)
	}
	return set
}
