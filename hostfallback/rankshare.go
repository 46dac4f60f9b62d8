package hostfallback

import (
	"math"

	"heddle/engine/plan"
)

// sharer computes the shares of postings under one Norm: what Norm.Share gives,
// without an integer division. Frequencies are less one, as lists store them.
type sharer struct {
	norm    plan.Norm
	lengths []uint32 // of documents
	// common has the shares of small frequencies in documents that are not long:
	// that of f in l tokens is common[l*smallFreqs + f-1]. It may be nil.
	common []uint32
}

const (
	smallFreqs    = 8
	commonLengths = 4096 // 128 KiB of shares, of which few cache lines are in use
)

// fill makes the table of common shares.
func (s *sharer) fill() {
	s.common = make([]uint32, commonLengths*smallFreqs)
	for i := range s.common {
		s.common[i] = s.share(uint32(i%smallFreqs), uint32(i/smallFreqs))
	}
}

// shares sets dst to the shares of the postings of docs, all of which have a
// length, with frequencies freqs.
func (s *sharer) shares(dst, docs, freqs []uint32) {
	freqs, docs = freqs[:len(dst)], docs[:len(dst)]
	if n := s.norm.Impacts; n > 0 {
		for i, f := range freqs {
			dst[i] = uint32(min((uint64(f)+1)<<((32-n)&63), math.MaxUint32))
		}
		return
	}
	common, lengths := s.common, s.lengths
	for i, f := range freqs {
		length := lengths[docs[i]]
		if at := uint64(length)*smallFreqs + uint64(f); f < smallFreqs && at < uint64(len(common)) {
			dst[i] = common[at]
		} else {
			dst[i] = s.share(f, length)
		}
	}
}

// share is the share of one posting. Where the divisor has 32 bits at most, that is
// the quotient of two integers below 2^32, rounded down; the float64 nearest to it
// is less than 2^-20 away, so it is right or, where it was rounded up to an integer,
// one too large.
func (s *sharer) share(f, length uint32) uint32 {
	a := (uint64(f) + 1) << 24
	d := a + s.norm.Of(length)
	if d > math.MaxUint32 {
		return s.norm.TF(min(f, math.MaxUint32-1)+1, length)
	}
	q := uint64(int64(float64(int64(a)) / float64(int64(d)) * (1 << 32)))
	q -= (a<<32 - q*d) >> 63
	return uint32(max(min(q, math.MaxUint32), 1))
}
