package hostfallback

import (
	"math"

	"heddle/engine/plan"
)

// shares sets dst to the shares of postings of docs, all of which have a length,
// and whose frequencies, less one, are in freqs: what Norm.Share gives, without an
// integer division.
func shares(dst, docs, freqs []uint32, n plan.Norm, lengths []uint32) {
	freqs, docs = freqs[:len(dst)], docs[:len(dst)]
	if n.Impacts > 0 {
		for i, f := range freqs {
			dst[i] = n.Share(f+1, 0)
		}
		return
	}
	for i, f := range freqs {
		dst[i] = shareOf(f, lengths[docs[i]], n)
	}
}

// shareOf is Norm.Share of a frequency that is one more than f. Where the divisor
// has 32 bits at most, the share is the quotient of two integers below 2^32, rounded
// down; the float64 nearest to it is less than 2^-20 away, so it is right or,
// where it was rounded up to an integer, one too large.
func shareOf(f, length uint32, n plan.Norm) uint32 {
	a := (uint64(f) + 1) << 24
	d := a + n.Of(length)
	if d > math.MaxUint32 {
		return n.Share(f+1, length)
	}
	q := uint64(int64(float64(int64(a)) / float64(int64(d)) * (1 << 32)))
	q -= (a<<32 - q*d) >> 63
	return uint32(max(min(q, math.MaxUint32), 1))
}
