package hdl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
)

// documentBlock is the number of bytes of documents that are compressed together. A block holds whole
// documents, at most so many bytes of them, or a single document. Reading a document unpacks its block.
const documentBlock = 16 << 10

// Values of Meta.Store.
const (
	StoreNone   = "none"
	StoreText   = "text"   // the text that was analysed
	StoreSource = "source" // the JSON object of the input
)

// ErrNoDocument is the cause of the error for a document from a file that stores none.
var ErrNoDocument = errors.New("the index stores no documents")

// stores reports whether an index has stored documents.
func (m *Meta) stores() bool { return m.Store != "" && m.Store != StoreNone }

// documents are the stored documents of a file.
type documents struct {
	blocks  []uint64 // where each block begins in section documents, in bytes, and the end of the last
	firsts  []uint64 // the first document of each block, and the number of documents
	offsets []uint64 // where each document begins among all unpacked bytes, and their number

	open    sync.Once
	decoder *zstd.Decoder
	err     error // the dictionary is damaged
}

// openDocuments finds the sections of stored documents.
func (f *File) openDocuments() error {
	places, offsets := container.View[uint64](f.bytes(secDocumentBlocks)), container.View[uint64](f.bytes(secDocumentOffsets))
	if !f.meta.stores() {
		if len(places)+len(offsets) > 0 {
			return foreignError(f.file.Path, "it stores texts in an earlier form; %s", format.Advice)
		}
		return nil
	}
	if want := uint64(f.header.docs) + 1; uint64(len(offsets)) != want {
		return f.file.CorruptEntry(int(secDocumentOffsets), "has %d bytes; %d documents need %d", 8*len(offsets), f.header.docs, 8*want)
	}
	if len(places) == 0 {
		return f.file.CorruptEntry(int(secDocumentBlocks), "is empty")
	}
	half := len(places) / 2
	f.documents = &documents{blocks: places[:half], firsts: places[half:], offsets: offsets}
	return nil
}

// HasDocuments reports whether the file stores its documents.
func (f *File) HasDocuments() bool { return f.documents != nil }

// Document returns document d, which must be below Docs, as it was stored: any bytes. It unpacks a block of
// 16 KiB, or the document alone if that is longer, so it is for the documents of an answer, not for all of
// them. An error is ErrNoDocument or a *CorruptError.
func (f *File) Document(d uint32) (document string, err error) {
	err = f.EachDocument(d, d+1, func(b []byte) error {
		document = string(b)
		return nil
	})
	return document, err
}

// EachDocument calls f with the stored documents first to end-1, in order, and unpacks each block once.
// The document is valid until f returns. An error is the error of f, ErrNoDocument or a *CorruptError.
func (f *File) EachDocument(first, end uint32, each func(document []byte) error) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	x := f.documents
	if x == nil {
		return fmt.Errorf("%s: %w", f.file.Path, ErrNoDocument)
	}
	buf := documentBuffers.Get().(*[]byte)
	defer documentBuffers.Put(buf)
	start, to, next := uint64(0), uint64(0), uint64(first) // bytes of the block; the first document behind it
	for d := uint64(first); d < uint64(end); d++ {
		if d == next {
			b := f.blockOf(d)
			if start, to, err = f.unpack(b, buf); err != nil {
				return err
			}
			next = x.firsts[b+1]
		}
		at, behind := f.span(secDocumentOffsets, x.offsets, d, to)
		if at < start {
			return f.corrupt(secDocumentOffsets, 8*d, "document %d begins before its block", d)
		}
		if err := each((*buf)[at-start : behind-start]); err != nil {
			return err
		}
	}
	if cap(*buf) > 4*documentBlock {
		*buf = nil
	}
	return nil
}

var documentBuffers = sync.Pool{New: func() any { return new([]byte) }}

// blockOf is the block of document d.
func (f *File) blockOf(d uint64) uint64 {
	x := f.documents
	n := len(x.firsts) - 1
	half := 8 * uint64(len(x.blocks))
	b := uint64(sort.Search(n, func(i int) bool {
		f.use(secDocumentBlocks, half+8*uint64(i), half+8*uint64(i)+16)
		return x.firsts[i] > d
	}))
	if b == 0 || x.firsts[b] <= d {
		panic(&mapped.Fault{Err: f.corrupt(secDocumentBlocks, half+8*b, "no block has document %d", d)})
	}
	return b - 1
}

