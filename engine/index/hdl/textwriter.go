package hdl

import (
	"bytes"
	"compress/flate"
	"runtime"
	"slices"

	"heddle/engine/file/container"
)

// textBatch is the number of blocks of text that are compressed at a time, on
// all cores.
const textBatch = 64

// textWriter compresses texts block by block. Its memory is 2 MiB, and 1 MiB a
// core.
type textWriter struct {
	docs    uint32 // texts so far
	length  uint64 // length of all texts so far, in bytes
	pending []byte // not yet compressed, at most textBatch blocks
	packed  [textBatch]bytes.Buffer
	free    chan *flate.Writer
}

func newTextWriter() (*textWriter, error) {
	t := &textWriter{pending: make([]byte, 0, textBatch*textBlock), free: make(chan *flate.Writer, runtime.GOMAXPROCS(0))}
	for range cap(t.free) {
		w, err := flate.NewWriter(nil, flate.DefaultCompression)
		if err != nil {
			return nil, err
		}
		t.free <- w
	}
	return t, nil
}

// AddText adds the text of the next document to an index with Meta.Texts: any bytes, of
// any length. The Writer does not keep the slice. It returns ErrInput without Meta.Texts,
// and for more texts than Meta.Docs.
func (w *Writer) AddText(text []byte) error {
	return w.file.Do(func() error { return w.addText(text) })
}

func (w *Writer) addText(text []byte) error {
	t := w.texts
	switch {
	case t == nil:
		return inputError("a text for an index without texts")
	case t.docs == w.header.docs:
		return inputError("text %d out of %d", t.docs, w.header.docs)
	}
	t.docs++
	t.length += uint64(len(text))
	for len(text) > 0 {
		n := min(len(text), cap(t.pending)-len(t.pending))
		t.pending = append(t.pending, text[:n]...)
		text = text[n:]
		if len(t.pending) == cap(t.pending) {
			if err := w.writeTexts(); err != nil {
				return err
			}
		}
	}
	return w.file.Sections[secTextOffsets].AppendUint64(t.length)
}

// writeTexts writes the pending blocks. Only the last block of the file may be short.
func (w *Writer) writeTexts() error {
	t := w.texts
	blocks := slices.Collect(slices.Chunk(t.pending, textBlock))
	err := container.Parallel(len(blocks), func(i int) error {
		z := <-t.free
		defer func() { t.free <- z }()
		out := &t.packed[i]
		out.Reset()
		z.Reset(out)
		if _, err := z.Write(blocks[i]); err != nil {
			return err
		}
		return z.Close()
	})
	if err != nil {
		return err
	}
	texts := w.file.Sections[secTexts]
	for i, b := range blocks {
		// A block that does not shrink is stored as it is, and known by its length.
		if packed := t.packed[i].Bytes(); len(packed) < len(b) {
			b = packed
		}
		if err := texts.Append(b); err != nil {
			return err
		}
		if err := w.file.Sections[secTextBlocks].AppendUint64(texts.Length()); err != nil {
			return err
		}
	}
	t.pending = t.pending[:0]
	return nil
}
