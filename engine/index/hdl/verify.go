package hdl

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// CheckSums reads the whole file and compares its checksums. Damage is a *CorruptError.
func (f *File) CheckSums() (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	return f.file.CheckSums()
}

// Verify is the deep check. It includes the checks of Open, and reads all descriptors. Then every list must decode to
// ascending docIDs below the number of documents, with as many frequencies of the right
// sum; terms ascend, and each is found; names decode; totals add up; every stored document unpacks.
// Damage is a *CorruptError, and so is an analysis that Analyzer refuses. ctx ends it early with
// ctx.Err(). It uses all cores, and on each 4 bytes per posting of the longest list.
func (f *File) Verify(ctx context.Context) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if err := f.file.CheckSums(); err != nil {
		return err
	}
	if _, err := f.Analyzer(); err != nil {
		return err
	}
	if err := f.checkDocuments(); err != nil {
		return err
	}
	if err := f.source.DescribeAll(); err != nil {
		return err
	}
	if err := f.verifyTerms(ctx); err != nil {
		return err
	}
	if err := f.verifyNames(ctx); err != nil {
		return err
	}
	if err := f.verifyLengths(); err != nil {
		return err
	}
	if err := f.verifyStored(ctx); err != nil {
		return err
	}
	if err := f.verifyPositions(); err != nil {
		return err
	}
	return f.verifyLists(ctx)
}

// checkDocuments checks that the offsets of names and stored documents stay in bounds.
func (f *File) checkDocuments() error {
	if err := f.checkNames(); err != nil {
		return err
	}
	return f.checkStored()
}

// checkRange is the number of entries that one goroutine checks at a time.
const checkRange = 1 << 16

// verifyTerms checks the order of terms, and that each is found.
func (f *File) verifyTerms(ctx context.Context) error {
	return container.ParallelRanges(uint64(f.header.terms), checkRange, func(lo, hi uint64) error {
		first := plan.Handle(lo)
		var before []byte
		if first > 0 {
			before = []byte(f.terms.Term(first - 1))
		}
		for h, term := range f.terms.from(first) {
			if h > 0 && bytes.Compare(before, term) >= 0 {
				return f.corrupt(secTerms, f.terms.place(h), "term %d does not come behind the one before", h)
			}
			if name := f.fields[f.source.FieldOf(h)].Name; name != "" && !bytes.HasPrefix(term, []byte(name+FieldMark)) {
				return f.corrupt(secTerms, f.terms.place(h), "term %d is not of the field %s", h, name)
			}
			if got, ok := f.terms.Lookup(string(term)); !ok || got != h {
				return f.corrupt(secTerms, 0, "term %d is not found", h)
			}
			if before = append(before[:0], term...); uint64(h)+1 == hi {
				break
			}
		}
		return ctx.Err()
	})
}

// verifyNames decodes every block of names.
func (f *File) verifyNames(ctx context.Context) error {
	return container.ParallelRanges(uint64(f.header.docs), checkRange, func(lo, hi uint64) error {
		for d := range f.Names(uint32(lo)) {
			if uint64(d)+1 == hi {
				break
			}
		}
		return ctx.Err()
	})
}

func (f *File) verifyLengths() error {
	rounded := f.meta.roundsLengths()
	for at, lengths := range f.lengths {
		sum := uint64(0)
		for i, n := range lengths {
			if rounded && n != bm25.RoundLength(n) {
				return f.corrupt(secLengths, 4*uint64(i), "length %d of document %d is not rounded", n, i)
			}
			sum += uint64(n)
		}
		if want := f.fields[at].Length; sum != want && !(rounded && sum < want) {
			return f.corrupt(secLengths, 0, "the lengths add up to %d, the entry of field %d says %d", sum, at, want)
		}
	}
	return nil
}

// tally is the sums over the lists of a field.
type tally struct {
	lengths          []uint32
	used             docSet // documents with terms
	postings, tokens atomic.Uint64
}

// verifyLists decodes all lists, and compares their sums with the fields.
func (f *File) verifyLists(ctx context.Context) error {
	fields := make([]tally, len(f.fields))
	for i := range fields {
		fields[i].lengths, fields[i].used = f.lengths[i], newDocSet(f.header.docs)
		for d, n := range f.lengths[i] {
			if n > 0 {
				fields[i].used.mark(uint32(d))
			}
		}
	}
	if err := f.decodeLists(ctx, fields); err != nil {
		return err
	}
	for i := range fields {
		at, one := uint64(i)*fieldSize, &f.fields[i]
		if n := fields[i].used.count(); n != one.Docs {
			return f.corrupt(secFields, at+12, "%d documents with terms, the lengths and lists have %d", one.Docs, n)
		}
		if n, m := fields[i].postings.Load(), fields[i].tokens.Load(); n != one.Postings || m != one.Tokens {
			return f.corrupt(secFields, at+24, "%d postings and %d tokens, the lists have %d and %d", one.Postings, one.Tokens, n, m)
		}
	}
	return nil
}

func (f *File) decodeLists(ctx context.Context, fields []tally) error {
	buffers := sync.Pool{New: func() any { return new([]uint32) }}
	return container.ParallelRanges(uint64(f.header.terms), listBlock, func(lo, _ uint64) error {
		buf := buffers.Get().(*[]uint32)
		defer buffers.Put(buf)
		verify := func(h plan.Handle, d *descriptor) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f.verifyList(h, d.tokens, buf, &fields[f.source.FieldOf(h)])
		}
		return f.descriptors(lo/listBlock, verify)
	})
}

// verifyList decodes the docIDs and frequencies of list h, which must have the given number of tokens, into buf. It marks the
// documents of length 0 and adds to the sums of its field.
func (f *File) verifyList(h plan.Handle, want uint64, buf *[]uint32, sums *tally) (err error) {
	l := f.source.Lists[h]
	if *buf, err = f.source.List(h).AppendTo((*buf)[:0]); err != nil {
		return f.corruptList(secDocIDs, l.Off, h, err)
	}
	if n := len(*buf); n > 0 && (*buf)[n-1] >= f.header.docs {
		return f.corrupt(secDocIDs, 4*l.Off, "list %d: docID %d out of %d documents", h, (*buf)[n-1], f.header.docs)
	}
	for _, d := range *buf {
		if sums.lengths[d] == 0 {
			sums.used.markShared(d)
		}
	}
	sums.postings.Add(uint64(len(*buf)))
	sums.tokens.Add(want)
	if *buf, err = f.Freqs((*buf)[:0], h); err != nil {
		return err
	}
	tokens := uint64(0)
	for i, n := range *buf {
		if tokens += uint64(n); n > f.meta.Impacts.Max() {
			return f.corrupt(secFreqs, 4*l.FreqOff, "list %d: impact %d is %d, more than %d bits", h, i, n, f.meta.Impacts.Bits)
		}
	}
	if tokens != want {
		return f.corrupt(secFreqs, 4*l.FreqOff, "list %d: the frequencies add up to %d, its descriptor says %d", h, tokens, want)
	}
	if f.meta.Positions {
		return f.verifyPositionsOf(h, *buf)
	}
	return nil
}
