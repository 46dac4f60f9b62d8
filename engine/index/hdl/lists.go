package hdl

import (
	"math"
	"slices"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// listBlock is the number of descriptors between two entries of section list-blocks.
const listBlock = 128

// blocksOfLists is the number of blocks for n lists.
func blocksOfLists(n uint64) uint64 { return (n + listBlock - 1) / listBlock }

// listPlace is an entry of section list-blocks: where a block of descriptors begins, and where
// the words of its lists do. The last entry is the end of all.
type listPlace struct {
	bytes uint64 // bytes of section lists that are written
	words uint64 // words of section docids that are written
	freqs uint64 // words of section freqs
}

const listPlaceWords = 3

func (f *File) listPlace(block uint64) listPlace {
	w := f.listBlocks[block*listPlaceWords:]
	return listPlace{w[0], w[1], w[2]}
}

// checkListPlaces checks that the blocks of descriptors and the words of lists fill their
// sections.
func (f *File) checkListPlaces() error {
	end := listPlace{uint64(len(f.bytes(secLists))), uint64(len(f.bytes(secDocIDs))) / 4, uint64(len(f.bytes(secFreqs))) / 4}
	blocks := blocksOfLists(uint64(f.header.terms))
	if first := f.listPlace(0); first != (listPlace{}) {
		return f.corrupt(secListBlocks, 0, "the first block is at %v", first)
	}
	if last := f.listPlace(blocks); last != end {
		return f.corrupt(secListBlocks, 8*listPlaceWords*blocks, "the blocks end at %v, their sections at %v", last, end)
	}
	for b := range blocks {
		if p, q := f.listPlace(b), f.listPlace(b+1); p.bytes > q.bytes || p.words > q.words || p.freqs > q.freqs {
			return f.corrupt(secListBlocks, 8*listPlaceWords*b, "block %d at %v, the next at %v", b, p, q)
		}
	}
	return nil
}

// Tokens is the sum of the frequencies (or impacts) of list h, which must be below Terms. It
// reads the descriptors of 128 lists.
func (f *File) Tokens(h plan.Handle) (tokens uint64) {
	defer mapped.Unwatch(mapped.Watch())
	err := f.descriptors(uint64(h)/listBlock, func(i plan.Handle, d *descriptor) error {
		if i == h {
			tokens = d.tokens
		}
		return nil
	})
	if err != nil {
		panic(&mapped.Fault{Err: err})
	}
	return tokens
}

// descriptors reads the descriptors of a block.
func (f *File) descriptors(block uint64, each func(plan.Handle, *descriptor) error) error {
	var docs, freqs [maxInline]uint32
	return f.eachDescriptor(block, docs[:], freqs[:], each)
}

// eachDescriptor verifies, reads and checks the descriptors of a block. The postings of an inline
// list are in docs and freqs, of maxInline elements.
func (f *File) eachDescriptor(block uint64, docs, freqs []uint32, each func(plan.Handle, *descriptor) error) error {
	at, end := f.listPlace(block), f.listPlace(block+1)
	if f.lazy {
		if err := f.file.Check(int(secLists), at.bytes, end.bytes); err != nil {
			return err
		}
	}
	in := fields{rest: f.bytes(secLists)[at.bytes:end.bytes]}
	first, last := block*listBlock, min((block+1)*listBlock, uint64(f.header.terms))
	var d descriptor
	for h := first; h < last; h++ {
		start := end.bytes - uint64(len(in.rest))
		bad := func(format string, args ...any) error { return f.corrupt(secLists, start, format, args...) }
		d = descriptor{off: at.words, freqOff: at.freqs}
		head := in.number(2*uint64(f.header.docs) + 1)
		if d.len, d.inline = uint32(head>>1), head&1 != 0; d.inline {
			d.codec, d.words = codec.Raw, d.len
			if d.len > maxInline {
				return bad("list %d has %d docIDs in its descriptor, at most %d are possible", h, d.len, maxInline)
			}
			if in.postings(docs[:d.len], freqs[:d.len], f.header.docs) {
				return bad("the postings of list %d are not %d docIDs out of %d documents with frequencies", h, d.len, f.header.docs)
			}
			for _, n := range freqs[:d.len] {
				d.tokens += uint64(n)
			}
		} else {
			d.codec = codec.ID(in.number(math.MaxUint8))
			d.words, d.freqWords = uint32(in.number(math.MaxUint32)), uint32(in.number(math.MaxUint32))
			d.tokens = uint64(d.len) + in.number(math.MaxUint64>>1)
			at.words = container.AlignUp(at.words+uint64(d.words), plan.ListAlign)
			at.freqs += uint64(d.freqWords)
		}
		switch {
		case in.bad:
			return bad("the descriptor of list %d is not one of a list in %d documents", h, f.header.docs)
		case at.words > end.words || at.freqs > end.freqs:
			return bad("list %d, %d and %d words at words %d and %d, ends behind its block, at %d and %d", h, d.words, d.freqWords, d.off, d.freqOff, end.words, end.freqs)
		case !slices.Contains(codecs, d.codec):
			return bad("list %d has the unknown codec %d", h, d.codec)
		case d.codec == codec.Raw && d.words != d.len:
			return bad("raw list %d has %d words for %d docIDs", h, d.words, d.len)
		}
		if err := each(plan.Handle(h), &d); err != nil {
			return err
		}
	}
	if len(in.rest) > 0 || at.words != end.words || at.freqs != end.freqs {
		return f.corrupt(secLists, end.bytes-uint64(len(in.rest)), "block %d of lists ends %d bytes early, at words %d and %d of %d and %d",
			block, len(in.rest), at.words, at.freqs, end.words, end.freqs)
	}
	return nil
}

var codecs = codec.IDs()

// postings reads the postings of an inline list in documents below limit. It reports damage.
func (f *fields) postings(docs, freqs []uint32, limit uint32) (bad bool) {
	next := uint64(0) // docID that a gap of 0 means
	for i := range docs {
		gap := f.number(2*uint64(limit) + 1)
		doc := next + gap>>1
		if f.bad || doc >= uint64(limit) {
			return true
		}
		if docs[i], freqs[i], next = uint32(doc), 1, doc+1; gap&1 == 0 {
			freqs[i] = uint32(2 + f.number(math.MaxUint32-2))
		}
	}
	return f.bad
}
