package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestBytes writes and reads sums, with and without special values.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, whole Float
		for _, v := range floats.Draw(t, "floats") {
			s.Add(v)
			whole.Add(v)
		}
		if v := rapid.SampledFrom([]float64{0, 0, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "special"); v != 0 {
			s.Add(v)
			whole.Add(v)
		}
		got, err := ParseFloat(s.AppendBytes(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range floats.Draw(t, "more") {
			got.Add(v)
			whole.Add(v)
		}
		if a, b := got.Sum(), whole.Sum(); !same(a, b) && (a == a || b == b) {
			t.Fatalf("sum %v, want %v", a, b)
		}
	})
}

// FuzzParseFloat reads arbitrary bytes: the result is an error or a sum.
func FuzzParseFloat(f *testing.F) {
	var s Float
	for _, v := range []float64{1, -0x1p1000, 0x1p-1074} {
		s.Add(v)
		f.Add(s.AppendBytes(nil))
	}
	f.Add([]byte{8, 0})
	f.Add([]byte{0, 62, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseFloat(b)
		if err != nil {
			return
		}
		s.Add(1)
		other := Float{}
		other.Merge(&s)
		if a, b := s.Sum(), other.Sum(); !same(a, b) && (a == a || b == b) {
			t.Fatalf("sum %v, merged %v", a, b)
		}
		s.Mean(3)
	})
}
