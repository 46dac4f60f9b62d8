package docset

import (
	"math/bits"
	"unsafe"
)

// ChunkDocs is the number of documents in a Chunk.
const ChunkDocs = 1 << 15

// Chunk is a set of ChunkDocs consecutive documents: bit i%64 of word i/64 is document i.
// It takes 4 KiB and stays in the first-level cache.
type Chunk [ChunkDocs / 64]uint64

// CopyBits sets dst to a, whose words it joins in pairs.
func CopyBits(dst []uint64, a []uint32) {
	a = a[:2*len(dst)]
	for i := range dst {
		dst[i] = uint64(a[2*i]) | uint64(a[2*i+1])<<32
	}
}

// AndBits sets dst to a AND b, whose words it joins in pairs, and returns the number of
// bits set.
func AndBits(dst []uint64, a, b []uint32) (n int) {
	a, b = a[:2*len(dst)], b[:2*len(dst)]
	for ; len(dst) >= 4 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[4:], a[8:], b[8:] {
		d, s, t := (*[4]uint64)(dst), (*[8]uint32)(a), (*[8]uint32)(b) // without bounds checks
		d[0] = (uint64(s[0]) | uint64(s[1])<<32) & (uint64(t[0]) | uint64(t[1])<<32)
		n += bits.OnesCount64(d[0])
		d[1] = (uint64(s[2]) | uint64(s[3])<<32) & (uint64(t[2]) | uint64(t[3])<<32)
		n += bits.OnesCount64(d[1])
		d[2] = (uint64(s[4]) | uint64(s[5])<<32) & (uint64(t[4]) | uint64(t[5])<<32)
		n += bits.OnesCount64(d[2])
		d[3] = (uint64(s[6]) | uint64(s[7])<<32) & (uint64(t[6]) | uint64(t[7])<<32)
		n += bits.OnesCount64(d[3])
	}
	for i := range dst {
		dst[i] = (uint64(a[2*i]) | uint64(a[2*i+1])<<32) & (uint64(b[2*i]) | uint64(b[2*i+1])<<32)
		n += bits.OnesCount64(dst[i])
	}
	return n
}

