package hdl

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// listSize is the size of a list descriptor of versions 1 to 3, in bytes.
const listSize = 40

// earlierLength is sectionLength of versions 1 to 3.
func earlierLength(s section, docs, terms uint64) (n uint64, fixed bool) {
	switch s {
	case secLists:
		return terms * listSize, true
	case secTermOffsets:
		return (terms + 1) * 8, true
	case secTermHash:
		return slotCount(terms) * 8, true
	case secNameOffsets:
		return (docs + 1) * 8, true
	case secLengths:
		return docs * 4, true
	}
	return 0, false
}

// openEarlier reads the sections of versions 1 to 3 that version 4 has changed.
func (f *File) openEarlier() error {
	f.source.Words = container.View[uint32](f.bytes(secDocIDs))
	f.source.Freqs = container.View[uint32](f.bytes(secFreqs))
	f.stored = listPlace{words: uint64(len(f.source.Words)), freqs: uint64(len(f.source.Freqs))}
	f.lengths = container.View[uint32](f.bytes(secLengths))
	if err := f.openEarlierLists(); err != nil {
		return err
	}
	terms, slots := f.bytes(secTerms), container.View[uint64](f.bytes(secTermHash))
	if err := f.file.CheckOffsets(int(secTermOffsets), f.termOffsets, uint64(len(terms)), MaxTermLen); err != nil {
		return err
	}
	f.terms = &sortedDictionary{Dictionary{slots: slots, offsets: f.termOffsets, bytes: terms}}
	return f.checkSlots(slots)
}

// sortedDictionary is a Dictionary whose terms ascend.
type sortedDictionary struct{ Dictionary }

// search returns the handle of the first term that is not below prefix.
func (d *sortedDictionary) search(prefix string) plan.Handle {
	return plan.Handle(sort.Search(d.Terms(), func(h int) bool { return string(d.term(plan.Handle(h))) >= prefix }))
}

// from yields the terms from handle h on, in ascending order.
func (d *sortedDictionary) from(h plan.Handle) iter.Seq2[plan.Handle, []byte] {
	return func(yield func(plan.Handle, []byte) bool) {
		for int(h) < d.Terms() && yield(h, d.term(h)) {
			h++
		}
	}
}

// place returns the offset of term h.
func (d *sortedDictionary) place(h plan.Handle) uint64 { return d.offsets[h] }

// descriptorAt reads descriptor i of a section, and its three reserved bytes.
func descriptorAt(lists []byte, i uint32) (d descriptor, reserved uint32) {
	p := lists[uint64(i)*listSize:][:listSize]
	le := binary.LittleEndian
	d.off, d.freqOff, d.tokens = le.Uint64(p), le.Uint64(p[8:]), le.Uint64(p[16:])
	d.words, d.freqWords, d.len = le.Uint32(p[24:]), le.Uint32(p[28:]), le.Uint32(p[32:])
	tail := le.Uint32(p[36:])
	d.codec = codec.ID(tail)
	return d, tail >> 8
}

// openEarlierLists makes the lists of the source. They must lie side by side and fill their
// sections.
func (f *File) openEarlierLists() error {
	lists := f.bytes(secLists)
	words, freqWords := uint64(len(f.source.Words)), uint64(len(f.source.Freqs))
	var postings, tokens atomic.Uint64
	err := container.ParallelRanges(uint64(f.header.terms), checkRange, func(lo, hi uint64) error {
		var before descriptor
		if lo > 0 {
			before, _ = descriptorAt(lists, uint32(lo-1))
		}
		var n, t uint64
		for i := lo; i < hi; i++ {
			d, reserved := descriptorAt(lists, uint32(i))
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
			case !slices.Contains(codecs, d.codec):
				return bad("list %d has the unknown codec %d", i, d.codec)
			case reserved != 0:
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
		last, _ = descriptorAt(lists, f.header.terms-1)
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
func (f *File) checkSlots(all []uint64) error {
	var used atomic.Uint64
	err := container.ParallelRanges(uint64(len(all)), checkRange, func(lo, hi uint64) error {
		n := uint64(0)
		for i, s := range all[lo:hi] {
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
