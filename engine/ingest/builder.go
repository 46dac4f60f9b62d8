package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"heddle/engine/hdl"
)

// maxDocuments is the greatest number of documents: it is itself a uint32.
const maxDocuments = math.MaxUint32

// builder collects documents and postings. It belongs to one goroutine.
type builder struct {
	ctx    context.Context
	dir    string // for temporary files
	limit  uint64 // of index, in bytes
	index  postings
	runs   []run
	spilt  *temp // runs
	names  *temp // documents: name by appendBytes, varint length
	texts  *temp // of documents, by appendBytes; nil if they are not stored
	docs   uint64
	base   uint64 // documents before the current inverted input
	term   []byte // of the current list
	list   *entry // its entry; it must be found again after a spill
	format string // of the inputs

	kind    kind     // of documents
	weigher weigher  // of their vectors
	lengths []uint32 // of documents, where impacts need them

	sum     Summary
	scratch []byte
	tick    func(last bool) // progress
}

// newBuilder makes a builder that stores texts or not.
func newBuilder(ctx context.Context, dir string, limit uint64, store bool) (*builder, error) {
	b := &builder{ctx: ctx, dir: dir, limit: limit}
	var err error
	if b.names, err = newTemp(dir, tempPattern); err == nil && store {
		if b.texts, err = newTemp(dir, tempPattern); err != nil {
			err = errors.Join(err, b.names.close())
		}
	}
	return b, err
}

const tempPattern = ".heddle-build-*"

// close removes the temporary files.
func (b *builder) close() error {
	var errs []error
	for _, t := range []*temp{b.names, b.texts, b.spilt} {
		if t != nil {
			errs = append(errs, t.close())
		}
	}
	return errors.Join(errs...)
}

// addChunk takes over an analysed chunk.
func (b *builder) addChunk(c *chunk) error {
	if err := b.kind.join(c.kind); err != nil {
		return c.records[0].at.errorf(c.records[0].input.path, "%v", err)
	}
	b.weigher.join(&c.weigher)
	if err := b.addDocuments(uint64(len(c.records)), c.documents); err != nil {
		return err
	}
	if b.texts != nil {
		if err := b.texts.write(c.texts); err != nil {
			return err
		}
	}
	base := b.docs - uint64(len(c.records))
	b.scratch = b.index.join(&c.index, uint32(base), b.scratch)
	return b.checkMemory()
}

// addDocuments adds n documents, encoded by appendDocument.
func (b *builder) addDocuments(n uint64, encoded []byte) error {
	if err := b.checkRoom(n); err != nil {
		return err
	}
	b.docs += n
	return b.names.write(encoded)
}

// checkRoom says whether n more documents can have docIDs.
func (b *builder) checkRoom(n uint64) error {
	if b.docs+n > maxDocuments {
		return fmt.Errorf("%w: more than %d documents", hdl.ErrInput, uint64(maxDocuments))
	}
	return nil
}

// addDocument adds a document of an inverted input.
func (b *builder) addDocument(name []byte, length uint32) error {
	b.scratch = appendDocument(b.scratch[:0], name, length)
	return b.addDocuments(1, b.scratch)
}

// startInverted begins an input of lists that others have inverted.
func (b *builder) startInverted(path string) error {
	if b.texts != nil {
		return fmt.Errorf("%s: inverted lists, which have no texts that could be stored", path)
	}
	if err := b.kind.join(ofTexts); err != nil {
		return position{}.errorf(path, "inverted lists behind documents with vectors")
	}
	b.base = b.docs
	return nil
}

func appendDocument(dst, name []byte, length uint32) []byte {
	return binary.AppendUvarint(appendBytes(dst, name), uint64(length))
}

// appendBytes appends the varint length of b, and b.
func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// readBytes reads what appendBytes has made into the memory of dst.
func readBytes(r *bufio.Reader, dst []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return dst, damagedRun(err)
	}
	dst = slices.Grow(dst[:0], int(n))[:n]
	if _, err := io.ReadFull(r, dst); err != nil {
		return dst, damagedRun(err)
	}
	return dst, nil
}

// startList begins the list of term in an inverted input whose documents are
// numbered from b.base on. The postings follow.
func (b *builder) startList(term []byte) error {
	if err := b.checkMemory(); err != nil {
		return err
	}
	b.term = append(b.term[:0], term...)
	b.list = b.index.entry(b.index.find(b.term, hashTerm(b.term)))
	b.tick(false)
	return b.ctx.Err()
}

