package build

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/index/build/gather"
)

// findDuplicates counts the documents that have the name of an earlier document, by the
// hashes of their names. It takes 8 bytes of memory per document. Where these exceed the limit,
// it reads the names several times, for a part of the hashes each.
func (b *builder) findDuplicates() error {
	passes := 1 + 8*b.docs/max(b.limit, 1<<20)
	hashes := make([]uint64, 0, b.docs/passes)
	var twice []uint64
	for pass := range passes {
		hashes = hashes[:0]
		err := b.eachName(func(_ uint64, name []byte) bool {
			if hash := xxhash.Sum64(name); len(name) > 0 && hash%passes == pass {
				hashes = append(hashes, hash)
			}
			return true
		})
		if err != nil {
			return err
		}
		slices.Sort(hashes)
		for i := 1; i < len(hashes); i++ {
			if hashes[i] == hashes[i-1] {
				b.sum.Duplicates++
				if len(twice) == 0 || twice[len(twice)-1] != hashes[i] {
					twice = append(twice, hashes[i])
				}
			}
		}
	}
	slices.Sort(twice)
	if len(twice) == 0 {
		return nil
	}
	met := make([]bool, len(twice))
	return b.eachName(func(doc uint64, name []byte) bool {
		i, found := slices.BinarySearch(twice, xxhash.Sum64(name))
		if !found || len(name) == 0 {
			return true
		}
		first := !met[i]
		met[i] = true
		b.sum.Duplicate.Doc, b.sum.Duplicate.Name = doc, string(name)
		return first
	})
}

// eachName calls f for the documents in order until f returns false.
func (b *builder) eachName(f func(doc uint64, name []byte) bool) error {
	r, err := b.names.Rewind()
	if err != nil {
		return err
	}
	var name []byte
	for doc := range b.docs {
		if doc%4096 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if name, err = gather.ReadBytes(r, name); err != nil {
			return err
		}
		if _, err := binary.ReadUvarint(r); err != nil { // the length
			return gather.Damaged(err)
		}
		if !f(doc, name) {
			return nil
		}
	}
	return nil
}
