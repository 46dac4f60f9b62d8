//go:build goexperiment.simd && amd64

package codec

import (
	"simd/archsimd"
	"unsafe"
)

// The loops of this file are twins of the generated loops for eight values at a time
// in 256-bit registers. They are built with GOEXPERIMENT=simd and run on processors
// with AVX2.
//
// Eight values of b bits begin on a byte. The upper four values begin on a byte, too,
// or on half a byte if b is odd. Two loads of 16 bytes bring each half into its own
// 128-bit lane. A byte shuffle brings the four bytes of a value into its 32-bit lane.
// A shift and a mask leave the value. This works for b <= 25.

// wideWidth is the largest width that the loops read.
const wideWidth = 25

// spread has the constants that turn loaded bytes into eight values of one width.
type spread struct {
	shuffle [32]int8
	shift   [8]uint32
	half    uintptr // bytes from the first load to the second
}

var spreads = func() (t [wideWidth + 1]spread) {
	for b := range t {
		s := &t[b]
		s.half = uintptr(4 * b / 8)
		for i := range 8 {
			bit := i * b
			if i >= 4 {
				bit -= int(s.half) * 8
			}
			s.shift[i] = uint32(bit % 8)
			for k := range 4 {
				s.shuffle[4*i+k] = int8(bit/8 + k)
			}
		}
	}
	return t
}()

var hasWide = archsimd.X86.AVX2()

// wideValues unpacks values of b bits from src, 16 bytes at a time, and returns their
// number, a multiple of 32. It reads up to 16 bytes after the last value, within the
// capacity of src.
func wideValues(dst, src []uint32, b uint) int {
	n := wideCount(len(dst), src, b)
	if n == 0 {
		return 0
	}
	s := &spreads[b]
	shuffle, shift := archsimd.LoadInt8x32(&s.shuffle), archsimd.LoadUint32x8(&s.shift)
	mask := archsimd.BroadcastUint32x8(1<<b - 1)
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dst))
	for range n / 8 {
		eight(from, s.half, shuffle, shift).And(mask).Store((*[8]uint32)(to))
		from, to = unsafe.Add(from, b), unsafe.Add(to, 32)
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// wideSums is wideValues with the prefix sum of unpackGaps. It writes docIDs, and
// returns their number and the last docID, not modulo 2^32. dst holds at most a
// segment, so the sum of its gaps exceeds 2^32 at most once. With b = 32, src may be
// dst; then wideSums reads nothing unless all gaps are below 2^wideWidth.
func wideSums(dst, src []uint32, b uint, docID uint64) (int, uint64) {
	n := wideCount(len(dst), src, b)
	if b == 32 {
		n = smallGaps(src[:len(dst)])
	}
	if n == 0 {
		return 0, docID
	}
	s := &spreads[b%32]
	shuffle, shift := archsimd.LoadInt8x32(&s.shuffle), archsimd.LoadUint32x8(&s.shift)
	mask := archsimd.BroadcastUint32x8(1<<b - 1)
	up1, up2 := archsimd.LoadInt8x32(&oneUp), archsimd.LoadInt8x32(&twoUp)
	low, high := archsimd.LoadUint32x8(&lowTotal), archsimd.LoadUint32x8(&highHalf)
	last, eights := archsimd.BroadcastUint32x8(7), archsimd.BroadcastUint32x8(8)
	base := archsimd.BroadcastUint32x8(uint32(docID)).Add(archsimd.LoadUint32x8(&oneToEight))
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dst))
	for range n / 8 {
		var v archsimd.Uint32x8
		if b == 32 {
			v = archsimd.LoadUint32x8((*[8]uint32)(from))
		} else {
			v = eight(from, s.half, shuffle, shift).And(mask)
		}
		v = v.Add(v.AsUint8x32().PermuteOrZeroGrouped(up1).AsUint32x8())
		v = v.Add(v.AsUint8x32().PermuteOrZeroGrouped(up2).AsUint32x8())
		v = v.Add(v.Permute(low).And(high))
		v.Add(base).Store((*[8]uint32)(to))
		base = base.Add(v.Permute(last)).Add(eights)
		from, to = unsafe.Add(from, b), unsafe.Add(to, 32)
	}
	archsimd.ClearAVXUpperBits()
	end := dst[n-1]
	return n, docID + uint64(end-uint32(docID)-1) + 1
}

// eight loads eight values. The caller masks the bits above them.
func eight(from unsafe.Pointer, half uintptr, shuffle archsimd.Int8x32, shift archsimd.Uint32x8) archsimd.Uint32x8 {
	lo := archsimd.LoadUint8x16((*[16]uint8)(from))
	hi := archsimd.LoadUint8x16((*[16]uint8)(unsafe.Add(from, half)))
	var both archsimd.Uint8x32
	both = both.SetLo(lo).SetHi(hi)
	return both.PermuteOrZeroGrouped(shuffle).AsUint32x8().ShiftRight(shift)
}

// smallGaps returns the number of gaps, rounded down to a multiple of 32, if all of
// these are below 2^wideWidth, else 0.
func smallGaps(gaps []uint32) int {
	n := len(gaps) / 32 * 32
	if !hasWide || n > SegmentLen {
		return 0
	}
	var all archsimd.Uint32x8
	for i := 0; i < n; i += 8 {
		all = all.Or(archsimd.LoadUint32x8((*[8]uint32)(gaps[i:])))
	}
	fits := all.ShiftAllRight(wideWidth).IsZero()
	archsimd.ClearAVXUpperBits()
	if !fits {
		return 0
	}
	return n
}

// wideCount returns the number of values, at most n, that the loops can read within the
// capacity of src.
func wideCount(n int, src []uint32, b uint) int {
	if !hasWide || b == 0 || b > wideWidth || n > SegmentLen {
		return 0
	}
	n = n / 32 * 32
	// The second load of the last eight values ends after the values.
	for n > 0 && (n/8-1)*int(b)+int(b)/2+16 > 4*cap(src) {
		n -= 32
	}
	return n
}

var (
	oneUp      = [32]int8{-1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	twoUp      = [32]int8{-1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7}
	lowTotal   = [8]uint32{3, 3, 3, 3, 3, 3, 3, 3}
	highHalf   = [8]uint32{0, 0, 0, 0, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}
	oneToEight = [8]uint32{1, 2, 3, 4, 5, 6, 7, 8}
)
