package codec

import (
	"math"
	"math/bits"
)

// A list along a line is stored as lambda(i) = docID(i) - f(i), with f(i) =
// (slope*i >> LineShift) + base (Ao et al. 2011, section 5.2). The base makes the
// least lambda 0; it contains the constant M of the paper. All arithmetic is in
// integers. Every slope reproduces the list; the best slope needs the fewest bits.

const unitSlope = 1 << LineShift // one docID an index, the least slope of a list

// fitted is a line and the width of the largest lambda.
type fitted struct {
	slope uint64 // docIDs per index times 2^LineShift, at least unitSlope
	base  int64  // above -2^32
	b     uint   // 0 to 32
}

// fit returns the line of fewest bits for docs, which is not empty: the line of slope
// one, the least squares regression of the paper if it saves a bit, or the line of
// the narrowest strip if it saves another bit. round maps a slope to a slope that the
// format can store.
//
// With slope one, no lambda exceeds the docIDs. So b is at most 32, and at most k for
// docIDs that agree in all but k low bits.
func fit(docs []uint32, round func(slope uint64) uint64) fitted {
	n := len(docs)
	best := fitted{unitSlope, int64(docs[0]), uint(bits.Len32(docs[n-1] - docs[0] - uint32(n-1)))}
	for _, slope := range []func([]uint32) uint64{regression, strip} {
		if best.b == 0 {
			break
		}
		s := round(slope(docs))
		lo, hi := deviations(docs, 0, s)
		if b := uint(bits.Len64(uint64(hi - lo))); b < best.b {
			best = fitted{s, lo, b}
		}
	}
	return best
}

// deviations returns the least and the largest docID(i) - (line(i) >> LineShift). The
// line is at for the first docID and rises by slope.
func deviations(docs []uint32, at, slope uint64) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, d := range docs {
		v := int64(d) - int64(at>>LineShift)
		lo, hi = min(lo, v), max(hi, v)
		at += slope
	}
	return lo, hi
}

// regression returns the slope of the least squares line of docIDs over indexes,
// rounded down: cov(i, d) / var(i) = 6 sum((2i - (n-1)) d_i) / (n (n-1) (n+1)). It is
// at least one, because docIDs ascend by at least one, and less than 1.5 times the
// range of the docIDs divided by n-1.
func regression(docs []uint32) uint64 {
	n := uint64(len(docs))
	if n < 2 {
		return unitSlope
	}
	var sum, hi, lo uint64 // sum of d_i below 2^64, of i*d_i below 2^96
	for i, d := range docs {
		var carry uint64
		sum += uint64(d)
		lo, carry = bits.Add64(lo, uint64(i)*uint64(d), 0)
		hi += carry
	}
	// 2 sum(i d) - (n-1) sum(d) is at most 2^94, so times 6 * 2^30 below 2^127.
	subHi, subLo := bits.Mul64(n-1, sum)
	hi, lo = hi<<1|lo>>63, lo<<1
	lo, borrow := bits.Sub64(lo, subLo, 0)
	hi -= subHi + borrow
	const factor = 6 << LineShift
	top, low := bits.Mul64(lo, factor)
	hi, lo = hi*factor+top, low
	for _, y := range [3]uint64{n, n - 1, n + 1} {
		q := hi / y
		lo, _ = bits.Div64(hi%y, lo, y)
		hi = q
	}
	return lo
}

// strip returns the slope of the narrowest strip, measured along the docIDs, that
// holds all points (i, d_i) between two parallel lines. For slope s the width is
// max(d_i - s i) - min(d_i - s i), which is convex in s. The edges touch a vertex of
// the upper hull and a vertex of the lower hull. As s grows, the upper vertex moves
// left and the lower vertex right. The width is least where they pass each other. The
// slope is less than twice the range of the docIDs divided by n-1.
func strip(docs []uint32) uint64 {
	var bufU, bufL [128]uint32 // room for the vertices of nearly all lists
	u, l := hull(bufU[:0], docs, true), hull(bufL[:0], docs, false)
	i, j := len(u)-1, 0
	dy, dx := uint64(1), uint64(1)
	for u[i] > l[j] {
		uy, ux := uint64(docs[u[i]]-docs[u[i-1]]), uint64(u[i]-u[i-1])
		ly, lx := uint64(docs[l[j+1]]-docs[l[j]]), uint64(l[j+1]-l[j])
		if uy*lx <= ly*ux {
			i, dy, dx = i-1, uy, ux
		} else {
			j, dy, dx = j+1, ly, lx
		}
	}
	return dy << LineShift / dx
}

// hull appends the indexes of the vertices of the upper or lower convex hull of
// the points (i, d_i), from left to right, to dst.
func hull(dst []uint32, docs []uint32, upper bool) []uint32 {
	for i, d := range docs {
		for len(dst) > 1 {
			a, b := dst[len(dst)-2], dst[len(dst)-1]
			before := uint64(docs[b]-docs[a]) * uint64(uint32(i)-b)
			behind := uint64(d-docs[b]) * uint64(b-a)
			if before > behind == upper && before != behind {
				break
			}
			dst = dst[:len(dst)-1]
		}
		dst = append(dst, uint32(i))
	}
	return dst
}

// A lineRecord is the slope m * 2^e / 2^16 and the width of a segment or bucket:
//
//	[0:16)  m, at least 2^15
//	[16:21) e, 1 to 31
//	[21:27) b, 0 to 32
//	[27:32) zero
type lineRecord uint32

func makeLineRecord(f fitted) lineRecord {
	e := bits.Len64(f.slope) - LineShift
	return lineRecord(f.slope>>(e+slopeShift)) | lineRecord(e)<<16 | lineRecord(f.b)<<21
}

// slopeShift turns 16 fraction bits into LineShift fraction bits.
const slopeShift = LineShift - 16

func (r lineRecord) slope() uint64 { return uint64(r&0xffff) << (r>>16&31 + slopeShift) }
func (r lineRecord) b() uint       { return uint(r >> 21 & 63) }

// good tells whether an encoder can write r.
func (r lineRecord) good() bool {
	return r>>27 == 0 && r&0x8000 != 0 && r>>16&31 != 0 && r.b() <= 32
}

// roundSlope returns the nearest slope that a lineRecord can hold.
func roundSlope(slope uint64) uint64 {
	slope += 1 << (bits.Len64(slope) - 17)
	n := bits.Len64(slope)
	if n > LineShift+31 {
		return 0xffff << (31 + slopeShift)
	}
	return slope >> (n - 16) << (n - 16)
}

// wholeSlope returns a slope unchanged.
func wholeSlope(slope uint64) uint64 { return slope }
