package exact

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// floats draws values of all sizes: of any bits, of similar size, whole, the ends of the
// range, and values that cancel out.
var floats = rapid.Custom(func(t *rapid.T) []float64 {
	any := rapid.Custom(func(t *rapid.T) float64 { return math.Float64frombits(rapid.Uint64().Draw(t, "bits")) })
	finite := any.Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
	near := rapid.Float64Range(-1000, 1000)
	edge := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1023,
		math.MaxFloat64, -math.MaxFloat64, 1, -1, 0x1p53, 0x1p-53, 0x1p-54, 1 + 0x1p-52, 0x1p970, -0x1p969})
	v := rapid.SliceOf(rapid.OneOf(finite, near, edge, edge)).Draw(t, "values")
	if rapid.Bool().Draw(t, "cancel") {
		for _, x := range slices.Clone(v) {
			v = append(v, -x)
		}
		v = append(v, edge.Draw(t, "rest"))
	}
	return v
})

// rat is the exact sum.
func rat(values []float64) *big.Rat {
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, new(big.Rat).SetFloat64(v))
	}
	return sum
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// TestTimes compares products with repeated sums.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, twice Float
		values, n := floats.Draw(t, "floats"), rapid.Uint32Range(1, math.MaxUint32).Draw(t, "n")
		sum := new(big.Rat)
		for i, v := range values {
			s.AddTimes(v, n)
			if i%2 == 0 {
				s.Add(v)
			}
			v := new(big.Rat).SetFloat64(v)
			sum.Add(sum, v.Mul(v, new(big.Rat).SetInt64(int64(n)+int64(1-i%2))))
		}
		if want, _ := sum.Float64(); s.Sum() != want {
			t.Fatalf("%v times %d: %v, want %v", values, n, s.Sum(), want)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			twice.Reset()
			if twice.AddTimes(v, n); !same(twice.Sum(), v) {
				t.Fatalf("%v times %d: %v", v, n, twice.Sum())
			}
		}
	})
}

// TestFloat compares sums and means with math/big, in two orders and in two parts.
func TestFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := floats.Draw(t, "floats")
		var s, back, first, second Float
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		s.Add(-0x1p999)
		s.Reset()
		for i, v := range values {
			s.Add(v)
			if i < cut {
				first.Add(v)
			} else {
				second.Add(v)
			}
		}
		for _, v := range slices.Backward(values) {
			back.Add(v)
		}
		first.Merge(&second)
		want, _ := rat(values).Float64()
		n := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "n")
		mean, _ := new(big.Rat).Quo(rat(values), new(big.Rat).SetInt(new(big.Int).SetUint64(n))).Float64()
		for _, x := range []*Float{&s, &back, &first} {
			if got := x.Sum(); !same(got, want) {
				t.Fatalf("sum %v (%x), want %v", got, got, want)
			}
			if got := x.Mean(n); !same(got, mean) {
				t.Fatalf("mean of %d: %v, want %v", n, got, mean)
			}
		}
	})
}

// TestCarry has carries after any number of additions.
func TestCarry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := floats.Draw(t, "floats")
		var s Float
		for _, v := range values {
			s.Add(v)
			s.pending = mostAdds - 1 - uint32(rapid.IntRange(0, 2).Draw(t, "pending"))
		}
		if want, _ := rat(values).Float64(); !same(s.Sum(), want) {
			t.Fatalf("sum %v, want %v", s.Sum(), want)
		}
	})
}

