package hdl

import (
	"slices"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// checkRange is the number of entries that one goroutine checks at a time.
const checkRange = 1 << 16

// checkBounds checks all that accessors rely on to stay in bounds, and fills in
// the lists of the source. It does not read docIDs, frequencies, terms, names or texts.
func (f *File) checkBounds() error {
	if err := f.checkLists(); err != nil {
		return err
	}
	if err := f.file.CheckOffsets(int(secTermOffsets), f.dict.offsets, uint64(len(f.dict.bytes)), MaxTermLen); err != nil {
		return err
	}
	if err := f.file.CheckOffsets(int(secNameOffsets), f.nameOffsets, uint64(len(f.names)), MaxNameLen); err != nil {
		return err
	}
	if err := f.checkTexts(); err != nil {
		return err
	}
	return f.checkSlots()
}

// checkLists checks that the lists lie side by side and fill their sections.
func (f *File) checkLists() error {
	lists := f.bytes(secLists)
	words, freqWords := uint64(len(f.source.Words)), uint64(len(f.freqs))
	ids := codec.IDs()
	var postings, tokens atomic.Uint64
	err := container.ParallelRanges(uint64(f.header.terms), checkRange, func(lo, hi uint64) error {
		var before descriptor
		if lo > 0 {
			before = descriptorAt(lists, uint32(lo-1))
		}
		var n, t uint64
		for i := lo; i < hi; i++ {
			d := descriptorAt(lists, uint32(i))
			bad := func(format string, args ...any) error {
				return f.corrupt(secLists, i*listSize, format, args...)
			}
			switch {
			case d.off != container.AlignUp(before.off+uint64(before.words), plan.ListAlign) || d.freqOff != before.freqOff+uint64(before.freqWords):
				return bad("list %d does not lie behind the one before", i)
			case d.off > words || uint64(d.words) > words-d.off:
				return bad("list %d, %d words at word %d, ends behind its section of %d", i, d.words, d.off, words)
			case d.freqOff > freqWords || uint64(d.freqWords) > freqWords-d.freqOff:
				return bad("frequencies of list %d, %d words at word %d, end behind their section of %d", i, d.freqWords, d.freqOff, freqWords)
			case !slices.Contains(ids, d.codec):
				return bad("list %d has the unknown codec %d", i, d.codec)
			case d.reserved != 0:
				return bad("list %d has reserved bytes that are not zero", i)
			case d.codec == codec.Raw && d.words != d.len:
				return bad("raw list %d has %d words for %d docIDs", i, d.words, d.len)
			case d.len > f.header.docs:
				return bad("list %d has %d docIDs out of %d documents", i, d.len, f.header.docs)
			case d.tokens < uint64(d.len):
				return bad("list %d has %d docIDs and %d tokens", i, d.len, d.tokens)
			}
			f.source.Lists[i] = plan.List{Off: d.off, Words: d.words, Len: d.len, Codec: d.codec, FreqOff: d.freqOff, FreqWords: d.freqWords}
			n, t = n+uint64(d.len), t+d.tokens
			before = d
		}
		postings.Add(n)
		tokens.Add(t)
		return nil
	})
	if err != nil {
		return err
	}
	var last descriptor
	if f.header.terms > 0 {
		last = descriptorAt(lists, f.header.terms-1)
	}
	if container.AlignUp(last.off+uint64(last.words), plan.ListAlign) != words || last.freqOff+uint64(last.freqWords) != freqWords {
		return f.corrupt(secLists, 0, "lists end at words %d and %d, their sections at %d and %d",
			last.off+uint64(last.words), last.freqOff+uint64(last.freqWords), words, freqWords)
	}
	if postings.Load() != f.header.postings || tokens.Load() != f.header.tokens {
		return f.corrupt(secLists, 0, "%d postings and %d tokens, the header says %d and %d",
			postings.Load(), tokens.Load(), f.header.postings, f.header.tokens)
	}
	return nil
}

// checkSlots checks that the slots in use are as many as terms, so that some are
// empty and probing ends, and that they name terms.
func (f *File) checkSlots() error {
	var used atomic.Uint64
	err := container.ParallelRanges(uint64(len(f.dict.slots)), checkRange, func(lo, hi uint64) error {
		n := uint64(0)
		for i, s := range f.dict.slots[lo:hi] {
			if s == 0 {
				continue
			}
			n++
			if h := uint32(s) - 1; h >= f.header.terms {
				return f.corrupt(secTermHash, 8*(lo+uint64(i)), "slot for term %d of %d", h, f.header.terms)
			}
		}
		used.Add(n)
		return nil
	})
	if err == nil && used.Load() != uint64(f.header.terms) {
		err = f.corrupt(secTermHash, 0, "%d slots in use for %d terms", used.Load(), f.header.terms)
	}
	return err
}
