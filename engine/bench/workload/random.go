package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Random draws the numbers of a workload. A seed gives the same workload on every
// machine and with every version of Go: it uses only the output of PCG, whose algorithm
// is fixed, and arithmetic with the same rounding on every machine. The methods of
// rand.Rand and the functions of package math guarantee neither.
//
// Products are converted to float64 explicitly, because compilers for some machines
// would otherwise fuse a product and a sum, with one rounding instead of two.
type Random struct{ pcg rand.PCG }

// NewRandom starts the stream with a number among the streams of one purpose.
func NewRandom(seed uint64, kind stream, index uint64) *Random {
	r := new(Random)
	r.pcg.Seed(Mix(seed), Mix(uint64(kind)<<48|index))
	return r
}

// stream separates the random numbers of different purposes, so that a change to one of
// them does not alter the rest.
type stream uint64

const (
	streamNames stream = iota + 1
	streamDocIDs
	StreamSites
	streamList
	streamQueries
	StreamOrder
	streamFreqs
	StreamGaps
	StreamRankLog
	StreamRankList
	StreamRankLengths
	StreamArrivals
	StreamNodes
)

// Mix is the finalizer of SplitMix64: similar seeds give unrelated streams.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Below draws from 0 to n-1, with a negligible bias of n in 2^64.
func (r *Random) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.pcg.Uint64(), n)
	return hi
}

// Unit draws a multiple of 2^-53 above 0, up to 1.
func (r *Random) Unit() float64 {
	return float64(r.pcg.Uint64()>>11+1) * 0x1p-53
}

// Shuffle permutes s (Fisher and Yates).
func Shuffle[T any](r *Random, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.Below(uint64(i + 1))
		s[i], s[j] = s[j], s[i]
	}
}

// Sample appends to dst the numbers from lo to hi-1, each chosen with probability p, 0
// <= p < 1. The gaps of such a sequence are geometric.
func (r *Random) Sample(dst []uint32, lo, hi uint32, p float64) []uint32 {
	if p <= 0 {
		return dst
	}
	scale := 1 / Ln(1-p)
	for i := lo; i < hi; i++ {
		gap := float64(Ln(r.Unit()) * scale)
		if gap >= float64(hi-i) {
			break
		}
		i += uint32(gap)
		dst = append(dst, i)
	}
	return dst
}

// Ln is the natural logarithm of a positive normal number, to about 1e-15. It takes the
// exponent, and for the fraction between 1/sqrt(2) and sqrt(2) the series of the area
// hyperbolic tangent.
func Ln(x float64) float64 {
	b := math.Float64bits(x)
	e := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m /= 2
		e++
	}
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	t := 1.0 / 17
	for _, c := range [...]float64{1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1} {
		t = float64(t*q) + c
	}
	return float64(float64(e)*math.Ln2) + float64(float64(2*s)*t)
}

// Uint64 draws 64 bits.
func (r *Random) Uint64() uint64 { return r.pcg.Uint64() }