// TestDigits: 2^31 additions of the greatest mantissa do not overflow a digit.
func TestDigits(t *testing.T) {
	var s Float
	const v = 0x1.fffffffffffffp+31
	s.Add(v)
	for i := range s.digits { // as after mostAdds-1 additions
		s.digits[i] *= mostAdds - 1
	}
	s.pending = mostAdds - 1
	for range 3 {
		s.Add(v)
		for _, d := range s.digits[:len(s.digits)-1] { // the carry has come: no number of further additions overflows
			if d >= 1<<(digitBits+2) {
				t.Fatalf("a digit %d after %d additions", d, mostAdds)
			}
		}
	}
	want, _ := new(big.Rat).Mul(new(big.Rat).SetFloat64(v), new(big.Rat).SetInt64(mostAdds+2)).Float64()
	if got := s.Sum(); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestLastBit rounds up for a bit that lies any number of digits behind.
func TestLastBit(t *testing.T) {
	for _, far := range []float64{0x1p-54, 0x1p-100, 0x1p-200, 0x1p-1074} {
		for sign, want := range map[float64]float64{1: 1 + 0x1p-52, -1: 1} {
			var s Float
			for _, v := range []float64{1, 0x1p-53, sign * far} {
				s.Add(v)
			}
			if got := s.Sum(); got != want {
				t.Errorf("1 + 2^-53 + %v: %v, want %v", sign*far, got, want)
			}
		}
	}
}

// TestSpecial has the sums with NaN and infinities.
func TestSpecial(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{math.Copysign(0, -1)}, 0}, {[]float64{inf, 1}, inf}, {[]float64{1, -inf}, -inf}, {[]float64{inf, -inf}, math.NaN()},
		{[]float64{inf, math.NaN()}, math.NaN()}, {[]float64{math.NaN(), 1}, math.NaN()}, {[]float64{-inf, -inf}, -inf},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, inf}, {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
		{[]float64{math.MaxFloat64, 0x1p969}, math.MaxFloat64}, {[]float64{math.MaxFloat64, 0x1p970}, inf},
	} {
		var s, o Float
		for _, v := range test.values {
			s.Add(v)
		}
		o.Merge(&s)
		for _, got := range []float64{s.Sum(), o.Sum()} {
			if got != test.want && !(got != got && test.want != test.want) {
				t.Errorf("%v: %v, want %v", test.values, got, test.want)
			}
		}
		if got := s.Mean(1); got != test.want && !(got != got && test.want != test.want) {
			t.Errorf("mean of %v: %v, want %v", test.values, got, test.want)
		}
	}
}

// TestInteger compares sums with math/big.
func TestInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum, part Integer
		want := new(big.Int)
		word := rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(math.MaxUint64)), rapid.Uint64Range(0, 3))
		for range rapid.IntRange(0, 50).Draw(t, "values") {
			high, low := word.Draw(t, "high"), word.Draw(t, "low")
			if rapid.Bool().Draw(t, "part") {
				part.Add(high, low)
			} else {
				sum.Add(high, low)
			}
			v := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
			want.Add(want, v.Add(v, new(big.Int).SetUint64(low)))
		}
		sum.Merge(part)
		if got := sum.Big(); got.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// inside adds v to s, and reports whether v is inside of the window.
func inside(w Window, s *Fixed, v float64) bool {
	sums := []Fixed{{}, *s}
	n := w.Add(sums, []uint32{1, 1}, []float64{v})
	*s = sums[1]
	return n == 1
}

// TestWindow compares the sums of values inside and outside of a window with math/big.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := floats.Draw(t, "floats")
		near := rapid.Float64Range(1, 1000)
		size := math.Ldexp(1, rapid.IntRange(-1074, 1000).Draw(t, "exponent"))
		for _, v := range rapid.SliceOf(near).Draw(t, "near") {
			values = append(values, v*size, -v/7*size)
		}
		sample := values
		if len(values) > 0 && rapid.Bool().Draw(t, "one") {
			sample = values[len(values)-1:]
		}
		w := WindowOf(sample)
		var fixed, other Fixed
		var rest Float
		added := 0
		for i, v := range values {
			to := &fixed
			if i%3 == 0 {
				to = &other
			}
			if inside(w, to, v) {
				added++
			} else {
				rest.Add(v)
			}
		}
		fixed.Merge(other)
		rest.AddFixed(w, fixed)
		if want, _ := rat(values).Float64(); !same(rest.Sum(), want) {
			t.Fatalf("sum %v, want %v", rest.Sum(), want)
		}
		if v := sample; len(v) == 1 && math.Abs(v[0]) >= 0x1p-1022 && added == 0 {
			t.Fatalf("the sample %v is outside of its window %+v", v, w)
		}
	})
}

// TestWindowEnds has values at the ends of a window, with the greatest number of rows.
func TestWindowEnds(t *testing.T) {
	w := WindowOf([]float64{1})
	most := math.Ldexp(0x1.fffffffffffffp0, room)
	for v, want := range map[float64]bool{most: true, -most: true, 2 * most: false, math.Ldexp(1, room-mostShift): true,
		math.Ldexp(1, room-mostShift-1): false, 0: true, math.Inf(1): false, math.NaN(): false} {
		var s Fixed
		if inside(w, &s, v) != want {
			t.Errorf("%v is inside: %v", v, !want)
		}
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if inside(WindowOf([]float64{math.MaxFloat64, v}), new(Fixed), v) {
			t.Errorf("%v is inside of the highest window", v)
		}
	}
	for _, v := range []float64{most, -most} {
		var s Fixed
		inside(w, &s, v)
		for range 32 { // doubled 32 times: 2^32 values
			s.Merge(s)
		}
		var sum Float
		sum.AddFixed(w, s)
		if got := sum.Sum(); got != v*0x1p32 {
			t.Errorf("%v, want %v", got, v*0x1p32)
		}
	}
}

