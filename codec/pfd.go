package codec

// PFD is the codec PForDelta of Zukowski et al. 2006, as in Ao et al. 2011, section
// 5.1. Its words are the last docIDs of segments, the directory, and the payloads,
// contiguous and in order. The directory has two words a segment: the offset of its
// payload, in words from the start of the payloads, and a header. Header bits:
//
//	[0:6)   b      bits of a slot, 0 to 32
//	[8:16)  first  index of the first exception, 128 if there is none
//	[16:24) en     number of exceptions
//	the rest       zero
//
// The payload of count values is ceil(count*b/32) words with slot i at bit i*b, then
// en words, the exceptions in order. A slot holds its value. The slot of an exception
// holds the number of values between it and the next exception, 0 for the last one. A
// small value becomes an exception where that number would not fit into a slot.

type pfdHeader uint32

func (h pfdHeader) b() uint     { return uint(h & 63) }
func (h pfdHeader) first() uint { return uint(h >> 8 & 255) }
func (h pfdHeader) en() uint    { return uint(h >> 16 & 255) }

// flaw returns a reason why no encoder writes this header for count values, or "".
func (h pfdHeader) flaw(count int) string {
	switch b, first, en := h.b(), h.first(), h.en(); {
	case h&^0xffff3f != 0:
		return "reserved bits are set"
	case b > 32 || b == 32 && en > 0:
		return "values of more than 32 bits"
	case en == 0 && first != SegmentLen || en > 0 && first >= uint(count):
		return "first exception and number of exceptions disagree"
	}
	return ""
}

// decodePFD writes the docIDs of segment seg to dst, whose length is their count.
func decodePFD(dst []uint32, t *gapTables, seg int) error {
	words, err := t.room(PFD, seg)
	if err != nil {
		return err
	}
	h := pfdHeader(t.dir[2*seg+1])
	bad := func(reason string) error {
		return corrupt(PFD, len(t.last)+2*seg+1, "segment %d: header %#08x: %s", seg, uint32(h), reason)
	}
	if flaw := h.flaw(len(dst)); flaw != "" {
		return bad(flaw)
	}
	b, low := h.b(), packWords(len(dst), h.b())
	if len(words) != low+int(h.en()) {
		return bad("the payload has the wrong length")
	}
	exceptions := words[low:]
	words = words[:low]
	if !zeroAbove(words, uint(len(dst))*b) {
		return corrupt(PFD, t.at(seg)+low-1, "segment %d: bits behind the last slot", seg)
	}
	if len(exceptions) == 0 {
		return t.checkEnd(PFD, seg, unpackGaps(dst, words, b, t.base(seg)))
	}
	unpack(dst, words, b)
	i, distance := uint64(h.first()), uint32(0)
	for j, v := range exceptions {
		if i >= uint64(len(dst)) {
			return corrupt(PFD, t.at(seg)+low+j, "segment %d: exception %d has index %d", seg, j, i)
		}
		distance, dst[i] = dst[i], v
		i += uint64(distance) + 1
	}
	if distance != 0 {
		return corrupt(PFD, t.at(seg), "segment %d: more than %d exceptions", seg, len(exceptions))
	}
	return t.sum(PFD, dst, seg)
}

// pfdExceptions returns the number of exceptions for width b: larger values, and the
// small values that a long distance between two of them needs.
func pfdExceptions(values []uint32, b uint) int {
	n, before := 0, -1
	for i, v := range values {
		if v>>b != 0 {
			if n++; before >= 0 {
				n += (i - before - 1) >> b
			}
			before = i
		}
	}
	return n
}

// choosePFD returns the width of the fewest words, the largest of equals, or the forced
// width, with its numbers of exceptions and words.
func choosePFD(values []uint32, opt Options) (b uint, en, words int) {
	large := wider(values)
	if opt.Forced {
		b = opt.forcedWidth(&large, len(values))
		en = pfdExceptions(values, b)
		return b, en, packWords(len(values), b) + en
	}
	b = widest(&large)
	words = packWords(len(values), b)
	for try := int(b) - 1; try >= 0 && large[try] < words; try-- {
		low := packWords(len(values), uint(try))
		if low+large[try] >= words {
			continue
		}
		if n := pfdExceptions(values, uint(try)); low+n < words {
			b, en, words = uint(try), n, low+n
		}
	}
	return b, en, words
}

func appendPFD(dst, docs []uint32, opt Options) []uint32 {
	nseg := segments(uint32(len(docs)))
	dst = appendLast(dst, docs)
	dir := len(dst)
	dst = appendZeros(dst, 2*nseg)
	payload := len(dst)
	var buf, exceptions [SegmentLen]uint32
	for seg := range nseg {
		slots := gaps(&buf, docs, seg)
		b, en, _ := choosePFD(slots, opt)
		n, before, first := 0, -1, SegmentLen
		link := func(i int) { // makes value i an exception
			exceptions[n] = slots[i]
			slots[i] = 0
			if before < 0 {
				first = i
			} else {
				slots[before] = uint32(i - before - 1)
			}
			n, before = n+1, i
		}
		for i, v := range slots {
			if v>>b == 0 {
				continue
			}
			for before >= 0 && (i-before-1)>>b > 0 {
				link(before + 1<<b)
			}
			link(i)
		}
		dst[dir+2*seg] = uint32(len(dst) - payload)
		dst[dir+2*seg+1] = uint32(b) | uint32(first)<<8 | uint32(en)<<16
		dst = appendLow(dst, slots, b)
		dst = append(dst, exceptions[:en]...)
	}
	return dst
}

func sizePFD(docs []uint32, opt Options) int {
	nseg := segments(uint32(len(docs)))
	total := 3 * nseg
	var buf [SegmentLen]uint32
	for seg := range nseg {
		_, _, words := choosePFD(gaps(&buf, docs, seg), opt)
		total += words
	}
	return total
}