// AndMoreBits sets dst to dst AND a, whose words it joins in pairs, and returns the number
// of bits set.
func AndMoreBits(dst []uint64, a []uint32) (n int) {
	a = a[:2*len(dst)]
	for i := range dst {
		x := dst[i] & (uint64(a[2*i]) | uint64(a[2*i+1])<<32)
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// Count returns the number of bits set.
func Count(set []uint64) (n int) {
	for ; len(set) >= 8; set = set[8:] {
		s := (*[8]uint64)(set) // without bounds checks
		n += bits.OnesCount64(s[0])
		n += bits.OnesCount64(s[1])
		n += bits.OnesCount64(s[2])
		n += bits.OnesCount64(s[3])
		n += bits.OnesCount64(s[4])
		n += bits.OnesCount64(s[5])
		n += bits.OnesCount64(s[6])
		n += bits.OnesCount64(s[7])
	}
	for _, x := range set {
		n += bits.OnesCount64(x)
	}
	return n
}

// Slack is the number of docIDs that Expand may write behind the last one.
const Slack = 64

// spread holds the positions of the bits set in a byte.
type spread struct {
	pairs [4]uint64 // positions of the bits, two in each word
	count int
}

var spreads = func() (table [256]spread) {
	for x := range table {
		s := &table[x]
		for i := range uint64(8) {
			if x>>i&1 != 0 {
				s.pairs[s.count/2] |= i << (s.count % 2 * 32)
				s.count++
			}
		}
	}
	return table
}()

// fewBits is the greatest number of bits set in a word at which taking them one by one is faster than
// expandWord.
const fewBits = 4

// expandFew is Expand of one word with at most fewBits bits.
func expandFew(dst *[fewBits]uint32, x uint64, base uint32) {
	dst[0] = base + uint32(bits.TrailingZeros64(x))
	x &= x - 1
	dst[1] = base + uint32(bits.TrailingZeros64(x))
	x &= x - 1
	dst[2] = base + uint32(bits.TrailingZeros64(x))
	x &= x - 1
	dst[3] = base + uint32(bits.TrailingZeros64(x))
}

// inBoth multiplies a docID, so that it stands in both halves of a word.
const inBoth = 1<<32 + 1

// expandWord is Expand of one word, a byte at a time and two docIDs in each store. The number of steps does not
// depend on the bits, so that nothing is mispredicted. A byte has at most eight bits: the last byte begins at
// dst[56] at most. Checks of bounds would take a third of the time.
func expandWord(dst *[64]uint32, x uint64, base uint32) {
	both, step := uint64(base)*inBoth, 4*stride
	at := unsafe.Pointer(dst)
	for range 8 {
		d, s := (*[8]uint32)(at), &spreads[uint8(x)]
		pair := s.pairs[0] + both
		d[0], d[1] = uint32(pair), uint32(pair>>32)
		pair = s.pairs[1] + both
		d[2], d[3] = uint32(pair), uint32(pair>>32)
		pair = s.pairs[2] + both
		d[4], d[5] = uint32(pair), uint32(pair>>32)
		pair = s.pairs[3] + both
		d[6], d[7] = uint32(pair), uint32(pair>>32)
		at = unsafe.Add(at, 4*s.count)
		both += step
		x >>= 8
	}
}

// stride is the distance from one word to the next in a run: two docIDs, in both halves. It is a
// variable, because the compiler would load a constant for each addition.
var stride uint64 = 2 * inBoth

// expandRun writes the docIDs from first on to dst, whose length is a multiple of 8, two in each store.
// Two words go side by side, because each addition waits for the one before.
func expandRun(dst []uint32, first uint32) {
	a := uint64(first)*inBoth + 1<<32
	b, step := a+stride, 2*stride
	for ; len(dst) >= 16; dst = dst[16:] {
		d := (*[16]uint32)(dst)
		d[0], d[1], d[2], d[3] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		a, b = a+step, b+step
		d[4], d[5], d[6], d[7] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		a, b = a+step, b+step
		d[8], d[9], d[10], d[11] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		a, b = a+step, b+step
		d[12], d[13], d[14], d[15] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		a, b = a+step, b+step
	}
	if len(dst) >= 8 {
		d := (*[8]uint32)(dst)
		d[0], d[1], d[2], d[3] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		a, b = a+step, b+step
		d[4], d[5], d[6], d[7] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
	}
}

// inEights rounds n up to a multiple of 8.
func inEights(n int) int { return (n + 7) &^ 7 }

// Expand writes the docIDs of the bits set in words to dst and returns their number. The first bit is docID base.
// It writes several docIDs at a time, because the end of a loop is mispredicted: dst has room for Slack more.
func Expand(dst []uint32, words []uint64, base uint32) int {
	n := 0
	for i := 0; i < len(words); i++ {
		x := words[i]
		if x == 0 {
			base += 64
			continue
		}
		left := bits.OnesCount64(x)
		switch {
		case left == 64: // several words, one run
			from := i
			for i+1 < len(words) && words[i+1] == ^uint64(0) {
				i++
			}
			left *= i + 1 - from
			expandRun(dst[n:n+left], base)
			base += uint32(left - 64)
		case left <= fewBits:
			expandFew((*[fewBits]uint32)(dst[n:]), x, base)
		default:
			expandWord((*[64]uint32)(dst[n:]), x, base)
		}
		n += left
		base += 64
	}
	return n
}

// AndNotBits sets dst to dst AND NOT a, whose words it joins in pairs.
func AndNotBits(dst []uint64, a []uint32) {
	a = a[:2*len(dst)]
	for i := range dst {
		dst[i] &^= uint64(a[2*i]) | uint64(a[2*i+1])<<32
	}
}

// OrBits sets dst to dst OR a, whose words it joins in pairs, up to the end of the shorter
// one. It reports whether all bits of dst are set then.
func OrBits(dst []uint64, a []uint32) bool {
	whole := len(a) >= 2*len(dst)
	all := ^uint64(0)
	for ; len(dst) >= 4 && len(a) >= 8; dst, a = dst[4:], a[8:] {
		d, s := (*[4]uint64)(dst), (*[8]uint32)(a) // without bounds checks
		w := d[0] | uint64(s[0]) | uint64(s[1])<<32
		x := d[1] | uint64(s[2]) | uint64(s[3])<<32
		y := d[2] | uint64(s[4]) | uint64(s[5])<<32
		z := d[3] | uint64(s[6]) | uint64(s[7])<<32
		d[0], d[1], d[2], d[3] = w, x, y, z
		all &= w & x & y & z
	}
	for i := range min(len(dst), len(a)/2) {
		dst[i] |= uint64(a[2*i]) | uint64(a[2*i+1])<<32
		all &= dst[i]
	}
	return all == ^uint64(0) && whole
}

// OrTwoBits is OrBits of a and then of b, with one pass over dst where both are long enough.
func OrTwoBits(dst []uint64, a, b []uint32) bool {
	if min(len(a), len(b)) < 2*len(dst) {
		full := OrBits(dst, a)
		return OrBits(dst, b) || full
	}
	all := ^uint64(0)
	for ; len(dst) >= 4 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[4:], a[8:], b[8:] {
		d, s, t := (*[4]uint64)(dst), (*[8]uint32)(a), (*[8]uint32)(b) // without bounds checks
		w := d[0] | uint64(s[0]) | uint64(s[1])<<32 | uint64(t[0]) | uint64(t[1])<<32
		x := d[1] | uint64(s[2]) | uint64(s[3])<<32 | uint64(t[2]) | uint64(t[3])<<32
		y := d[2] | uint64(s[4]) | uint64(s[5])<<32 | uint64(t[4]) | uint64(t[5])<<32
		z := d[3] | uint64(s[6]) | uint64(s[7])<<32 | uint64(t[6]) | uint64(t[7])<<32
		d[0], d[1], d[2], d[3] = w, x, y, z
		all &= w & x & y & z
	}
	for i := range dst {
		dst[i] |= uint64(a[2*i]) | uint64(a[2*i+1])<<32 | uint64(b[2*i]) | uint64(b[2*i+1])<<32
		all &= dst[i]
	}
	return all == ^uint64(0)
}

// SetBits adds docs, which lie in one chunk, to acc.
func SetBits(acc *Chunk, docs []uint32) {
	for _, x := range docs {
		acc[x/64%(ChunkDocs/64)] |= 1 << (x % 64)
	}
}