// maxExpansion bounds the bytes of which a byte of zstd is the form: a block of one repeated byte has 4 bytes for
// 128 KiB.
const maxExpansion = 128 << 10 / 4

// maxDocument bounds a document, in bytes. Inputs of builds have smaller bounds.
const maxDocument = 1 << 30

// unpack decompresses block b, which is below the number of blocks, into buf. It returns the places of its
// bytes among all unpacked bytes.
func (f *File) unpack(b uint64, buf *[]byte) (start, end uint64, err error) {
	x := f.documents
	from, to := f.span(secDocumentBlocks, x.blocks, b, uint64(len(f.bytes(secDocuments))))
	f.use(secDocuments, from, to)
	half := 8 * uint64(len(x.blocks))
	f.use(secDocumentBlocks, half+8*b, half+8*b+16)
	first, next := x.firsts[b], x.firsts[b+1]
	if first >= next || next >= uint64(len(x.offsets)) {
		return 0, 0, f.corrupt(secDocumentBlocks, half+8*b, "block %d has the documents from %d to %d of %d", b, first, next, len(x.offsets)-1)
	}
	f.use(secDocumentOffsets, 8*first, 8*first+8)
	f.use(secDocumentOffsets, 8*next, 8*next+8)
	start, end = x.offsets[first], x.offsets[next]
	if start > end || end-start > maxExpansion*(to-from) || end-start > maxDocument || end-start > documentBlock && next-first > 1 {
		return 0, 0, f.corrupt(secDocumentOffsets, 8*next, "block %d has the bytes from %d to %d in %d bytes of zstd", b, start, end, to-from)
	}
	f.use(secDocumentDictionary, 0, uint64(len(f.bytes(secDocumentDictionary)))) // not in Do, where damage would count as done
	x.open.Do(func() { x.decoder, x.err = f.newDecoder() })
	if x.err != nil {
		return 0, 0, x.err
	}
	size := int(end - start)
	*buf = slices.Grow((*buf)[:0], size)
	all, err := x.decoder.DecodeAll(f.bytes(secDocuments)[from:to], (*buf)[:0:size])
	if err == nil && len(all) != size {
		err = fmt.Errorf("%d bytes, its documents have %d", len(all), size)
	}
	if err != nil {
		return 0, 0, f.corrupt(secDocuments, from, "block %d: %v", b, err)
	}
	*buf = append((*buf)[:0], all...) // in place, with the whole capacity for the next block
	return start, end, nil
}

// newDecoder returns the decoder of all blocks.
func (f *File) newDecoder() (*zstd.Decoder, error) {
	opt := []zstd.DOption{zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true)}
	if dictionary := f.bytes(secDocumentDictionary); len(dictionary) > 0 {
		opt = append(opt, zstd.WithDecoderDicts(dictionary))
	}
	d, err := zstd.NewReader(nil, opt...)
	if err != nil {
		err = f.corrupt(secDocumentDictionary, 0, "%v", err)
	}
	return d, err
}

// checkStored checks that the offsets of documents and of blocks stay in bounds.
func (f *File) checkStored() error {
	x := f.documents
	if x == nil {
		return nil
	}
	if err := f.file.CheckOffsets(int(secDocumentBlocks), x.blocks, f.header.Table[secDocuments].Length, f.header.Size); err != nil {
		return err
	}
	half := 8 * uint64(len(x.blocks))
	for i := range x.firsts {
		if n := len(x.firsts) - 1; i == 0 && x.firsts[0] != 0 || i > 0 && x.firsts[i] <= x.firsts[i-1] || i == n && x.firsts[n] != uint64(f.header.docs) {
			return f.corrupt(secDocumentBlocks, half+8*uint64(i), "block %d of %d begins with document %d of %d", i, n, x.firsts[i], f.header.docs)
		}
	}
	size := x.offsets[f.header.docs]
	return f.file.CheckOffsets(int(secDocumentOffsets), x.offsets, size, size)
}

// verifyStored unpacks every block.
func (f *File) verifyStored(ctx context.Context) error {
	if f.documents == nil {
		return nil
	}
	return container.Parallel(len(f.documents.blocks)-1, func(b int) error {
		buf := documentBuffers.Get().(*[]byte)
		defer documentBuffers.Put(buf)
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _, err := f.unpack(uint64(b), buf)
		return err
	})
}
