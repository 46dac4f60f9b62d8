package codec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Packed is a view of n packed values of type uint32 with random access: the gaps of a
// ParaPFor list, or frequencies. It is the codec "freq": the index of a docID in its
// list leads to its frequency through one segment (Ding et al. 2009, section 8.2).
//
// Values lie in segments of SegmentLen; the last segment may be shorter. The words are
// the directory, then the payloads, contiguous and in order. The directory has two
// words a segment: the offset of its payload, in words from the start of Payload, and
// a header. Header bits:
//
//	[0:6)   b   bits of a value kept in place, 0 to 32
//	[6:12)  hb  bits of an overflow
//	[12:16) ib  bits of the index of an exception
//	[16:24) en  number of exceptions, at most 3/5 of the values
//	[24:32) zero
//
// The payload of count values has two parts, in both of which bit k is bit k%32 of
// word k/32:
//
//   - ceil(count*b/32) words with the low b bits of value i at bit i*b
//   - ceil(en*(ib+hb)/32) words with en ascending indexes of ib bits each, directly
//     followed by en overflows (value >> b) of hb bits each
//
// ib and hb are the widths of the largest index and overflow, both 0 without
// exceptions (Ao et al. 2011, section 5.1 and appendix D).
//
// A Packed shares the memory of the words. It is safe for concurrent use while the
// words do not change.
type Packed struct {
	Len     uint32
	Dir     []uint32 // two words a segment
	Payload []uint32
	first   int // offset of Dir in the whole list, for errors
}

// NewPacked returns a view of words as n packed values. It checks that the directory
// fits. Each segment is checked when it is read.
func NewPacked(n uint32, words []uint32) (Packed, error) {
	return newPacked(n, words, 0)
}

func newPacked(n uint32, words []uint32, first int) (Packed, error) {
	dir := 2 * segments(n)
	if len(words) < dir {
		return Packed{}, corrupt(ParaPFor, first+len(words), "ends inside a directory of %d words", dir)
	}
	if n == 0 && len(words) > 0 {
		return Packed{}, corrupt(ParaPFor, first, "%d words behind the end of an empty list", len(words))
	}
	return Packed{Len: n, Dir: words[:dir:dir], Payload: words[dir:], first: first}, nil
}

// Segments returns the number of segments.
func (p Packed) Segments() int { return len(p.Dir) / 2 }

// Bits bounds the bits of the values of segment seg, which must be in range. A bad
// directory entry gives any number.
func (p Packed) Bits(seg int) uint {
	h := header(p.Dir[2*seg+1])
	return h.b() + h.hb()
}

// At returns value i, or an error for a bad directory entry or i >= Len. It relies on
// ascending exceptions, which only Validate checks.
func (p Packed) At(i uint32) (uint32, error) {
	if i >= p.Len {
		return 0, fmt.Errorf("codec: value %d of %d", i, p.Len)
	}
	seg, slot := int(i/SegmentLen), uint(i%SegmentLen)
	h, low, exc, err := p.segment(seg, segmentCount(p.Len, seg))
	if err != nil {
		return 0, err
	}
	return bitsAt(low, slot*h.b(), h.b()) | h.above(exc, slot), nil
}

// Sum returns the sum of the values of the segment of value i before it, and value i. The time is less than that of
// Decode. Errors are those of At.
func (p Packed) Sum(i uint32) (before uint64, value uint32, err error) {
	if i >= p.Len {
		return 0, 0, fmt.Errorf("codec: value %d of %d", i, p.Len)
	}
	seg, slot := int(i/SegmentLen), uint(i%SegmentLen)
	h, low, exc, err := p.segment(seg, segmentCount(p.Len, seg))
	if err != nil {
		return 0, 0, err
	}
	b, ib, hb, en := h.b(), h.ib(), h.hb(), h.en()
	before, value = sumLow(low, slot, b), bitsAt(low, slot*b, b)
	for j := range en {
		index := uint(bitsAt(exc, j*ib, ib))
		if index > slot {
			break
		}
		over := bitsAt(exc, en*ib+j*hb, hb) << (b & 31)
		if index == slot {
			value |= over
			break
		}
		before += uint64(over)
	}
	return before, value, nil
}

