package bm25

import "testing"

// byte4 are the values of SmallFloat.byte4ToInt in Lucene for some bytes.
var byte4 = map[byte]uint32{
	0: 0, 23: 23, 24: 24, 39: 39, 40: 40, 41: 42, 47: 54, 48: 56, 55: 84, 56: 88, 63: 144, 64: 152, 72: 280, 80: 536, 100: 3096, 200: 16777240, 255: 2013265944,
}

// byteToLength is SmallFloat.byte4ToInt, line by line.
func byteToLength(b byte) uint32 {
	if b < 24 {
		return uint32(b)
	}
	i := uint64(b) - 24
	bits, shift := i&7, int(i>>3)-1
	if shift == -1 {
		return 24 + uint32(bits)
	}
	return 24 + uint32((bits|8)<<shift)
}

// TestRoundLength compares with the 256 lengths of Lucene: a length becomes the greatest
// of them that is not greater.
func TestRoundLength(t *testing.T) {
	for b, want := range byte4 {
		if got := byteToLength(b); got != want {
			t.Errorf("byte %d is length %d, want %d", b, got, want)
		}
	}
	for b := range 255 {
		low, high := byteToLength(byte(b)), byteToLength(byte(b+1))
		for _, n := range []uint32{low, low + (high-low)/2, high - 1} {
			if got := RoundLength(n); got != low {
				t.Errorf("RoundLength(%d) = %d, want %d", n, got, low)
			}
		}
	}
	if got := RoundLength(1<<31 - 1); got != byteToLength(255) {
		t.Errorf("the greatest length becomes %d", got)
	}
}
