package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/inverted"
	"heddle/engine/index/build/source"
	"heddle/engine/index/hdl"
)

// builder collects documents and postings. It belongs to one goroutine.
type builder struct {
	ctx       context.Context
	positions bool            // the index has positions
	fields    []string        // names in the order of their handles; nil without fields
	dir       string          // folder for temporary files
	limit     uint64          // greatest memory of chunks and index, in bytes
	chunks    gather.Piles    // the inverted documents, if the inputs are documents
	index     gather.Postings // the lists, if the inputs are inverted already
	runs      []gather.Run
	spilt     *gather.Temp // runs
	names     *gather.Temp // documents: name by gather.AppendBytes, varint length
	stored    *gather.Temp // stored documents, by gather.AppendBytes; nil if they are not stored
	docs      uint64
	withTerms uint64          // documents of a length above 0
	records   uint64          // documents of texts and vectors, skipped documents included
	term      []byte          // the term of the current list
	list      *gather.Growing // its value; it must be found again after a spill
	format    string          // format of the inputs

	kind    kind     // kind of all documents
	weigher weigher  // turns the weights of vectors into frequencies, or prepares impacts
	lengths []uint32 // length of each document in tokens, if impacts need them

	sum     Summary
	left    map[string]uint64 // documents by members of JSON, or elements of TREC, that are left out
	filled  []bool            // by field: it has terms
	scratch []byte
	tick    func(last bool) // progress
}

// newBuilder makes a builder that stores documents or not.
func newBuilder(ctx context.Context, dir string, limit uint64, store bool) (*builder, error) {
	b := &builder{ctx: ctx, dir: dir, limit: limit}
	var err error
	if b.names, err = gather.NewTemp(dir, tempPattern); err == nil && store {
		if b.stored, err = gather.NewTemp(dir, tempPattern); err != nil {
			err = errors.Join(err, b.names.Close())
		}
	}
	return b, err
}

const tempPattern = ".heddle-build-*"

