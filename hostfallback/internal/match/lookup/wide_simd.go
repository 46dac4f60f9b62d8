//go:build goexperiment.simd && amd64

package lookup

import (
	"math/bits"
	"simd/archsimd"
)

// The loops of this file are twins of loops for single words in 512-bit registers. They are built with
// GOEXPERIMENT=simd and run on processors with AVX-512.

var hasWide = archsimd.X86.AVX512() && archsimd.X86.AVX512VPOPCNTDQ()

// lanes is the number of docIDs in a register.
const lanes = 16

var laneNumbers = [lanes]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// wideExpand is Expand: it moves the docIDs of 16 bits to the front of a register and stores all of it.
func wideExpand(dst []uint32, words []uint64, base uint32) int {
	n := 0
	docs := archsimd.LoadUint32x16(&laneNumbers).Add(archsimd.BroadcastUint32x16(base))
	step := archsimd.BroadcastUint32x16(lanes)
	next := archsimd.BroadcastUint32x16(64)
	for _, x := range words {
		switch x {
		case 0:
			docs = docs.Add(next)
			continue
		case ^uint64(0):
			d := (*[64]uint32)(dst[n:])
			docs.Store((*[16]uint32)(d[:]))
			docs = docs.Add(step)
			docs.Store((*[16]uint32)(d[16:]))
			docs = docs.Add(step)
			docs.Store((*[16]uint32)(d[32:]))
			docs = docs.Add(step)
			docs.Store((*[16]uint32)(d[48:]))
			docs = docs.Add(step)
			n += 64
			continue
		}
		for range 64 / lanes {
			docs.Compress(archsimd.Mask32x16FromBits(uint16(x))).Store((*[16]uint32)(dst[n:]))
			docs = docs.Add(step)
			n += bits.OnesCount16(uint16(x))
			x >>= lanes
		}
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// wideRun writes docIDs from first on to the front of dst, a multiple of 64, and returns their number.
func wideRun(dst []uint32, first uint32) (n int) {
	docs := archsimd.LoadUint32x16(&laneNumbers).Add(archsimd.BroadcastUint32x16(first))
	step := archsimd.BroadcastUint32x16(lanes)
	for ; len(dst) >= 64; dst = dst[64:] {
		d := (*[64]uint32)(dst)
		docs.Store((*[16]uint32)(d[:]))
		docs = docs.Add(step)
		docs.Store((*[16]uint32)(d[16:]))
		docs = docs.Add(step)
		docs.Store((*[16]uint32)(d[32:]))
		docs = docs.Add(step)
		docs.Store((*[16]uint32)(d[48:]))
		docs = docs.Add(step)
		n += 64
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// wideAnd is AndBits of the first words, a multiple of 8; it returns the number of words, too.
func wideAnd(dst []uint64, a, b []uint32) (words, n int) {
	var sum archsimd.Uint64x8
	for ; len(dst) >= 8 && len(a) >= 16 && len(b) >= 16; dst, a, b = dst[8:], a[16:], b[16:] {
		x := archsimd.LoadUint32x16((*[16]uint32)(a)).And(archsimd.LoadUint32x16((*[16]uint32)(b))).AsUint64x8()
		x.Store((*[8]uint64)(dst))
		sum = sum.Add(x.OnesCount())
		words += 8
	}
	return words, total(sum)
}

// wideOr is OrTwoBits of the first words, a multiple of 8, whose number it returns.
func wideOr(dst []uint64, a, b []uint32) (words int, full bool) {
	all := archsimd.BroadcastUint64x8(^uint64(0))
	for ; len(dst) >= 8 && len(a) >= 16 && len(b) >= 16; dst, a, b = dst[8:], a[16:], b[16:] {
		d := (*[8]uint64)(dst)
		x := archsimd.LoadUint32x16((*[16]uint32)(a)).Or(archsimd.LoadUint32x16((*[16]uint32)(b))).AsUint64x8()
		x = x.Or(archsimd.LoadUint64x8(d))
		x.Store(d)
		all = all.And(x)
		words += 8
	}
	full = all.Equal(archsimd.BroadcastUint64x8(^uint64(0))).ToBits() == 0xff
	archsimd.ClearAVXUpperBits()
	return words, full
}

// wideCount returns the number of bits set in the first words, a multiple of 8, and the number of words.
func wideCount(set []uint64) (words, n int) {
	var sum archsimd.Uint64x8
	for ; len(set) >= 8; set = set[8:] {
		sum = sum.Add(archsimd.LoadUint64x8((*[8]uint64)(set)).OnesCount())
		words += 8
	}
	return words, total(sum)
}

// total adds the parts of sum.
func total(sum archsimd.Uint64x8) (n int) {
	var parts [8]uint64
	sum.Store(&parts)
	archsimd.ClearAVXUpperBits()
	for _, x := range parts {
		n += int(x)
	}
	return n
}
