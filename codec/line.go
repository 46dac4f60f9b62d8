package codec

import (
	"math/big"
	"math/bits"
)

// LineShift is the number of fraction bits of a Line.
const LineShift = 30

// Line predicts the index of a docID in its list by linear regression over the whole
// list (Ao et al. 2011, section 4.3). It computes in integers, so that Go and OpenCL
// C agree on every bit. The position of x is
//
//	p = (int64(x)*Slope + Intercept) >> LineShift   (arithmetic shift)
//
// If x is docID i of the list, then i lies in the safe range p-Left to p+Right.
//
// FitLine keeps 0 <= Slope <= 2^30 and |Intercept| <= 2^62, so for any uint32 x
// the sum lies in -2^62 to 2^63-1 and p in -2^32 to 2^33-1; 0 <= Left, Right <
// 2^34. Nothing overflows 64 bits.
type Line struct {
	Slope     int64 // index per docID, times 2^LineShift
	Intercept int64 // index at docID 0, times 2^LineShift
	Left      int64 // largest excess of a position over its index, or 0
	Right     int64 // largest excess of an index over its position, or 0
}

// FitLine fits a line to docs, strictly increasing, and measures its safe range in
// the integers of Range. An empty list has the zero Line.
//
// As in the paper, it regresses docIDs on indexes and inverts the line: for docIDs
// d_i, slope = var(i) / cov(i, d). DocIDs ascend by at least one, so cov(i, d) >=
// var(i), and the slope is at most one.
func FitLine(docs []uint32) Line {
	if len(docs) == 0 {
		return Line{}
	}
	var l Line
	var sum, prodHi, prodLo, carry uint64 // sum of d_i below 2^64, of i*d_i below 2^96
	for i, d := range docs {
		sum += uint64(d)
		prodLo, carry = bits.Add64(prodLo, uint64(i)*uint64(d), 0)
		prodHi += carry
	}
	n := big.NewInt(int64(len(docs)))
	sumI := new(big.Int).Mul(n, big.NewInt(int64(len(docs)-1)))
	sumI.Rsh(sumI, 1)
	sumD := new(big.Int).SetUint64(sum)
	if len(docs) > 1 {
		// n^2 var(i) = n^2 (n^2-1) / 12
		n2 := new(big.Int).Mul(n, n)
		varI := new(big.Int).Sub(n2, big.NewInt(1))
		varI.Mul(varI, n2).Div(varI, big.NewInt(12))
		// n^2 cov(i, d) = n sum(i d) - sum(i) sum(d)
		cov := new(big.Int).SetUint64(prodHi)
		cov.Lsh(cov, 64).Add(cov, new(big.Int).SetUint64(prodLo)).Mul(cov, n)
		cov.Sub(cov, new(big.Int).Mul(sumI, sumD))
		// rounded to nearest: (2 var 2^30 + cov) / (2 cov)
		varI.Lsh(varI, LineShift+1).Add(varI, cov)
		l.Slope = varI.Div(varI, cov.Lsh(cov, 1)).Int64()
	}
	// The line goes through the means plus half an index, because the shift rounds
	// down: intercept = mean(i) - slope mean(d) + 1/2. The mean of i is at most 2^31,
	// the slope times the mean of d at most 2^32 - 1.
	c := sumI.Lsh(sumI, LineShift)
	c.Sub(c, sumD.Mul(sumD, big.NewInt(l.Slope)))
	c.Add(c, new(big.Int).Lsh(n, LineShift-1))
	l.Intercept = c.Div(c, n).Int64()

	for i, d := range docs {
		over := l.position(d) - int64(i)
		l.Left, l.Right = max(l.Left, over), max(l.Right, -over)
	}
	return l
}

func (l Line) position(x uint32) int64 {
	return (int64(x)*l.Slope + l.Intercept) >> LineShift
}

// Range returns the only indexes, lo to hi-1 within 0 to n, where x can be in the list
// of n docIDs that the line was fitted to. The range may be empty.
func (l Line) Range(x, n uint32) (lo, hi uint32) {
	p := l.position(x)
	from := min(max(p-l.Left, 0), int64(n))
	to := min(max(p+l.Right+1, from), int64(n))
	return uint32(from), uint32(to)
}
