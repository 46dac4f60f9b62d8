package hdl

import (
	"heddle/codec"
	"heddle/engine/file/container"
)

// lengthChunk is the number of document lengths that are packed together.
const lengthChunk = 1 << 16

// openLengths unpacks the document lengths: for every lengthChunk documents the number of words,
// and packed values.
func (f *File) openLengths() error {
	docs, b := uint64(f.header.docs), container.View[uint32](f.bytes(secLengths))
	var chunks []codec.Packed
	var starts []uint64 // where each chunk starts, in words
	at := uint64(0)
	for first := uint64(0); first < docs; first += lengthChunk {
		if at == uint64(len(b)) || uint64(b[at]) >= uint64(len(b))-at {
			return f.corrupt(secLengths, 4*at, "the lengths of documents from %d on end behind %d words", first, len(b))
		}
		words := b[at+1:][:b[at]]
		p, err := codec.NewPacked(uint32(min(docs-first, lengthChunk)), words)
		if err != nil {
			return f.corruptWords(secLengths, at+1, "lengths", err)
		}
		chunks, starts = append(chunks, p), append(starts, at+1)
		at += 1 + uint64(len(words))
	}
	if 4*at != uint64(len(f.bytes(secLengths))) {
		return f.corrupt(secLengths, 4*at, "%d bytes behind the lengths", uint64(len(f.bytes(secLengths)))-4*at)
	}
	f.lengths = make([]uint32, docs)
	return container.Parallel(len(chunks), func(i int) error {
		dst := f.lengths[i*lengthChunk:][:0:chunks[i].Len]
		if _, err := chunks[i].AppendTo(dst); err != nil {
			return f.corruptWords(secLengths, starts[i], "lengths", err)
		}
		return nil
	})
}

// writeLengths packs the pending lengths.
func (w *Writer) writeLengths() (err error) {
	if w.words, err = codec.AppendPacked(append(w.words[:0], 0), w.lengths, w.encoding.opt); err != nil {
		return err
	}
	w.words[0] = uint32(len(w.words) - 1)
	w.lengths = w.lengths[:0]
	return w.file.Sections[secLengths].Append(container.LittleBytes(w.words))
}
