package bm25

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFixValues(t *testing.T) {
	for _, test := range []struct {
		weights []float64
		want    []uint32
		scale   Scale
	}{
		{nil, nil, noWeight},
		{[]float64{0}, []uint32{1}, noWeight},
		{[]float64{0, 0, 0}, []uint32{1, 1, 1}, noWeight},
		{[]float64{1}, []uint32{1 << 31}, 31},
		{[]float64{1, 1}, []uint32{1 << 30, 1 << 30}, 30}, // twice as much is 2^32
		{[]float64{1, 0}, []uint32{1 << 31, 1}, 31},
		{[]float64{math.MaxUint32}, []uint32{math.MaxUint32}, 0},
		{[]float64{math.MaxUint32, 1}, []uint32{1 << 31, 1}, -1}, // both are rounded up
		{[]float64{math.MaxFloat64}, []uint32{1 << 31}, -993},    // -992 would round it to 2^32
		{[]float64{0x1p1023}, []uint32{1 << 31}, -992},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, []uint32{1 << 30, 1 << 30}, -994},
		{[]float64{math.SmallestNonzeroFloat64}, []uint32{1 << 31}, 1105},
		{[]float64{1, 1e-300}, []uint32{1 << 31, 1}, 31},
	} {
		got, scale := Fix(nil, test.weights)
		if !slices.Equal(got, test.want) || scale != test.scale {
			t.Errorf("%v: %d, scale %d, want %d, scale %d", test.weights, got, scale, test.want, test.scale)
		}
	}
	if got, _ := Fix([]uint32{7}, []float64{1}); !slices.Equal(got, []uint32{7, 1 << 31}) {
		t.Errorf("appended to 7: %d", got)
	}
	if got := Scale(-3).Score(5); got != 40 {
		t.Errorf("5 at scale -3 is %v", got)
	}
}

// TestFix compares with rounding in rational numbers: the weights are right for the
// scale, their sum fits, and at the next scale it would not.
func TestFix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(0, 20), rapid.Float64Range(0, 1e-3), rapid.Float64Range(0, math.MaxFloat64), rapid.Just(0.0), rapid.Just(1.0),
		), 1, 200).Draw(t, "weights")
		got, scale := Fix(nil, weights)
		if slices.Max(weights) == 0 {
			return // any scale will do
		}
		if want, sum := roundAll(weights, scale); !slices.Equal(got, want) || sum > math.MaxUint32 {
			t.Fatalf("scale %d: %d, want %d, sum %d", scale, got, want, sum)
		}
		if _, sum := roundAll(weights, scale+1); sum <= math.MaxUint32 {
			t.Fatalf("scale %d, but at %d the sum is %d", scale, scale+1, sum)
		}
	})
}

// roundAll is max(1, round(w 2^s)) of each w, half away from zero.
func roundAll(weights []float64, s Scale) (fixed []uint32, sum uint64) {
	for _, w := range weights {
		x, _ := new(big.Float).SetMantExp(big.NewFloat(w), int(s)+1).Int(nil) // 2 w 2^s, rounded down
		n := max(x.Add(x, big.NewInt(1)).Rsh(x, 1).Uint64(), 1)
		fixed = append(fixed, uint32(n))
		sum += n
	}
	return fixed, sum
}
