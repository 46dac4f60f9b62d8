package hdl

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"heddle/engine/file/container"
	"heddle/engine/index/hdl/compress"
)

const (
	// documentBatch is the number of bytes of documents that are compressed at a time, on all cores. A
	// dictionary is trained on the first batch with enoughSamples bytes of documents that share blocks. Earlier
	// batches have long documents, which need none.
	documentBatch = 256 * documentBlock
	enoughSamples = documentBatch / 4
	// dictionaryShare is the number of bytes of a batch for each byte of the dictionary, of at most
	// maxDictionary bytes, as the tool zstd has it.
	dictionaryShare = 32
	maxDictionary   = 112 << 10
)

// documentWriter compresses documents block by block. Its memory is 6 MiB and the longest document,
// and 3 MiB a core.
type documentWriter struct {
	docs    uint32        // documents so far
	inBlock uint32        // documents of the last block
	length  uint64        // length of all documents so far, in bytes
	pending []byte        // bytes that are not compressed
	ends    []int         // ends of their blocks, but of the last
	encoder *zstd.Encoder // nil before the dictionary is trained
	packed  [][]byte
	firsts  *container.Spool // the first document of each block
}

// AddStored adds the next document, or its text, to an index with Meta.Store: any bytes, of
// any length. The Writer does not keep the slice. It returns ErrInput without Meta.Store,
// and for more documents than Meta.Docs.
func (w *Writer) AddStored(document []byte) error {
	return w.file.Do(func() error { return w.addStored(document) })
}

func (w *Writer) addStored(document []byte) error {
	x := w.documents
	switch {
	case x == nil:
		return inputError("a document for an index that stores none")
	case x.docs == w.header.docs:
		return inputError("stored document %d out of %d", x.docs, w.header.docs)
	}
	start := 0 // first byte of the block
	if len(x.ends) > 0 {
		start = x.ends[len(x.ends)-1]
	}
	if x.inBlock == 0 || len(x.pending)-start+len(document) > documentBlock {
		if x.inBlock > 0 {
			x.ends = append(x.ends, len(x.pending))
			x.inBlock = 0
		}
		if len(x.pending) >= documentBatch {
			if err := w.writeStored(false); err != nil {
				return err
			}
		}
		if err := x.firsts.AppendUint64(uint64(x.docs)); err != nil {
			return err
		}
	}
	x.docs++
	x.inBlock++
	x.length += uint64(len(document))
	x.pending = append(x.pending, document...)
	return w.file.Sections[secDocumentOffsets].AppendUint64(x.length)
}

// writeStored compresses and writes the pending blocks, the last ones or not.
func (w *Writer) writeStored(last bool) error {
	x := w.documents
	blocks := make([][]byte, len(x.ends))
	start := 0
	for i, end := range x.ends {
		blocks[i] = x.pending[start:end:end]
		start = end
	}
	encoder := x.encoder
	if encoder == nil {
		var err error
		if encoder, err = w.train(blocks, last); err != nil {
			return err
		}
	}
	for len(x.packed) < len(blocks) {
		x.packed = append(x.packed, nil)
	}
	err := container.Parallel(len(blocks), func(i int) error {
		x.packed[i] = encoder.EncodeAll(blocks[i], x.packed[i][:0])
		return nil
	})
	if err != nil {
		return err
	}
	section := w.file.Sections[secDocuments]
	for i := range blocks {
		if err := section.Append(x.packed[i]); err != nil {
			return err
		}
		if err := w.file.Sections[secDocumentBlocks].AppendUint64(section.Length()); err != nil {
			return err
		}
	}
	x.pending, x.ends = append(x.pending[:0], x.pending[start:]...), x.ends[:0]
	return nil
}

// train returns an encoder for blocks. It makes the dictionary, and the encoder of all further blocks, if the
// short ones are enough samples or the blocks are the last ones. Few or incompressible documents get none.
func (w *Writer) train(blocks [][]byte, last bool) (*zstd.Encoder, error) {
	opt := []zstd.EOption{zstd.WithEncoderCRC(false)} // sections have checksums
	var samples [][]byte
	size := 0
	for _, b := range blocks {
		if len(b) <= documentBlock {
			samples, size = append(samples, b), size+len(b)
		}
	}
	ready := last || size >= enoughSamples
	if ready {
		if dictionary := compress.Train(samples, min(maxDictionary, size/dictionaryShare)); dictionary != nil {
			opt = append(opt, zstd.WithEncoderDict(dictionary))
			if err := w.file.Sections[secDocumentDictionary].Append(dictionary); err != nil {
				return nil, err
			}
		}
	}
	e, err := zstd.NewWriter(nil, opt...)
	if err != nil {
		return nil, fmt.Errorf("the compressor of documents: %w", err)
	}
	if ready {
		w.documents.encoder = e
	}
	return e, nil
}

// finishStored writes the last blocks, and the first document of each.
func (w *Writer) finishStored() error {
	x := w.documents
	if x == nil {
		return nil
	}
	if x.docs != w.header.docs {
		return inputError("%d of %d stored documents are missing", w.header.docs-x.docs, w.header.docs)
	}
	if x.docs > 0 {
		x.ends = append(x.ends, len(x.pending))
	}
	if err := w.writeStored(true); err != nil {
		return err
	}
	if err := x.firsts.AppendUint64(uint64(x.docs)); err != nil {
		return err
	}
	return w.file.Sections[secDocumentBlocks].AppendSpool(x.firsts)
}
