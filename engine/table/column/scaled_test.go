package column

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// TestScaled compares a Float with a scale and a Float without, of the same values: they have
// the same order, texts and answers to comparisons.
func TestScaled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Uint8Range(1, MaxFloatScale).Draw(t, "scale")
		near := rapid.SampledFrom([]int64{0, 1e3, 1e9, 1e15 - 3, -1e15 + 3}).Draw(t, "near")
		draw := rapid.Custom(func(t *rapid.T) float64 {
			return float64(near+rapid.Int64Range(-3, 3).Draw(t, "more")) / math.Pow10(int(scale))
		})
		values := rapid.SliceOfNDistinct(draw, 1, 6, rapid.ID[float64]).Draw(t, "values")
		slices.Sort(values)
		plain, scaled := &Column{Type: Float}, &Column{Type: Float, Scale: scale}
		for i, v := range values {
			key, ok := ScaledKey(v, scale)
			if i == 0 {
				plain.Base, scaled.Base = FloatKey(v), key
			}
			a, b := FloatKey(v)-plain.Base, key-scaled.Base
			plain.Bins, scaled.Bins = append(plain.Bins, Bin{a, a, 1}), append(scaled.Bins, Bin{b, b, 1})
			switch {
			case !ok || scaled.Float(b) != v || plain.Float(a) != v:
				t.Fatalf("%v has key %d, %v, which is %v", v, key, ok, scaled.Float(b))
			case scaled.UnscaledKey(b) != FloatKey(v) || scaled.Format(b) != plain.Format(a):
				t.Fatalf("%v is %s", v, scaled.Format(b))
			case !slices.Equal(scaled.AppendFloats(nil, []uint64{b, 0}), []float64{v, values[0]}) || plain.AppendFloats(nil, []uint64{a})[0] != v:
				t.Fatalf("%v and %v are %v", v, values[0], scaled.AppendFloats(nil, []uint64{b, 0}))
			case i > 0 && b <= scaled.Bins[i-1].Hi:
				t.Fatalf("%v does not come behind %v", v, values[i-1])
			}
		}
		text := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) string { return strconv.FormatFloat(draw.Draw(t, "number"), 'f', -1, 64) }),
			rapid.Custom(func(t *rapid.T) string {
				return strconv.FormatFloat(math.Nextafter(draw.Draw(t, "number"), math.Inf(rapid.SampledFrom([]int{-1, 1}).Draw(t, "side"))), 'g', -1, 64)
			}),
			rapid.Custom(func(t *rapid.T) string { return strconv.FormatFloat(rapid.Float64().Draw(t, "any"), 'g', -1, 64) }),
			rapid.SampledFrom([]string{"1e400", "-1e400", "inf", "-inf", "nan", "1e-400"}),
		).Draw(t, "literal")
		l := Literal{Number, text}
		if special(text) {
			l.Kind = Text
		}
		op := rapid.SampledFrom([]Op{Eq, Ne, Lt, Le, Gt, Ge}).Draw(t, "operator")
		want, err := plain.Compare(op, l)
		got, err2 := scaled.Compare(op, l)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		in := func(r []plan.CodeRange, code uint64) bool {
			return slices.ContainsFunc(r, func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi })
		}
		for i, v := range values {
			if in(want, plain.Bins[i].Lo) != in(got, scaled.Bins[i].Lo) {
				t.Fatalf("%v %v %s: %v, want %v", v, op, text, !in(want, plain.Bins[i].Lo), in(want, plain.Bins[i].Lo))
			}
		}
	})
}

// TestNotScaled has values without a key of so few digits.
func TestNotScaled(t *testing.T) {
	for _, v := range []float64{1.0 / 3, math.NaN(), math.Inf(1), math.Inf(-1), 0.001, 1e14, -1e300, 5e-324} {
		if key, ok := ScaledKey(v, 2); ok {
			t.Errorf("%v has key %d", v, key)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 0.01, -1e13, 1e13, 123.45} {
		if key, ok := ScaledKey(v, 2); !ok || (&Column{Type: Float, Scale: 2}).Float(key) != v {
			t.Errorf("%v has key %d, %v", v, key, ok)
		}
	}
}
