package codec

// NewPFD is the codec of Yan et al. 2009, as in Ao et al. 2011, section 5.1. Its words
// are the last docIDs of segments, the directory, and the payloads, contiguous and in
// order. The directory has two words a segment: the offset of its payload, in words
// from the start of the payloads, and a header. Header bits:
//
//	[0:6)   b   bits of a value kept in place, 0 to 32
//	[8:16)  en  number of exceptions, values of more bits
//	[16:24) pw  words of the positions of exceptions
//	the rest    zero
//
// The payload of count values has three parts:
//
//   - ceil(count*b/32) words with the low b bits of value i at bit i*b
//   - pw words of Simple16: for each exception the number of values between it and
//     the exception before it, or the start of the segment
//   - words of Simple16 up to the next payload: for each exception (value >> b) - 1

type newPFDHeader uint32

func (h newPFDHeader) b() uint  { return uint(h & 63) }
func (h newPFDHeader) en() uint { return uint(h >> 8 & 255) }
func (h newPFDHeader) pw() uint { return uint(h >> 16 & 255) }

// flaw returns a reason why no encoder writes this header for count values, or "".
func (h newPFDHeader) flaw(count int) string {
	switch b, en, pw := h.b(), h.en(), h.pw(); {
	case h&^0xffff3f != 0:
		return "reserved bits are set"
	case b > 32 || b == 32 && en > 0:
		return "values of more than 32 bits"
	case en > uint(count):
		return "more exceptions than values"
	case (en == 0) != (pw == 0):
		return "number of exceptions and words of positions disagree"
	}
	return ""
}

// decodeNewPFD writes the docIDs of segment seg to dst, whose length is their count.
func decodeNewPFD(dst []uint32, t *gapTables, seg int) error {
	words, err := t.room(NewPFD, seg)
	if err != nil {
		return err
	}
	h := newPFDHeader(t.dir[2*seg+1])
	bad := func(reason string) error {
		return corrupt(NewPFD, len(t.last)+2*seg+1, "segment %d: header %#08x: %s", seg, uint32(h), reason)
	}
	if flaw := h.flaw(len(dst)); flaw != "" {
		return bad(flaw)
	}
	b, en, pw := h.b(), int(h.en()), int(h.pw())
	low := packWords(len(dst), b)
	if len(words) < low+pw || en == 0 && len(words) != low {
		return bad("the payload has the wrong length")
	}
	words, positions, overflows := words[:low], words[low:low+pw], words[low+pw:]
	if !zeroAbove(words, uint(len(dst))*b) {
		return corrupt(NewPFD, t.at(seg)+low-1, "segment %d: bits behind the last value", seg)
	}
	if en == 0 {
		return t.checkEnd(NewPFD, seg, unpackGaps(dst, words, b, t.base(seg)))
	}
	var skipBuf, overBuf [SegmentLen]uint32
	skip, over := skipBuf[:en], overBuf[:en]
	if !decodeS16(skip, positions) {
		return corrupt(NewPFD, t.at(seg)+low, "segment %d: no %d positions", seg, en)
	}
	if !decodeS16(over, overflows) {
		return corrupt(NewPFD, t.at(seg)+low+pw, "segment %d: no %d overflows", seg, en)
	}
	unpack(dst, words, b)
	i := uint(0) // the least index that may follow
	for j, s := range skip {
		i += uint(s)
		v := (uint64(over[j]) + 1) << b
		if i >= uint(len(dst)) || v > 1<<32-1 {
			return corrupt(NewPFD, t.at(seg)+low, "segment %d: exception %d has index %d and overflow %d", seg, j, i, over[j])
		}
		dst[i] |= uint32(v)
		i++
	}
	return t.sum(NewPFD, dst, seg)
}

// newPFDExceptions returns the positions and overflows of the exceptions for width b,
// in the given buffers.
func newPFDExceptions(values []uint32, b uint, skipBuf, overBuf *[SegmentLen]uint32) (skip, over []uint32) {
	n, next := 0, 0
	for i, v := range values {
		if v>>b != 0 {
			skipBuf[n], overBuf[n] = uint32(i-next), v>>b-1
			n, next = n+1, i+1
		}
	}
	return skipBuf[:n], overBuf[:n]
}

// chooseNewPFD returns the width of the fewest words, the largest of equals, or the
// forced width, among the widths whose overflows fit into Simple16.
func chooseNewPFD(values []uint32, opt Options) (b uint, words int) {
	large := wider(values)
	b = widest(&large)
	words = packWords(len(values), b)
	var skipBuf, overBuf [SegmentLen]uint32
	least := max(int(b)-28, 0) // overflows have 28 bits
	if opt.Forced {
		b = max(opt.forcedWidth(&large, len(values)), uint(least))
		skip, over := newPFDExceptions(values, b, &skipBuf, &overBuf)
		return b, packWords(len(values), b) + s16Words(skip) + s16Words(over)
	}
	for try := int(b) - 1; try >= least; try-- {
		w := packWords(len(values), uint(try))
		if w+2*((large[try]+27)/28) >= words { // a word holds at most 28 values
			continue
		}
		skip, over := newPFDExceptions(values, uint(try), &skipBuf, &overBuf)
		if w += s16Words(skip) + s16Words(over); w < words {
			b, words = uint(try), w
		}
	}
	return b, words
}

func appendNewPFD(dst, docs []uint32, opt Options) []uint32 {
	nseg := segments(uint32(len(docs)))
	dst = appendLast(dst, docs)
	dir := len(dst)
	dst = appendZeros(dst, 2*nseg)
	payload := len(dst)
	var buf, skipBuf, overBuf [SegmentLen]uint32
	for seg := range nseg {
		values := gaps(&buf, docs, seg)
		b, _ := chooseNewPFD(values, opt)
		skip, over := newPFDExceptions(values, b, &skipBuf, &overBuf)
		off := len(dst) - payload
		dst = appendLow(dst, values, b)
		positions := len(dst)
		dst = appendS16(dst, skip)
		dst[dir+2*seg] = uint32(off)
		dst[dir+2*seg+1] = uint32(b) | uint32(len(skip))<<8 | uint32(len(dst)-positions)<<16
		dst = appendS16(dst, over)
	}
	return dst
}

func sizeNewPFD(docs []uint32, opt Options) int {
	nseg := segments(uint32(len(docs)))
	total := 3 * nseg
	var buf [SegmentLen]uint32
	for seg := range nseg {
		_, words := chooseNewPFD(gaps(&buf, docs, seg), opt)
		total += words
	}
	return total
}
