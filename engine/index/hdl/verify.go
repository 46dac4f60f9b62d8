package hdl

import (
	"context"
	"fmt"
	"sync"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Verify is the deep check. It includes the checks of Open. Then every list must decode to
// ascending docIDs below the number of documents, with as many frequencies of the right
// sum; terms ascend, and the hash table finds each; totals add up; every text inflates.
// Damage is a *CorruptError. Analysis that package analyze does not know, such as another
// stemmer, is an error that names it. ctx ends it early with ctx.Err(). It uses all cores,
// and on each 4 bytes per posting of the longest list.
func (f *File) Verify(ctx context.Context) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if err := f.file.CheckSums(); err != nil {
		return err
	}
	if _, err := analyze.New(f.meta.Analysis); err != nil {
		return fmt.Errorf("%s: %w", f.Path(), err)
	}
	if err := f.verifyTerms(ctx); err != nil {
		return err
	}
	if err := f.verifyLengths(); err != nil {
		return err
	}
	if err := f.verifyTexts(ctx); err != nil {
		return err
	}
	return f.verifyLists(ctx)
}

// verifyTerms checks order and hash table. Open has seen that no more slots are
// in use than there are terms; so when every term is found, no slot names
// another.
func (f *File) verifyTerms(ctx context.Context) error {
	d := &f.dict
	return container.ParallelRanges(uint64(d.Terms()), checkRange, func(lo, hi uint64) error {
		for i := lo; i < hi; i++ {
			h := plan.Handle(i)
			if h > 0 && string(d.term(h-1)) >= string(d.term(h)) {
				return f.corrupt(secTerms, d.offsets[h], "term %d does not come behind the one before", h)
			}
			if got, ok := d.Lookup(d.Term(h)); !ok || got != h {
				return f.corrupt(secTermHash, 0, "term %d is not found", h)
			}
		}
		return ctx.Err()
	})
}

func (f *File) verifyLengths() error {
	sum := uint64(0)
	rounded := f.meta.roundsLengths()
	for i, n := range f.lengths {
		if rounded && n != bm25.RoundLength(n) {
			return f.corrupt(secLengths, 4*uint64(i), "length %d of document %d is not rounded", n, i)
		}
		sum += uint64(n)
	}
	if sum != f.header.length && !(rounded && sum < f.header.length) {
		return f.corrupt(secLengths, 0, "the lengths add up to %d, the header says %d", sum, f.header.length)
	}
	return nil
}

func (f *File) verifyLists(ctx context.Context) error {
	buffers := sync.Pool{New: func() any { return new([]uint32) }}
	return container.Parallel(f.Terms(), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf := buffers.Get().(*[]uint32)
		defer buffers.Put(buf)
		return f.verifyList(plan.Handle(i), buf)
	})
}

// verifyList decodes both halves of list h into buf.
func (f *File) verifyList(h plan.Handle, buf *[]uint32) (err error) {
	d := descriptorAt(f.bytes(secLists), h)
	if *buf, err = f.source.List(h).AppendTo((*buf)[:0]); err != nil {
		return f.corruptList(secDocIDs, d.off, h, err)
	}
	if n := len(*buf); n > 0 && (*buf)[n-1] >= f.header.docs {
		return f.corrupt(secDocIDs, 4*d.off, "list %d: docID %d out of %d documents", h, (*buf)[n-1], f.header.docs)
	}
	if *buf, err = f.Freqs((*buf)[:0], h); err != nil {
		return err
	}
	tokens := uint64(0)
	for i, n := range *buf {
		if tokens += uint64(n); n > f.meta.Impacts.Max() {
			return f.corrupt(secFreqs, 4*d.freqOff, "list %d: impact %d is %d, more than %d bits", h, i, n, f.meta.Impacts.Bits)
		}
	}
	if tokens != d.tokens {
		return f.corrupt(secFreqs, 4*d.freqOff, "list %d: the frequencies add up to %d, its descriptor says %d", h, tokens, d.tokens)
	}
	return nil
}