// close removes the temporary files.
func (b *builder) close() error {
	var errs []error
	for _, t := range []*gather.Temp{b.names, b.stored, b.spilt} {
		if t != nil {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// addChunk takes over an analysed chunk.
func (b *builder) addChunk(c *chunk) error {
	if err := b.kind.join(c.kind); err != nil {
		return c.records[0].at.Errorf(c.records[0].input.path, "%v", err)
	}
	b.weigher.join(&c.weigher)
	b.records += uint64(len(c.records))
	b.sum.Unnamed += uint64(c.unnamed)
	b.sum.Invalid.add(&c.invalid)
	for member, n := range c.left {
		if b.left == nil {
			b.left = map[string]uint64{}
		}
		b.left[member] += n
	}
	for f, has := range c.filled {
		b.filled[f] = b.filled[f] || has
	}
	if err := b.addDocuments(uint64(c.count), uint64(c.withTerms), c.documents); err != nil {
		return err
	}
	if b.stored != nil {
		if err := b.stored.Append(c.stored); err != nil {
			return err
		}
	}
	if !b.index.Empty() {
		if err := b.release(); err != nil {
			return err
		}
	}
	b.chunks.Add(c.lists, c.groups, uint32(b.docs-uint64(c.count)))
	return b.checkMemory()
}

// Start implements inverted.Sink.
func (b *builder) Start(path string) (first uint32, err error) {
	if b.stored != nil {
		return 0, fmt.Errorf("%s: inverted lists, which have no documents that could be stored", path)
	}
	if b.positions {
		return 0, fmt.Errorf("%s: inverted lists, which have no positions", path)
	}
	if b.fields != nil {
		return 0, fmt.Errorf("%s: inverted lists, which have no fields", path)
	}
	if err := b.kind.join(ofTexts); err != nil {
		return 0, source.Position{}.Errorf(path, "inverted lists behind documents with vectors")
	}
	if !b.chunks.Empty() {
		err = b.release()
	}
	return uint32(b.docs), err
}

// StartList implements inverted.Sink.
func (b *builder) StartList(term []byte) error {
	if err := b.checkMemory(); err != nil {
		return err
	}
	b.term = append(b.term[:0], term...)
	b.list = b.index.Value(b.index.Find(b.term))
	b.tick(false)
	return b.ctx.Err()
}

// AddPosting implements inverted.Sink.
func (b *builder) AddPosting(doc, freq uint32) error {
	if doc < b.list.Next {
		return inverted.ErrOrder
	}
	b.index.Put(b.list, doc, freq)
	if b.list.Docs%4096 == 0 {
		return b.checkList()
	}
	return nil
}

// AddPostings implements inverted.Sink.
func (b *builder) AddPostings(docs, freqs []uint32) error {
	if docs[0] < b.list.Next {
		return inverted.ErrOrder
	}
	b.index.PutAll(b.list, docs, freqs)
	return b.checkList()
}

// Warn implements inverted.Sink.
func (b *builder) Warn(path, format string, args ...any) {
	b.sum.Warnings = append(b.sum.Warnings, path+": "+fmt.Sprintf(format, args...))
}

// content is lists in memory.
type content interface {
	Empty() bool
	Memory() uint64
	Full() bool
	Cursor() gather.Cursor
}

// content is the lists of all runs, and then the lists in memory.
func (b *builder) content() content {
	if b.chunks.Empty() {
		return &b.index
	}
	return &b.chunks
}

// checkList is checkMemory within a list.
func (b *builder) checkList() error {
	if err := b.checkMemory(); err != nil {
		return err
	}
	if b.index.Empty() { // spilt: the list goes on in the next run
		b.list = b.index.Value(b.index.Find(b.term))
	}
	return nil
}

// checkMemory spills the lists in memory if they have grown too large.
func (b *builder) checkMemory() error {
	c := b.content()
	if c.Memory() <= b.limit && !c.Full() || c.Empty() {
		return nil
	}
	return b.spill()
}

// AddRun implements inverted.Sink: the run comes behind the lists in memory.
func (b *builder) AddRun(r gather.Run) error {
	if !b.content().Empty() {
		if err := b.release(); err != nil {
			return err
		}
	}
	b.runs = append(b.runs, r)
	return nil
}

// settle writes the last part of an index with runs as well. Its memory is free for the merge
// then.
func (b *builder) settle() error {
	if len(b.runs) == 0 || b.content().Empty() {
		return nil
	}
	return b.release()
}

// release writes the lists in memory as a run, and drops the memory.
func (b *builder) release() error {
	err := b.spill()
	b.chunks, b.index = gather.Piles{}, gather.Postings{}
	return err
}

// spill writes the lists in memory as a run.
func (b *builder) spill() error {
	if b.spilt == nil {
		t, err := gather.NewTemp(b.dir, tempPattern)
		if err != nil {
			return err
		}
		b.spilt = t
	}
	r, err := gather.Spill(b.spilt, b.content().Cursor())
	if err != nil {
		return err
	}
	b.runs = append(b.runs, r)
	b.sum.Runs++
	b.chunks.Reset()
	b.index.Slots = nil // memory counts it, full or not
	b.index.Reset()
	return b.ctx.Err()
}

// write writes the index file, with these impacts.
func (b *builder) write(w Output, impacts hdl.Impacts, opt *Options) error {
	if impacts.Origin == hdl.ImpactsBM25 {
		b.lengths = make([]uint32, 0, b.docs)
	}
	if err := b.writeDocuments(w); err != nil {
		return err
	}
	if err := b.writeStored(w); err != nil {
		return err
	}
	quantiser := b.newQuantiser(impacts, opt)
	batch := (b.longest() + gather.BatchSize) * decodedSize
	written := b.longest() * writtenSize
	batches := min((b.limit/2-min(written, b.limit/2))/batch, maxBatches)
	batches = max(batches, 1)
	room := batches*batch + written
	runs, err := b.cursors(b.limit - min(b.limit, room))
	if err != nil {
		return err
	}
	return gather.Merge(b.ctx, runs, int(batches), b.positions, func(l *gather.Merged) error {
		b.tick(false) // inputs that are runs are read now
		b.sum.Terms++
		b.sum.Postings += uint64(len(l.Docs))
		quantiser.list(l.Docs, l.Freqs)
		for _, f := range l.Freqs {
			b.sum.Tokens += uint64(f)
		}
		if err := w.AddList(b.termOf(l.Term), l.Docs, l.Freqs); err != nil || !b.positions {
			return err
		}
		return w.AddPositions(l.Positions)
	})
}

// termOf is the term of a list. With fields, lists wait under the number of their field and the word, so that the
// first bytes of terms differ.
func (b *builder) termOf(key string) string {
	if b.fields == nil {
		return key
	}
	return b.fields[key[0]] + hdl.FieldMark + key[1:]
}

const (
	decodedSize = 8 // memory of a posting of a batch in the merge, in bytes
	writtenSize = 4 // memory of a posting of the longest list in the Writer, in bytes
	maxBatches  = 3
)

// cursors opens all runs, the run in memory last. Room bounds their buffers, in bytes.
func (b *builder) cursors(room uint64) ([]gather.Cursor, error) {
	if b.spilt != nil {
		if err := b.spilt.Flush(); err != nil {
			return nil, err
		}
	}
	// Reading in pieces of some hundred kilobytes spares the disk its seeks.
	buffer := int(min(max(room/uint64(max(len(b.runs), 1)), 4<<10), 512<<10))
	var cs []gather.Cursor
	for _, r := range b.runs {
		if r.Lists != nil {
			cs = append(cs, r.Lists)
		} else {
			cs = append(cs, gather.NewCursor(b.spilt, r, buffer))
		}
	}
	return append(cs, b.content().Cursor()), nil
}

// longest is at least the length of the longest list of the runs, in postings.
func (b *builder) longest() (n uint64) {
	for _, r := range b.runs {
		n = min(n+uint64(r.Longest), b.docs)
	}
	return n
}

// progress returns a function that calls report every tenth of a second, and at the end.
func progress(report func()) func(last bool) {
	var next time.Time
	return func(last bool) {
		if now := time.Now(); last || now.After(next) {
			next = now.Add(100 * time.Millisecond)
			report()
		}
	}
}
