package hdl

import (
	"sync"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// descriptions makes the lists of a source out of their descriptors, a block at a time. It
// implements plan.Lazy.
type descriptions struct {
	*File
	made []atomic.Uint32 // bits: the lists of a block are made

	mu     sync.Mutex
	left   int       // blocks that are not made
	end    listPlace // place in the source behind the words of the lists so far
	totals totals    // sums over the lists that are described so far
	spare  expanded
}

var _ plan.Lazy = (*descriptions)(nil)

type totals struct{ postings, tokens uint64 }

// expanded holds the words of the inline lists of some blocks, as backends read them.
type expanded struct {
	words, freqs []uint32
	totals       totals // sums over all lists of the blocks
}

// inMemory marks the places of inline lists while they count from the start of expanded.
const inMemory = 1 << 63

// onesWords are the frequency words of each inline list whose frequencies are 1.
var onesWords = []uint32{0, 0}

// openLists makes room for the words of inline lists behind the words of the sections, which
// stay mapped. Pages of it that no list needs take no memory.
func (f *File) openLists() error {
	if err := f.checkListPlaces(); err != nil {
		return err
	}
	// The descriptor of an inline list of n docIDs has 1 + n bytes at least, and one more with a frequency
	// above 1. Its words are n and up to 3 for the alignment, its packed frequencies n + 2 at most.
	bytes := uint64(len(f.bytes(secLists)))
	var err error
	if f.source.Words, f.stored.words, err = f.file.Extend(int(secDocIDs), bytes+2*uint64(f.header.terms)); err != nil {
		return err
	}
	if f.source.Freqs, f.stored.freqs, err = f.file.Extend(int(secFreqs), bytes+uint64(len(onesWords))); err != nil {
		return err
	}
	copy(f.source.Freqs[f.stored.freqs:], onesWords)
	blocks := blocksOfLists(uint64(f.header.terms))
	d := &descriptions{File: f, made: make([]atomic.Uint32, blocks/32+1), left: int(blocks), end: f.stored}
	d.end.freqs += uint64(len(onesWords))
	f.source.Lazy = d
	return nil
}

func (d *descriptions) has(block uint64) bool { return d.made[block/32].Load()>>(block%32)&1 != 0 }

// Describe implements plan.Lazy.
func (d *descriptions) Describe(h plan.Handle) {
	if block := uint64(h) / listBlock; h < d.header.terms && !d.has(block) {
		d.describe(block)
	}
}

func (d *descriptions) describe(block uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.has(block) {
		return
	}
	x := &d.spare
	if err := d.expand(block, block+1, x); err != nil {
		panic(&mapped.Fault{Err: err})
	}
	d.place(block, block+1, x)
}

// DescribeAll implements plan.Lazy.
func (d *descriptions) DescribeAll() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		return d.total()
	}
	const chunk = 512 // blocks that one goroutine reads at a time
	blocks := blocksOfLists(uint64(d.header.terms))
	parts := make([]expanded, (blocks+chunk-1)/chunk)
	err := container.ParallelRanges(blocks, chunk, func(lo, hi uint64) error {
		return d.expand(lo, hi, &parts[lo/chunk])
	})
	if err != nil {
		return &mapped.Fault{Err: err}
	}
	for i := range parts {
		lo := uint64(i) * chunk
		d.place(lo, min(lo+chunk, blocks), &parts[i])
	}
	return d.total()
}

// total compares the totals of all lists with the header.
func (d *descriptions) total() error {
	if want := (totals{d.header.postings, d.header.tokens}); d.totals != want {
		return &mapped.Fault{Err: d.corrupt(secLists, 0, "%d postings and %d tokens, the header says %d and %d",
			d.totals.postings, d.totals.tokens, want.postings, want.tokens)}
	}
	return nil
}

// place moves the words of blocks from lo to hi-1 behind the words of the lists so far, and
// completes the lists. The caller holds mu.
func (d *descriptions) place(lo, hi uint64, x *expanded) {
	copy(d.source.Words[d.end.words:], x.words)
	copy(d.source.Freqs[d.end.freqs:], x.freqs)
	for b := lo; b < hi; b++ {
		if d.has(b) {
			continue
		}
		for h := b * listBlock; h < min((b+1)*listBlock, uint64(d.header.terms)); h++ {
			l := &d.source.Lists[h]
			if l.Off&inMemory != 0 {
				l.Off = l.Off&^inMemory + d.end.words
			}
			if l.FreqOff&inMemory != 0 {
				l.FreqOff = l.FreqOff&^inMemory + d.end.freqs
			}
		}
		d.left--
		d.made[b/32].Or(1 << (b % 32))
	}
	d.end.words, d.end.freqs = d.end.words+uint64(len(x.words)), d.end.freqs+uint64(len(x.freqs))
	d.totals.postings, d.totals.tokens = d.totals.postings+x.totals.postings, d.totals.tokens+x.totals.tokens
}

// expand makes the lists of the blocks from lo to hi-1 that are not made, and the words of their
// inline lists.
func (d *descriptions) expand(lo, hi uint64, x *expanded) error {
	*x = expanded{words: x.words[:0], freqs: x.freqs[:0]}
	if x.words == nil {
		x.words = make([]uint32, 0, (hi-lo)*listBlock*plan.ListAlign) // enough for lists of few docIDs
	}
	for b := lo; b < hi; b++ {
		if d.has(b) {
			continue
		}
		if err := d.expandBlock(b, x); err != nil {
			return err
		}
	}
	return nil
}

func (d *descriptions) expandBlock(block uint64, x *expanded) error {
	var docs, freqs [maxInline]uint32
	return d.eachDescriptor(block, docs[:], freqs[:], func(h plan.Handle, one *descriptor) error {
		x.totals.postings, x.totals.tokens = x.totals.postings+uint64(one.len), x.totals.tokens+one.tokens
		l := &d.source.Lists[h]
		*l = plan.List{Off: one.off, Words: one.words, Len: one.len, Codec: one.codec, FreqOff: one.freqOff, FreqWords: one.freqWords}
		if !one.inline {
			return nil
		}
		l.Off = inMemory | uint64(len(x.words))
		x.words = append(x.words, docs[:one.len]...)
		for len(x.words)%plan.ListAlign != 0 {
			x.words = append(x.words, 0)
		}
		if l.FreqOff = d.stored.freqs; one.len == 0 {
			return nil
		}
		if one.tokens == uint64(one.len) {
			l.FreqWords = uint32(len(onesWords))
			return nil
		}
		at := len(x.freqs)
		var err error
		x.freqs, err = codec.AppendFreqs(x.freqs, freqs[:one.len], codec.DefaultOptions())
		l.FreqOff, l.FreqWords = inMemory|uint64(at), uint32(len(x.freqs)-at)
		return err
	})
}

// Check implements plan.Lazy.
func (d *descriptions) Check(h plan.Handle, freqs bool) {
	d.Describe(h)
	if d.lazy {
		d.checkList(h, freqs)
	}
}

// Postings implements plan.Lazy.
func (d *descriptions) Postings() uint64 { return d.header.postings }

// Used implements plan.Lazy.
func (d *descriptions) Used() (words, freqs uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end.words, d.end.freqs
}
