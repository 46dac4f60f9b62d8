package build

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"heddle/engine/index/build/gather"
	"heddle/engine/index/hdl"
)

// maxDocuments is the greatest number of documents: it is itself a uint32.
const maxDocuments = math.MaxUint32

// addDocuments adds n documents, encoded by appendDocument; withTerms of them have terms.
func (b *builder) addDocuments(n, withTerms uint64, encoded []byte) error {
	if err := b.checkRoom(n); err != nil {
		return err
	}
	b.docs, b.withTerms = b.docs+n, b.withTerms+withTerms
	return b.names.Append(encoded)
}

// checkRoom fails if n more documents would exceed the range of docIDs.
func (b *builder) checkRoom(n uint64) error {
	if b.docs+n > maxDocuments {
		return fmt.Errorf("%w: more than %d documents", hdl.ErrInput, uint64(maxDocuments))
	}
	return nil
}

// addDocument adds a document of an inverted input.
func (b *builder) addDocument(name []byte, length uint32) error {
	b.scratch = appendDocument(b.scratch[:0], name, length)
	return b.addDocuments(1, uint64(min(length, 1)), b.scratch)
}

func appendDocument(dst, name []byte, length uint32) []byte {
	return binary.AppendUvarint(gather.AppendBytes(dst, name), uint64(length))
}

// eachDocument calls f with the names and lengths of all documents.
func (b *builder) eachDocument(f func(name []byte, length uint32) error) error {
	r, err := b.names.Rewind()
	if err != nil {
		return err
	}
	var name []byte
	for i := range b.docs {
		if name, err = gather.ReadBytes(r, name); err != nil {
			return err
		}
		length, err := binary.ReadUvarint(r)
		if err != nil {
			return gather.Damaged(err)
		}
		if err := f(name, uint32(length)); err != nil {
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
	return b.eachDocument(func(name []byte, length uint32) error {
		if b.lengths != nil {
			b.lengths = append(b.lengths, length)
		}
		return w.AddDocument(string(name), length)
	})
}

// writeTexts copies texts to the index file.
func (b *builder) writeTexts(w Output) error {
	if b.texts == nil {
		return nil
	}
	r, err := b.texts.Rewind()
	if err != nil {
		return err
	}
	var text []byte
	for range b.docs {
		if text, err = gather.ReadBytes(r, text); err != nil {
			return err
		}
		if err := cmp.Or(b.ctx.Err(), w.AddText(text)); err != nil {
			return err
		}
	}
	return nil
}
