package hdl

import (
	"context"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
)

// nameTable finds documents by their names: a hash table with about bucketSize documents in a bucket, and a byte of
// the hash of each name. It takes 5.5 bytes a document.
type nameTable struct {
	starts []uint32 // where the documents of each bucket begin, then their number
	docs   []uint32 // by bucket, ascending
	marks  []byte   // lowest byte of the hash of each of docs
}

const bucketSize = 8

// bucket returns the number of the bucket of a hash.
func (t *nameTable) bucket(hash uint32) int {
	high, _ := bits.Mul32(hash, uint32(len(t.starts)-1))
	return int(high)
}

func hashName(name []byte) uint32 { return uint32(xxhash.Sum64(name)) }

// WithName yields the documents with a name, ascending. The first call for a file reads all names, on all cores, and keeps
// 5.5 bytes a document; later calls take microseconds. Damage is a *CorruptError.
func (f *File) WithName(ctx context.Context, name string) iter.Seq2[uint32, error] {
	return func(yield func(uint32, error) bool) {
		t, err := f.namesTable(ctx)
		if err != nil {
			yield(0, err)
			return
		}
		hash := hashName([]byte(name))
		b := t.bucket(hash)
		for i := t.starts[b]; i < t.starts[b+1]; i++ {
			if t.marks[i] != byte(hash) {
				continue
			}
			other, err := f.DocName(t.docs[i])
			if (err != nil || other == name) && !yield(t.docs[i], err) || err != nil {
				return
			}
		}
	}
}

// namesTable returns the table of names, which the first call makes.
func (f *File) namesTable(ctx context.Context) (*nameTable, error) {
	if t := f.named.Load(); t != nil {
		return t, nil
	}
	f.naming.Lock()
	defer f.naming.Unlock()
	if t := f.named.Load(); t != nil {
		return t, nil
	}
	n := f.header.docs
	t := &nameTable{make([]uint32, n/bucketSize+2), make([]uint32, n), make([]byte, n)}
	counts := make([]atomic.Uint32, len(t.starts))
	hashes := make([]uint32, n)
	err := container.ParallelRanges(uint64(n), checkRange, func(from, end uint64) (err error) {
		defer mapped.Catch(mapped.Watch(), &err)
		for d, name := range f.eachName(uint32(from)) {
			if uint64(d) == end {
				break
			}
			hashes[d] = hashName(name)
			counts[t.bucket(hashes[d])].Add(1)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	next := uint32(0)
	for b := range counts {
		t.starts[b] = next
		next += counts[b].Load()
	}
	at := slices.Clone(t.starts)
	for d, hash := range hashes {
		b := t.bucket(hash)
		t.docs[at[b]], t.marks[at[b]] = uint32(d), byte(hash)
		at[b]++
	}
	f.named.Store(t)
	return t, nil
}
