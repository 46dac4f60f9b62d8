package build

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/index/build/gather"
	"heddle/engine/index/hdl"
)

// maxDocuments is the greatest number of documents: it is itself a uint32.
const maxDocuments = math.MaxUint32

// addDocuments adds n documents, encoded by appendDocument; withTerms of them have terms.
func (b *builder) addDocuments(n, withTerms uint64, encoded []byte) error {
	if err := b.CheckRoom(n); err != nil {
		return err
	}
	b.docs, b.withTerms = b.docs+n, b.withTerms+withTerms
	return b.names.Append(encoded)
}

// CheckRoom implements inverted.Sink.
func (b *builder) CheckRoom(n uint64) error {
	if b.docs+n > maxDocuments {
		return fmt.Errorf("%w: more than %d documents", hdl.ErrInput, uint64(maxDocuments))
	}
	return nil
}

// AddDocument implements inverted.Sink.
func (b *builder) AddDocument(name []byte, length uint32) error {
	b.scratch = appendDocument(b.scratch[:0], name, length)
	return b.addDocuments(1, uint64(min(length, 1)), b.scratch)
}

func appendDocument(dst, name []byte, lengths ...uint32) []byte {
	dst = gather.AppendBytes(dst, name)
	for _, n := range lengths {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// eachDocument calls f with the names and lengths of all documents, a length for each field.
func (b *builder) eachDocument(f func(name []byte, lengths []uint32) error) error {
	r, err := b.names.Rewind()
	if err != nil {
		return err
	}
	var name []byte
	lengths := make([]uint32, max(len(b.fields), 1))
	for i := range b.docs {
		if name, err = gather.ReadBytes(r, name); err != nil {
			return err
		}
		for i := range lengths {
			length, err := binary.ReadUvarint(r)
			if err != nil {
				return gather.Damaged(err)
			}
			lengths[i] = uint32(length)
		}
		if err := f(name, lengths); err != nil {
			return err
		}
		if i%4096 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	return nil
}

// writeDocuments copies names and lengths to the index file.
func (b *builder) writeDocuments(w Output) error {
	return b.eachDocument(func(name []byte, lengths []uint32) error {
		if b.lengths != nil {
			b.lengths = append(b.lengths, lengths[0])
		}
		return w.AddDocument(string(name), lengths...)
	})
}

// writeStored copies stored documents to the index file.
func (b *builder) writeStored(w Output) error {
	if b.stored == nil {
		return nil
	}
	r, err := b.stored.Rewind()
	if err != nil {
		return err
	}
	var document []byte
	for range b.docs {
		if document, err = gather.ReadBytes(r, document); err != nil {
			return err
		}
		if err := cmp.Or(b.ctx.Err(), w.AddStored(document)); err != nil {
			return err
		}
	}
	return nil
}

// findDuplicates counts the documents that have the name of an earlier document, by the
// hashes of their names. It takes 8 bytes of memory per document. Where these exceed the limit,
// it reads the names several times, for a part of the hashes each.
func (b *builder) findDuplicates() error {
	passes := 1 + 8*b.docs/max(b.limit, 1<<20)
	hashes := make([]uint64, 0, b.docs/passes)
	var twice []uint64
	for pass := range passes {
		hashes = hashes[:0]
		err := b.eachDocument(func(name []byte, _ []uint32) error {
			if hash := xxhash.Sum64(name); len(name) > 0 && hash%passes == pass {
				hashes = append(hashes, hash)
			}
			return nil
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
	doc, met := uint64(0), make([]bool, len(twice))
	return b.eachDocument(func(name []byte, _ []uint32) error {
		if i, found := slices.BinarySearch(twice, xxhash.Sum64(name)); found && len(name) > 0 && b.sum.Duplicate.Name == "" {
			if met[i] {
				b.sum.Duplicate.Doc, b.sum.Duplicate.Name = doc, string(name)
			}
			met[i] = true
		}
		doc++
		return nil
	})
}
