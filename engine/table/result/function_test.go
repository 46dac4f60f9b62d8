package result

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/table/column"
	"heddle/engine/table/exact"
)

// TestQuotient compares means with math/big, near the ends of the integers that a float64 has as well.
func TestQuotient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(1<<53-2, 1<<53+2), rapid.Uint64Range(1, 1000))
		n, low := max(1, word.Draw(t, "n")), word.Draw(t, "low")
		high := rapid.SampledFrom([]uint64{0, math.MaxUint64, 1, 1 << 62}).Draw(t, "high")
		if rapid.Bool().Draw(t, "negative") {
			low = -low
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rapid.IntRange(0, column.MaxScale).Draw(t, "scale"))), nil)
		var sum exact.Integer
		sum.AddTimes(1, high, low)
		want, _ := new(big.Rat).SetFrac(sum.Big(), new(big.Int).Mul(unit, new(big.Int).SetUint64(n))).Float64()
		if got := quotient(sum, n, unit); got != want {
			t.Fatalf("%v / (%d · %v) = %v, want %v", sum.Big(), n, unit, got, want)
		}
	})
}

// TestQuotientRounds: a sum that no float64 has is not rounded before it is divided.
func TestQuotientRounds(t *testing.T) {
	for d := int64(1); d < 20; d += 2 {
		for n := uint64(1); n < 200; n += 2 {
			for _, v := range []int64{1<<53 + d, -(1<<53 + d)} {
				var sum exact.Integer
				sum.AddTimes(1, uint64(v>>63), uint64(v))
				want, _ := new(big.Rat).SetFrac(big.NewInt(v), new(big.Int).SetUint64(n)).Float64()
				if got := quotient(sum, n, big.NewInt(1)); got != want {
					t.Fatalf("%d / %d = %v, want %v", v, n, got, want)
				}
			}
		}
	}
}

// TestTooLong has the integers around ±10^38.
func TestTooLong(t *testing.T) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(column.MaxScale), nil)
	for _, v := range []*big.Int{big.NewInt(0), big.NewInt(-1), limit, new(big.Int).Lsh(big.NewInt(1), 126)} {
		for d := int64(-2); d <= 2; d++ {
			for _, x := range []*big.Int{new(big.Int).Add(v, big.NewInt(d)), new(big.Int).Sub(big.NewInt(d), v)} {
				low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
				high := uint64(new(big.Int).Rsh(x, 64).Int64())
				if got, want := tooLong(high, low), x.CmpAbs(limit) >= 0; got != want {
					t.Errorf("%v is too long: %t", x, got)
				}
			}
		}
	}
}
