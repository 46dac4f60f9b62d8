package codec

import (
	"fmt"
	"math"
	"slices"
)

// Packed is a view of n packed values, any uint32 each, with random access:
// the gaps of a ParaPFor list, or frequencies. It is the codec "freq": a
// frequency is found by the position of its docID in the list, from one segment
// (Ding et al. 2009, section 8.2). Values lie in segments of
// SegmentLen, the last one may be shorter. The words are a directory of two
// words a segment {offset of its payload in words from the start of Payload,
// header}, then the payloads, contiguous, in order. Header bits:
//
//	[0:6)   b   bits of a value kept in place, 0 to 32
//	[6:12)  hb  bits of an overflow
//	[12:16) ib  bits of an exception's index
//	[16:24) en  number of exceptions, at most 3/5 of the values
//	[24:32) zero
//
// The payload of count values is ceil(count*b/32) words with the low b bits of
// value i at bit i*b, then ceil(en*(ib+hb)/32) words with en ascending indexes
// of ib bits each and right behind them en overflows (value >> b) of hb bits
// each; bit k of the stream is bit k%32 of word k/32. ib and hb are the bits of
// the largest index and overflow, both 0 without exceptions. See Ao et al.,
// section 5.1 and appendix D.
//
// A Packed owns nothing and is safe for concurrent use while nobody writes to
// the words.
type Packed struct {
	Len     uint32
	Dir     []uint32 // two words a segment
	Payload []uint32
	first   int // offset of Dir in the list it is part of, for errors
}

// NewPacked views words as n packed values. It checks only that the directory
// fits; each segment is checked when it is read.
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

// Segments is the number of segments.
func (p Packed) Segments() int { return len(p.Dir) / 2 }

// At returns value i. It checks the segment's directory entry; that exceptions
// ascend, which it relies on, only Validate checks.
func (p Packed) At(i uint32) (uint32, error) {
	if i >= p.Len {
		return 0, fmt.Errorf("codec: value %d of %d", i, p.Len)
	}
	seg, slot := int(i/SegmentLen), uint(i%SegmentLen)
	h, low, exc, err := p.segment(seg, segmentCount(p.Len, seg))
	if err != nil {
		return 0, err
	}
	b, hb, ib, en := h.b(), h.hb(), h.ib(), h.en()
	v := bitsAt(low, slot*b, b)
	lo, hi := uint(0), en // the first exception whose index is not below slot
	for lo < hi {
		if mid := (lo + hi) / 2; uint(bitsAt(exc, mid*ib, ib)) < slot {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < en && uint(bitsAt(exc, lo*ib, ib)) == slot {
		v |= bitsAt(exc, en*ib+lo*hb, hb) << b
	}
	return v, nil
}

// Decode writes the values of segment seg to dst and returns how many there
// are. The rest of dst is undefined.
func (p Packed) Decode(seg int, dst *[SegmentLen]uint32) (int, error) {
	if seg < 0 || seg >= p.Segments() {
		return 0, fmt.Errorf("codec: segment %d of %d", seg, p.Segments())
	}
	count := segmentCount(p.Len, seg)
	return count, p.decode(seg, dst[:count])
}

// AppendTo decodes all values, appends them to dst and returns the extended
// slice; after an error dst comes back as it was. It allocates only to grow dst.
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

// Validate checks everything that AppendTo checks.
func (p Packed) Validate() error {
	var buf [SegmentLen]uint32
	for seg := range p.Segments() {
		if _, err := p.Decode(seg, &buf); err != nil {
			return err
		}
	}
	return nil
}

// AppendPacked packs values and appends the words to dst. An error means that
// opt is not valid or that there are more values or words than 32-bit offsets
// reach; dst then comes back as it was.
func AppendPacked(dst, values []uint32, opt Options) ([]uint32, error) {
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
	for seg := range nseg {
		v := values[seg*SegmentLen : min((seg+1)*SegmentLen, len(values))]
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
