package codec

import (
	"fmt"
	"math/bits"
)

// header is the second directory word of a segment; Packed has its layout.
type header uint32

func (h header) b() uint  { return uint(h & 63) }
func (h header) hb() uint { return uint(h >> 6 & 63) }
func (h header) ib() uint { return uint(h >> 12 & 15) }
func (h header) en() uint { return uint(h >> 16 & 255) }

func makeHeader(b, hb, ib, en int) header {
	return header(b | hb<<6 | ib<<12 | en<<16)
}

// lowBits and exceptionBits are the lengths of the two parts of a payload of
// count values; each part fills whole words.
func (h header) lowBits(count int) uint { return uint(count) * h.b() }
func (h header) exceptionBits() uint    { return h.en() * (h.ib() + h.hb()) }

func (h header) lowWords(count int) int { return int(h.lowBits(count)+31) / 32 }
func (h header) exceptionWords() int    { return int(h.exceptionBits()+31) / 32 }

// flaw returns a reason why no encoder writes this header for count values, or "".
func (h header) flaw(count int) string {
	switch b, hb, ib, en := h.b(), h.hb(), h.ib(), h.en(); {
	case h>>24 != 0:
		return "reserved bits are set"
	case b+hb > 32:
		return "values of more than 32 bits"
	case en > uint(maxExceptions(count)):
		return "too many exceptions"
	case en == 0 && hb|ib != 0 || en > 0 && hb == 0:
		return "exception widths and count disagree"
	}
	return ""
}

// chooseWidth returns the header for the values of one segment: the width b of the
// fewest words among the widths with at most opt.exceptions exceptions. Among equals
// it prefers the fewest exceptions, then the smallest b.
func chooseWidth(values []uint32, opt Options) header {
	var count [33]int   // values by bit length
	var largest [33]int // largest index of a value by bit length
	for i, v := range values {
		n := bits.Len32(v)
		count[n]++
		largest[n] = i
	}
	top := 32
	for top > 0 && count[top] == 0 {
		top--
	}
	best := makeHeader(top, 0, 0, 0)
	words := best.lowWords(len(values))
	allowed := opt.exceptions(len(values))
	en, index := 0, 0
	for b := top - 1; b >= 0; b-- {
		en += count[b+1]
		index = max(index, largest[b+1])
		if en > allowed {
			break
		}
		h := makeHeader(b, top-b, bits.Len(uint(index)), en)
		w := h.lowWords(len(values)) + h.exceptionWords()
		if opt.Forced || w < words || w == words && uint(en) == best.en() {
			best, words = h, w
		}
	}
	return best
}

// patch adds the overflows in exc to the values in dst. It requires ascending indexes in
// range, overflows above 0, and the least widths for both. For words that break this rule it
// returns a reason, and the first bit of the index of the exception, or -1 for the widths.
func (h header) patch(dst, exc []uint32) (bit int, flaw string) {
	b, hb, ib, en := h.b(), h.hb(), h.ib(), h.en()
	if en == 0 {
		return 0, ""
	}
	next, all := uint(0), uint32(0) // least allowed next index, OR of all overflows
	for j := range en {
		i := uint(bitsAt(exc, j*ib, ib))
		over := bitsAt(exc, en*ib+j*hb, hb)
		if i < next || i >= uint(len(dst)) || over == 0 {
			return int(j * ib), fmt.Sprintf("exception %d has index %d and overflow %d", j, i, over)
		}
		dst[i] |= over << (b & 31) // b < 32, for hb > 0
		next, all = i+1, all|over
	}
	if uint(bits.Len(next-1)) != ib || uint(bits.Len32(all)) != hb {
		return -1, "exception widths are not the least"
	}
	return 0, ""
}

// above returns the bits above b of the value in a slot, whose exceptions are exc.
func (h header) above(exc []uint32, slot uint) uint32 {
	ib, hb, en := h.ib(), h.hb(), h.en()
	lo, hi := uint(0), en // the first exception whose index is not below slot
	for lo < hi {
		if mid := (lo + hi) / 2; uint(bitsAt(exc, mid*ib, ib)) < slot {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < en && uint(bitsAt(exc, lo*ib, ib)) == slot {
		return bitsAt(exc, en*ib+lo*hb, hb) << (h.b() & 31)
	}
	return 0
}

// segments returns the number of segments of n values.
func segments(n uint32) int { return int((uint64(n) + SegmentLen - 1) / SegmentLen) }

// segmentCount returns the number of values in segment seg of n values.
func segmentCount(n uint32, seg int) int {
	return int(min(uint64(n)-uint64(seg)*SegmentLen, SegmentLen))
}
