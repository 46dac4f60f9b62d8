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
	bytes uint64 // of section lists
	words uint64 // of section docids
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

// inMemory marks the places of inline lists while they count from the start of expanded.
const inMemory = 1 << 63

// expanded holds the words of inline lists, as backends read them.
type expanded struct {
	words, freqs     []uint32
	postings, tokens uint64 // of all lists
}

// onesWords are the frequency words of each inline list whose frequencies are 1.
var onesWords = []uint32{0, 0}

// openLists reads all descriptors and makes the lists of the source. In memory the words of
// inline lists lie behind the words of the sections, which stay mapped.
func (f *File) openLists() error {
	if err := f.checkListPlaces(); err != nil {
		return err
	}
	const chunk = 512 // blocks that one goroutine reads at a time
	blocks := blocksOfLists(uint64(f.header.terms))
	parts := make([]expanded, (blocks+chunk-1)/chunk)
	err := container.ParallelRanges(blocks, chunk, func(lo, hi uint64) error {
		x := &parts[lo/chunk]
		x.words = make([]uint32, 0, (hi-lo)*listBlock*plan.ListAlign) // enough for lists of few docIDs
		x.freqs = slices.Clone(onesWords)
		for b := lo; b < hi; b++ {
			if err := f.expand(b, x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var postings, tokens uint64
	var end listPlace
	starts := make([]listPlace, len(parts))
	for i, x := range parts {
		starts[i] = end
		postings, tokens = postings+x.postings, tokens+x.tokens
		if len(x.words) > 0 {
			end.words, end.freqs = end.words+uint64(len(x.words)), end.freqs+uint64(len(x.freqs))
		}
	}
	if postings != f.header.postings || tokens != f.header.tokens {
		return f.corrupt(secLists, 0, "%d postings and %d tokens, the header says %d and %d",
			postings, tokens, f.header.postings, f.header.tokens)
	}
	if f.source.Words, f.stored.words, err = f.file.Extend(int(secDocIDs), end.words); err != nil {
		return err
	}
	if f.source.Freqs, f.stored.freqs, err = f.file.Extend(int(secFreqs), end.freqs); err != nil {
		return err
	}
	for i, x := range parts {
		if len(x.words) > 0 {
			copy(f.source.Words[f.stored.words+starts[i].words:], x.words)
			copy(f.source.Freqs[f.stored.freqs+starts[i].freqs:], x.freqs)
		}
	}
	for h := range f.source.Lists {
		if l := &f.source.Lists[h]; l.Off&inMemory != 0 {
			start := starts[h/(chunk*listBlock)]
			l.Off = l.Off&^inMemory + f.stored.words + start.words
			l.FreqOff += f.stored.freqs + start.freqs
		}
	}
	return nil
}

// expand makes the lists of a block, and appends the words of inline lists.
func (f *File) expand(block uint64, x *expanded) error {
	var docs, freqs [maxInline]uint32
	return f.eachDescriptor(block, docs[:], freqs[:], func(h plan.Handle, d *descriptor) error {
		x.postings, x.tokens = x.postings+uint64(d.len), x.tokens+d.tokens
		l := &f.source.Lists[h]
		*l = plan.List{Off: d.off, Words: d.words, Len: d.len, Codec: d.codec, FreqOff: d.freqOff, FreqWords: d.freqWords}
		if !d.inline {
			return nil
		}
		l.Off, l.FreqOff = inMemory|uint64(len(x.words)), 0
		x.words = append(x.words, docs[:d.len]...)
		for len(x.words)%plan.ListAlign != 0 {
			x.words = append(x.words, 0)
		}
		switch {
		case d.len == 0:
		case d.tokens == uint64(d.len):
			l.FreqWords = uint32(len(onesWords))
		default:
			at := len(x.freqs)
			for i := range d.len {
				freqs[i]--
			}
			var err error
			if x.freqs, err = codec.AppendPacked(x.freqs, freqs[:d.len], codec.DefaultOptions()); err != nil {
				return err
			}
			l.FreqOff, l.FreqWords = uint64(at), uint32(len(x.freqs)-at)
		}
		return nil
	})
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

// descriptors reads the descriptors of a block in any version.
func (f *File) descriptors(block uint64, each func(plan.Handle, *descriptor) error) error {
	if f.header.Version >= compact {
		var docs, freqs [maxInline]uint32
		return f.eachDescriptor(block, docs[:], freqs[:], each)
	}
	for h := block * listBlock; h < min((block+1)*listBlock, uint64(f.header.terms)); h++ {
		d, _ := descriptorAt(f.bytes(secLists), uint32(h))
		if err := each(plan.Handle(h), &d); err != nil {
			return err
		}
	}
	return nil
}

// eachDescriptor reads the descriptors of a block and checks them. The postings of an inline
// list are in docs and freqs, of maxInline elements.
func (f *File) eachDescriptor(block uint64, docs, freqs []uint32, each func(plan.Handle, *descriptor) error) error {
	at, end := f.listPlace(block), f.listPlace(block+1)
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