// sumLow is the sum of the first n values of b bits of words.
func sumLow(words []uint32, n, b uint) (sum uint64) {
	if b > 4 {
		for i := range n {
			sum += uint64(bitsAt(words, i*b, b))
		}
		return sum
	}
	// The bits of one significance have the distance b: one count sums them up.
	every := [...]uint64{0, 1<<64 - 1, 0x5555555555555555, 0x9249249249249249, 0x1111111111111111}[b]
	first := uint(0) // the first lowest bit of a value in a word of 64 bits
	for end, at := n*b, uint(0); at < end; at += 64 {
		w := uint64(words[at/32])
		if at+32 < end {
			w |= uint64(words[at/32+1]) << 32
		}
		if end-at < 64 {
			w &= 1<<(end-at) - 1
		}
		shift := first
		for k := range b {
			sum += uint64(bits.OnesCount64(w&(every<<(shift&63)))) << (k & 63)
			if shift++; shift == b {
				shift = 0
			}
		}
		if b == 3 { // 64 leaves a rest of 1
			first = (first + 2) % 3
		}
	}
	return sum
}

// Decode writes the values of segment seg to dst and returns their number. The rest of
// dst is undefined.
func (p Packed) Decode(seg int, dst *[SegmentLen]uint32) (int, error) {
	if seg < 0 || seg >= p.Segments() {
		return 0, fmt.Errorf("codec: segment %d of %d", seg, p.Segments())
	}
	count := segmentCount(p.Len, seg)
	return count, p.decode(seg, dst[:count])
}

// AppendTo decodes all values, appends them to dst and returns the extended slice, or
// an error and dst unchanged. It allocates only to grow dst.
func (p Packed) AppendTo(dst []uint32) ([]uint32, error) {
	n := len(dst)
	out := slices.Grow(dst, int(p.Len))[:n+int(p.Len)]
	for seg := range p.Segments() {
		at := n + seg*SegmentLen
		if err := p.decode(seg, out[at:at+segmentCount(p.Len, seg)]); err != nil {
			return dst, err
		}
	}
	return out, nil
}

// Validate makes all checks of AppendTo.
func (p Packed) Validate() error {
	var buf [SegmentLen]uint32
	for seg := range p.Segments() {
		if _, err := p.Decode(seg, &buf); err != nil {
			return err
		}
	}
	return nil
}

// AppendPacked packs values, appends the words to dst and returns the extended slice.
// For invalid options, or more than 2^32-1 values or words, it returns an error and
// dst unchanged.
func AppendPacked(dst, values []uint32, opt Options) ([]uint32, error) {
	return appendPacked(dst, values, 0, opt)
}

// AppendFreqs is AppendPacked for frequencies, which are at least 1: the values are one less.
func AppendFreqs(dst, freqs []uint32, opt Options) ([]uint32, error) {
	return appendPacked(dst, freqs, 1, opt)
}

// appendPacked packs values, less a number that none is below.
func appendPacked(dst, values []uint32, less uint32, opt Options) ([]uint32, error) {
	if err := opt.Validate(); err != nil {
		return dst, err
	}
	if uint64(len(values)) > math.MaxUint32 {
		return dst, fmt.Errorf("codec: %d values in one list", len(values))
	}
	dir := len(dst)
	nseg := segments(uint32(len(values)))
	out := appendZeros(dst, 2*nseg)
	payload := len(out)
	var buf [SegmentLen]uint32
	for seg := range nseg {
		from := values[seg*SegmentLen : min((seg+1)*SegmentLen, len(values))]
		v := buf[:len(from)]
		for i, x := range from {
			v[i] = x - less
		}
		off := len(out) - payload
		if uint64(off) > math.MaxUint32 {
			return dst, fmt.Errorf("codec: %d values take more than 2^32 words", len(values))
		}
		h := chooseWidth(v, opt)
		out[dir+2*seg], out[dir+2*seg+1] = uint32(off), uint32(h)
		out = appendSegment(out, v, h)
	}
	return out, nil
}