// grains draws multiples of a power of two of so many bits, and a few other values.
var grains = rapid.Custom(func(t *rapid.T) []float64 {
	unit := math.Ldexp(1, rapid.IntRange(-1074, 960).Draw(t, "exponent"))
	most := int64(1) << rapid.IntRange(0, 40).Draw(t, "bits")
	multiple := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-most, most).Draw(t, "multiple")) * unit })
	values := rapid.SliceOf(multiple).Draw(t, "multiples")
	if rapid.Bool().Draw(t, "others") {
		values = append(values, floats.Draw(t, "floats")...)
	}
	return values
})

// TestGrains compares the sums of multiples of a grain, and of other values, with math/big.
func TestGrains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := grains.Draw(t, "values")
		w := WindowOf(values[:rapid.IntRange(0, len(values)).Draw(t, "sample")])
		var rest Float
		sums, ids := []int64{7, 0}, []uint32{1}
		for _, v := range values {
			if !w.HasGrain() || w.AddGrains(sums, ids, []float64{v}) == 0 {
				rest.Add(v)
			}
		}
		rest.AddGrain(w, sums[1])
		if want, _ := rat(values).Float64(); !same(rest.Sum(), want) || sums[0] != 7 {
			t.Fatalf("sum %v, want %v", rest.Sum(), want)
		}
	})
}

// TestGrainEnds has values at the ends of 31 bits, values that are no multiples, and samples without
// a grain.
func TestGrainEnds(t *testing.T) {
	w := WindowOf([]float64{0.25, 3, -7.75, 0})
	if !w.HasGrain() {
		t.Fatal("no grain of 1/4")
	}
	for v, want := range map[float64]bool{0: true, math.Copysign(0, -1): true, -0.25: true, 0.125: false, 3.3: false, (1<<31 - 1) / 4.0: true, 1 << 29: false, -1 << 29: true,
		-1<<29 - 0.25: false, 0x1p61: false, -0x1p61: false, math.MaxFloat64: false, math.SmallestNonzeroFloat64: false, math.Inf(1): false, math.Inf(-1): false, math.NaN(): false} {
		sums := []int64{0}
		if got := w.AddGrains(sums, []uint32{0}, []float64{v}) == 1; got != want || float64(sums[0])/4 != v && want {
			t.Errorf("%v is added: %v, the sum is %d quarters", v, got, sums[0])
		}
	}
	for _, sample := range [][]float64{nil, {0}, {0.1}, {1, 0x1p-31}, {math.Inf(1)}, {math.NaN()}, {math.SmallestNonzeroFloat64}} {
		if WindowOf(sample).HasGrain() {
			t.Errorf("the sample %v has a grain", sample)
		}
	}
	if large := WindowOf([]float64{0x1p960}); large.HasGrain() && large.AddGrains([]int64{0}, []uint32{0}, []float64{0x1p-1000}) != 0 {
		t.Error("a value that the scale makes 0 is added")
	}
}

// TestAddTimes compares sums of signed integers, and their form of 128 bits, with math/big.
func TestAddTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum Integer
		want := new(big.Int)
		word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64}))
		for range rapid.IntRange(0, 5).Draw(t, "values") {
			n, high, low := word.Draw(t, "n")>>3, word.Draw(t, "high"), word.Draw(t, "low")
			sum.AddTimes(n, high, low)
			v := new(big.Int).Lsh(big.NewInt(int64(high)), 64)
			v.Add(v, new(big.Int).SetUint64(low))
			want.Add(want, v.Mul(v, new(big.Int).SetUint64(n)))
		}
		if got := sum.Big(); got.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", got, want)
		}
		least := new(big.Int).Lsh(big.NewInt(-1), 127)
		fits := want.Cmp(least) >= 0 && want.Cmp(new(big.Int).Not(least)) <= 0
		high, low, ok := sum.Wide()
		wide := new(big.Int).Lsh(big.NewInt(int64(high)), 64)
		if wide.Add(wide, new(big.Int).SetUint64(low)); ok != fits || ok && wide.Cmp(want) != 0 {
			t.Fatalf("%v in 128 bits: %v, %t", want, wide, ok)
		}
	})
}
