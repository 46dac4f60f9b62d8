package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// random draws the numbers of a workload. It uses only the outputs of PCG, whose
// algorithm is fixed, and arithmetic that every machine rounds alike, so a seed
// gives the same workload on every machine and with every version of Go: the
// methods of rand.Rand and the functions of package math promise neither.
//
// Products are converted to float64 explicitly: without that, the compilers for
// some machines join a product and a sum in one instruction that rounds once.
type Random struct{ pcg rand.PCG }

// newRandom starts stream number index of a kind of numbers.
func NewRandom(seed uint64, kind stream, index uint64) *Random {
	r := new(Random)
	r.pcg.Seed(Mix(seed), Mix(uint64(kind)<<48|index))
	return r
}

// stream separates the numbers of different purposes, so that a change to one
// leaves the others as they were.
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
)

// mix is the finalizer of SplitMix64: seeds that are close give streams that
// are not.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below draws from 0 to n-1. The bias, n in 2^64, is of no account here.
func (r *Random) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.pcg.Uint64(), n)
	return hi
}

// unit draws a multiple of 2^-53 above 0, up to 1.
func (r *Random) Unit() float64 {
	return float64(r.pcg.Uint64()>>11+1) * 0x1p-53
}

// shuffle permutes s (Fisher and Yates).
func Shuffle[T any](r *Random, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.Below(uint64(i + 1))
		s[i], s[j] = s[j], s[i]
	}
}

// sample appends to dst the numbers from lo to hi-1 that are each chosen with
// probability p, 0 <= p < 1: the gaps of such a sequence are geometric.
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

// ln is the natural logarithm of a positive normal number, to about 1e-15: the
// exponent, and for the fraction between 1/sqrt(2) and sqrt(2) the series of the
// area hyperbolic tangent.
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

// uint64 draws 64 bits.
func (r *Random) Uint64() uint64 { return r.pcg.Uint64() }
