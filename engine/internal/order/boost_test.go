package order

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/table/column"
	table "heddle/engine/table/values"
)

// TestBoost compares the boost of integers with rational numbers.
func TestBoost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Int64Range(-50, 50), rapid.Int64())
		from, to, unit := value.Draw(t, "from"), value.Draw(t, "to"), math.Ldexp(1, rapid.IntRange(-45, 3).Draw(t, "unit"))
		if from == to {
			return
		}
		b := &Boost{Column: "x", From: big.NewInt(from).String(), To: big.NewInt(to).String(), Weight: rapid.Float64Range(1e-9, 100).Draw(t, "weight")}
		x, sum := value.Draw(t, "x"), rapid.Uint32().Draw(t, "sum")
		scores := []float64{float64(sum) * unit, 1}
		c := &values{&table.Column{Column: column.Column{Name: "x", Type: column.Int, Base: column.IntKey(x)}, Codes: []uint64{0, 0}, Missing: []bool{false, true}}}
		most, err := b.add(scores, unit, c, scores[0])
		if err != nil {
			t.Fatal(err)
		}
		if whole := (float64(sum) + math.Round(b.Weight/unit)) * unit; most != whole || scores[0] > most {
			t.Fatalf("the score %v is at most %v, want %v", scores[0], most, whole)
		}
		at := big.NewRat(0, 1).SetFrac(new(big.Int).Sub(big.NewInt(x), big.NewInt(from)), new(big.Int).Sub(big.NewInt(to), big.NewInt(from)))
		if at.Sign() < 0 {
			at.SetInt64(0)
		} else if at.Cmp(big.NewRat(1, 1)) > 0 {
			at.SetInt64(1)
		}
		steps := new(big.Int).Div(new(big.Int).Lsh(at.Num(), stepBits), at.Denom())
		more := steps.Mul(steps, big.NewInt(int64(math.Round(b.Weight/unit))))
		more.Add(more, big.NewInt(1<<(stepBits-1))).Rsh(more, stepBits)
		want, _ := new(big.Float).SetInt(more.Add(more, big.NewInt(int64(sum)))).Float64()
		if scores[0] != want*unit || scores[1] != 1 {
			t.Fatalf("scores %v, want %v and 1", scores, want*unit)
		}
	})
}
