package hdl

import (
	"math"

	"heddle/codec"
	"heddle/engine/file/container"
)

// lengthChunk is the number of document lengths that are packed together.
const lengthChunk = 1 << 16

// openLengths unpacks the document lengths, field by field: for every lengthChunk documents the number of words,
// and packed values.
func (f *File) openLengths() error {
	at := uint64(0)
	for i := range f.fields {
		if f.fields[i].lengths != at {
			return f.corrupt(secFields, uint64(i)*fieldSize+40, "lengths from word %d on, the field before ends at word %d", f.fields[i].lengths, at)
		}
		lengths, end, err := f.unpackLengths(at)
		if err != nil {
			return err
		}
		f.lengths, at = append(f.lengths, lengths), end
	}
	if n := uint64(len(f.bytes(secLengths))); 4*at != n {
		return f.corrupt(secLengths, 4*at, "%d bytes behind the lengths", n-4*at)
	}
	return nil
}

// unpackLengths unpacks the lengths of a field from a word on.
func (f *File) unpackLengths(at uint64) (all []uint32, end uint64, err error) {
	docs, b := uint64(f.header.docs), container.View[uint32](f.bytes(secLengths))
	var chunks []codec.Packed
	var starts []uint64 // where each chunk starts, in words
	for first := uint64(0); first < docs; first += lengthChunk {
		if at == uint64(len(b)) || uint64(b[at]) >= uint64(len(b))-at {
			return nil, 0, f.corrupt(secLengths, 4*at, "the lengths of documents from %d on end behind %d words", first, len(b))
		}
		words := b[at+1:][:b[at]]
		p, err := codec.NewPacked(uint32(min(docs-first, lengthChunk)), words)
		if err != nil {
			return nil, 0, f.corruptWords(secLengths, at+1, "lengths", err)
		}
		chunks, starts = append(chunks, p), append(starts, at+1)
		at += 1 + uint64(len(words))
	}
	all = make([]uint32, docs)
	return all, at, container.Parallel(len(chunks), func(i int) error {
		dst := all[i*lengthChunk:][:0:chunks[i].Len]
		if _, err := chunks[i].AppendTo(dst); err != nil {
			return f.corruptWords(secLengths, starts[i], "lengths", err)
		}
		return nil
	})
}

// sumLengths returns the lengths of documents in all fields.
func (f *File) sumLengths() []uint32 {
	sums := make([]uint32, f.header.docs)
	for _, lengths := range f.lengths {
		for d, n := range lengths {
			sums[d] += min(n, math.MaxUint32-sums[d])
		}
	}
	return sums
}

// writeLengths packs the pending lengths of a field.
func (w *Writer) writeLengths(one *fieldWriter) (err error) {
	if w.words, err = codec.AppendPacked(append(w.words[:0], 0), one.pending, w.encoding.opt); err != nil {
		return err
	}
	w.words[0] = uint32(len(w.words) - 1)
	one.pending = one.pending[:0]
	return one.spool.Append(container.LittleBytes(w.words))
}