var errNotAscending = errors.New("docIDs do not ascend")

// addPosting adds a posting to the list that was started. The docID counts from
// b.base; the caller has checked that it is in range, and that freq is not 0.
func (b *builder) addPosting(doc, freq uint32) error {
	doc += uint32(b.base)
	if b.list.docs > 0 && doc <= b.list.last {
		return errNotAscending
	}
	b.index.put(b.list, doc, freq)
	if b.list.docs%4096 == 0 {
		if err := b.checkMemory(); err != nil {
			return err
		}
		if b.index.terms == 0 { // spilt: the list goes on in the next run
			b.list = b.index.entry(b.index.find(b.term, hashTerm(b.term)))
		}
	}
	return nil
}

// checkMemory spills the index if it has grown too large.
func (b *builder) checkMemory() error {
	if b.index.memory() <= b.limit && !b.index.full() || b.index.terms == 0 {
		return nil
	}
	if b.spilt == nil {
		t, err := newTemp(b.dir, tempPattern)
		if err != nil {
			return err
		}
		b.spilt = t
	}
	r, err := spill(b.spilt, &b.index)
	if err != nil {
		return err
	}
	b.runs = append(b.runs, r)
	b.index.slots = nil // memory counts it, full or not
	b.index.reset()
	return b.ctx.Err()
}

// write writes the index file, with these impacts.
func (b *builder) write(w *hdl.Writer, impacts hdl.Impacts, opt *Options) error {
	if impacts.Origin == hdl.ImpactsBM25 {
		b.lengths = make([]uint32, 0, b.docs)
	}
	if err := b.writeDocuments(w); err != nil {
		return err
	}
	if err := b.writeTexts(w); err != nil {
		return err
	}
	quantiser := b.newQuantiser(impacts, opt)
	runs, err := b.cursors()
	if err != nil {
		return err
	}
	return merge(b.ctx, runs, func(l *merged) error {
		b.sum.Terms++
		b.sum.Postings += uint64(len(l.docs))
		quantiser.list(l.docs, l.freqs)
		for _, f := range l.freqs {
			b.sum.Tokens += uint64(f)
		}
		return w.AddList(l.term, l.docs, l.freqs)
	})
}

// cursors opens all runs, the one in memory last.
func (b *builder) cursors() ([]cursor, error) {
	var cs []cursor
	if b.spilt != nil {
		if err := b.spilt.w.Flush(); err != nil {
			return nil, err
		}
		// Reading in pieces of some hundred kilobytes spares the disk its seeks.
		buffer := int(min(max(b.limit/uint64(len(b.runs)), 4<<10), 512<<10))
		for _, r := range b.runs {
			cs = append(cs, newFileCursor(b.spilt, r, buffer))
		}
	}
	return append(cs, &memoryCursor{p: &b.index, order: b.index.sorted()}), nil
}

// writeDocuments copies names and lengths to the index file.
func (b *builder) writeDocuments(w *hdl.Writer) error {
	r, err := b.names.rewind()
	if err != nil {
		return err
	}
	var name []byte
	for i := range b.docs {
		if name, err = readBytes(r, name); err != nil {
			return err
		}
		length, err := binary.ReadUvarint(r)
		if err != nil {
			return damagedRun(err)
		}
		if err := w.AddDocument(string(name), uint32(length)); err != nil {
			return err
		}
		if b.lengths != nil {
			b.lengths = append(b.lengths, uint32(length))
		}
		if i%4096 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	return nil
}

// writeTexts copies texts to the index file.
func (b *builder) writeTexts(w *hdl.Writer) error {
	if b.texts == nil {
		return nil
	}
	r, err := b.texts.rewind()
	if err != nil {
		return err
	}
	var text []byte
	for i := range b.docs {
		if text, err = readBytes(r, text); err != nil {
			return err
		}
		if err := w.AddText(text); err != nil {
			return err
		}
		if i%4096 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
	return nil
}

// progress returns what calls report every tenth of a second, and in the end.
func progress(report func()) func(last bool) {
	var next time.Time
	return func(last bool) {
		if now := time.Now(); last || now.After(next) {
			next = now.Add(100 * time.Millisecond)
			report()
		}
	}
}
