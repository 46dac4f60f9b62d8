package exact

import (
	"encoding/binary"
	"math"
	"slices"
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

// TestParseFloatBounds reads bytes at the bounds of ParseFloat, and just beyond them.
func TestParseFloatBounds(t *testing.T) {
	of := func(low int64, digits ...int64) []byte {
		b := binary.AppendVarint([]byte{0}, low)
		for _, d := range digits {
			b = binary.AppendVarint(b, d)
		}
		return b
	}
	ones := slices.Repeat([]int64{1}, mostDigits+1)
	const most, least = math.MaxInt64 / 2, math.MinInt64 / 2
	for _, test := range []struct {
		name string
		b    []byte
		ok   bool
	}{
		{"nothing", nil, false}, {"no place", []byte{0}, false}, {"half a place", []byte{0, 0x80}, false}, {"half a digit", append(of(0, 1, 1, 1), 0x80), false},
		{"all special values", []byte{7, 0}, true}, {"more special values", []byte{8, 0}, false},
		{"place below 0", of(-1), false}, {"last place", of(mostDigits - 1), true}, {"place behind the last", of(mostDigits), false},
		{"1 digit", of(0, 1), false}, {"2 digits", of(0, 1, 1), false}, {"3 digits", of(0, 1, 1, 1), true},
		{"all digits", of(0, ones[:mostDigits]...), true}, {"a digit more", of(0, ones...), false},
		{"last digits", of(mostDigits-3, 1, 1, 1), true}, {"digits behind the last", of(mostDigits-2, 1, 1, 1), false},
		{"greatest digit", of(0, 1, most, 1), true}, {"greater digit", of(0, 1, most+1, 1), false},
		{"least digit", of(0, 1, least, 1), true}, {"lesser digit", of(0, 1, least-1, 1), false},
	} {
		if _, err := ParseFloat(test.b); (err == nil) != test.ok || err != nil && err != ErrBytes {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}

// TestBytesCarry: a sum that is read has room for as many additions as a sum after a carry.
func TestBytesCarry(t *testing.T) {
	var s Float
	for range 3 {
		s.Add(0x1.fffffffffffffp+31)
	}
	got, err := ParseFloat(s.AppendBytes(nil))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range got.digits[:len(got.digits)-1] {
		if d>>digitBits != 0 {
			t.Errorf("digit %d is %x", i, d)
		}
	}
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
