package bitmap

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"heddle/codec"
	"heddle/engine/plan"
)

// within returns a function for the codes of segment seg. It returns one bit for each of up
// to 64 codes, set for codes from first to last.
func within(p codec.Packed, seg int) func(codes []uint32, first, last uint32) uint64 {
	if p.Bits(seg) < 32 {
		return within31
	}
	return within32
}

// within32 is within for all codes.
func within32(codes []uint32, first, last uint32) (in uint64) {
	more := uint64(last-first) + 1
	one := func(x uint32) uint64 { return (uint64(x-first) - more) >> 63 }
	k := 0
	for ; k+8 <= len(codes); k += 8 { // constant shifts are cheaper
		c := (*[8]uint32)(codes[k:])
		in |= (one(c[0]) | one(c[1])<<1 | one(c[2])<<2 | one(c[3])<<3 |
			one(c[4])<<4 | one(c[5])<<5 | one(c[6])<<6 | one(c[7])<<7) << (k & 63)
	}
	for ; k < len(codes); k++ {
		in |= one(codes[k]) << (k & 63)
	}
	return in
}

// within31 is within for codes below 2^31. It compares two codes at a time, each in a half
// of a word of 64 bits. code + 2^31 - first sets the highest bit of its half if the code is
// not below first, and last + 2^31 - code sets it if the code is not above last.
func within31(codes []uint32, first, last uint32) uint64 {
	if first >= 1<<31 {
		return 0
	}
	last = min(last, 1<<31-1)
	if len(codes) < 64 || !littleEndian {
		return within32(codes, first, last)
	}
	pairs := (*[32]uint64)(unsafe.Pointer(&codes[0]))
	return withinPairs(pairs, tops-(uint64(first)<<32|uint64(first)), tops+(uint64(last)<<32|uint64(last)))
}

const tops = 1<<63 | 1<<31 // the highest bits of both halves

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// withinPairs stays out of line: inlined, the compiler takes the constants above and below
// apart, which costs two operations more for each pair.
//
//go:noinline
func withinPairs(codes *[32]uint64, above, below uint64) uint64 {
	in := uint64(0) // at the end, code 2k in bit k, code 2k+1 in bit 32+k
	for k := 0; k < len(codes); k += 4 {
		a, b, c, d := codes[k], codes[k+1], codes[k+2], codes[k+3]
		a = (a + above) & (below - a) & tops
		b = (b + above) & (below - b) & tops
		c = (c + above) & (below - c) & tops
		d = (d + above) & (below - d) & tops
		in = in>>4 | a>>3 | b>>2 | c>>1 | d
	}
	return spread(uint32(in)) | spread(uint32(in>>32))<<1
}

// spread moves bit k of x to bit 2k.
func spread(x uint32) uint64 {
	y := uint64(x)
	y = (y | y<<16) & 0x0000ffff0000ffff
	y = (y | y<<8) & 0x00ff00ff00ff00ff
	y = (y | y<<4) & 0x0f0f0f0f0f0f0f0f
	y = (y | y<<2) & 0x3333333333333333
	return (y | y<<1) & 0x5555555555555555
}

// within64 returns the rows whose codes, in two halves, lie in r.
func within64(lo, hi []uint32, r plan.CodeRange, rows uint64) (in uint64) {
	for ; rows != 0; rows &= rows - 1 {
		k := bits.TrailingZeros64(rows)
		if (uint64(hi[k])<<32|uint64(lo[k]))-r.Lo <= r.Hi-r.Lo {
			in |= rows & -rows
		}
	}
	return in
}
