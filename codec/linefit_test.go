package codec

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
)

// exactRegression returns the least squares slope with unlimited integers.
func exactRegression(docs []uint32) uint64 {
	n := big.NewInt(int64(len(docs)))
	var sumI, sumD, sumII, sumID big.Int
	for i, d := range docs {
		x, y := big.NewInt(int64(i)), big.NewInt(int64(d))
		sumI.Add(&sumI, x)
		sumD.Add(&sumD, y)
		sumII.Add(&sumII, new(big.Int).Mul(x, x))
		sumID.Add(&sumID, new(big.Int).Mul(x, y))
	}
	cov := new(big.Int).Sub(new(big.Int).Mul(n, &sumID), new(big.Int).Mul(&sumI, &sumD))
	variance := new(big.Int).Sub(new(big.Int).Mul(n, &sumII), new(big.Int).Mul(&sumI, &sumI))
	return cov.Lsh(cov, LineShift).Div(cov, variance).Uint64()
}

func TestRegressionIsExact(t *testing.T) {
	check := func(tb rapid.TB, docs []uint32) {
		tb.Helper()
		if len(docs) > 1 && regression(docs) != exactRegression(docs) {
			tb.Fatalf("%d docIDs: slope %d, exactly %d", len(docs), regression(docs), exactRegression(docs))
		}
	}
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint64Range(1, codectest.Universe).Draw(t, "universe")
				check(t, g.List(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "n"), universe))
			})
			check(t, g.List(3, 1<<17, codectest.Universe))
		})
	}
	if got := regression([]uint32{7}); got != unitSlope {
		t.Errorf("slope of one docID: %d", got)
	}
}

// width returns x times the width of the strip of slope y/x that holds all points.
func width(docs []uint32, y, x int64) int64 {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for i, d := range docs {
		v := int64(d)*x - int64(i)*y
		lo, hi = min(lo, v), max(hi, v)
	}
	return hi - lo
}

// The narrowest strip touches an edge between two points. The oracle tries all edges.
func TestStripIsNarrowest(t *testing.T) {
	for _, g := range codectest.Generators() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				universe := rapid.Uint64Range(1, 1<<24).Draw(t, "universe")
				docs := g.List(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 40).Draw(t, "n"), universe)
				if len(docs) < 2 || len(docs) > 40 {
					return
				}
				best := math.Inf(1)
				for i := range docs {
					for j := range i {
						y, x := int64(docs[i]-docs[j]), int64(i-j)
						best = min(best, float64(width(docs, y, x))/float64(x))
					}
				}
				slope := strip(docs)
				if got := float64(width(docs, int64(slope), unitSlope)) / unitSlope; got > best+1e-3 {
					t.Fatalf("%v: slope %v has width %v, there is one of %v", docs, float64(slope)/unitSlope, got, best)
				}
			})
		})
	}
}

func TestHull(t *testing.T) {
	docs := []uint32{0, 5, 6, 7, 20, 21, 22, 23, 24, 25, 60}
	if got := hull(nil, docs, true); !slices.Equal(got, []uint32{0, 10}) {
		t.Errorf("upper hull %v", got)
	}
	if got := hull(nil, docs, false); !slices.Equal(got, []uint32{0, 3, 9, 10}) {
		t.Errorf("lower hull %v", got)
	}
}

// fit needs no more bits than the regression or the line of slope one, and keeps the
// bounds of the format.
func TestFit(t *testing.T) {
	for _, round := range []func(uint64) uint64{wholeSlope, roundSlope} {
		for _, g := range codectest.Generators() {
			t.Run(g.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					universe := rapid.Uint64Range(1, codectest.Universe).Draw(t, "universe")
					docs := g.List(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 1000).Draw(t, "n"), universe)
					if len(docs) == 0 {
						return
					}
					f := fit(docs, round)
					lo, hi := deviations(docs, 0, f.slope)
					need := uint(big.NewInt(hi - lo).BitLen())
					if f.base != lo || f.b != need || f.b > 32 || f.slope < unitSlope || f.slope > 1<<62 || lo <= -1<<32 {
						t.Fatalf("%+v: deviations %d to %d", f, lo, hi)
					}
					for _, slope := range []uint64{unitSlope, round(regression(docs))} {
						lo, hi := deviations(docs, 0, slope)
						if b := uint(big.NewInt(hi - lo).BitLen()); b < f.b {
							t.Fatalf("%+v: slope %d takes %d bits", f, slope, b)
						}
					}
				})
			})
		}
	}
}

// A record holds every rounded slope. Rounding changes a slope by at most one part in
// 2^16, up to the largest slope that fits.
func TestRoundSlope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := rapid.Uint64Range(unitSlope, 1<<62).Draw(t, "slope")
		got := roundSlope(slope)
		r := makeLineRecord(fitted{got, 0, 17})
		if !r.good() || r.slope() != got || r.b() != 17 {
			t.Fatalf("slope %d becomes %d, in the record %#x %d", slope, got, uint32(r), r.slope())
		}
		off := max(got, slope) - min(got, slope)
		if largest := uint64(0xffff) << (31 + slopeShift); off > slope>>16 && (slope <= largest || got != largest) {
			t.Fatalf("slope %d becomes %d", slope, got)
		}
	})
	if roundSlope(unitSlope) != unitSlope {
		t.Error("a slope of one is not kept")
	}
}
