package bm25

import "math"

// Scale is the number of fractional bits of a query's integer weights and scores.
// It is negative where weights are too great for 32 bits.
type Scale int

// Score is the score that an integer sum stands for.
func (s Scale) Score(sum uint32) float64 { return math.Ldexp(float64(sum), -int(s)) }

// noWeight is the scale of a query whose weights are all 0. Its documents are in the
// order of how many terms they have.
const noWeight Scale = 32

// Fix appends to dst the weights of one query as integers, max(1, round(w 2^s)),
// where s is the greatest scale with which they add up to less than 2^32. Weights
// must be finite and not negative, and fewer than 2^32.
func Fix(dst []uint32, weights []float64) ([]uint32, Scale) {
	greatest := 0.0
	for _, w := range weights {
		greatest = max(greatest, w)
	}
	s := noWeight
	if greatest > 0 {
		_, exp := math.Frexp(greatest) // greatest < 2^exp
		s = Scale(32 - exp)
	}
	start := len(dst)
	for {
		dst = dst[:start]
		sum := uint64(0)
		for _, w := range weights {
			n := max(uint64(math.Round(math.Ldexp(w, int(s)))), 1)
			sum += n
			dst = append(dst, uint32(n))
		}
		if sum <= math.MaxUint32 {
			return dst, s
		}
		s--
	}
}
