package exact

import (
	"math"
	"math/bits"
)

// Window is a range of sizes of floats whose sum fits 128 bits. It adds such floats to a
// Fixed in a third of the time of Float.Add. The zero value has the least floats.
type Window struct {
	shift int // the unit of a Fixed is 2^(shift-1074)
	// Values of few bits, such as prices in quarters, are multiples of 2^(grain-1074) below 2^31 units.
	// Their sums fit 64 bits.
	grain int
	scale float64 // units in 1; 0: the sample has other values
}

// Fixed is a signed integer of 128 bits, in units of a Window. The zero value is 0. A sum of at
// most 2^32 values does not overflow.
type Fixed struct{ low, high uint64 }

const (
	mostShift = 128 - 1 - 32 - 53 // greatest shift of a mantissa: the sum of 2^32 shifted mantissas with a sign fits Fixed
	room      = 8                 // powers of two above the sample that a window has
	greatest  = 0x7fe - 1         // shift of the mantissa of the greatest float64
)

// Units returns the window of sums in units of 2^exponent, which is at least -1074. It has the least floats.
func Units(exponent int) Window { return Window{shift: exponent - least} }

// FixedOf is an integer in two's complement as a sum.
func FixedOf(high, low uint64) Fixed { return Fixed{low, high} }

// WindowOf returns the window of a sample of values and of values up to 2^room times as large.
func WindowOf(sample []float64) Window {
	most, grain := 0, greatest
	for _, v := range sample {
		b := math.Float64bits(v)
		if e := int(b >> 52 & 0x7ff); e > 0 && e < 0x7ff {
			most = max(most, e-1)
			grain = min(grain, e-1+bits.TrailingZeros64(b|1<<52))
		}
	}
	w := Window{shift: max(0, min(most+room, greatest)-mostShift), grain: grain}
	if unit := math.Ldexp(1, grain+least); grain < greatest && most+53+room-grain <= grainBits && unit > 1/math.MaxFloat64 {
		w.scale = 1 / unit
	}
	return w
}

// grainBits is the number of bits of a multiple of the grain: with a sign and 2^32 values it fits 64 bits.
const grainBits = 31

// HasGrain tells whether AddGrains pays.
func (w Window) HasGrain() bool { return w.scale > 0 }

// AddGrains is Add for multiples of the grain below 2^31 grains, of a window with a grain.
func (w Window) AddGrains(sums []int64, ids []uint32, values []float64) int {
	ids = ids[:len(values)]
	for i, v := range values {
		x := v * w.scale // exact, or it becomes an infinity or 0
		n := int64(x)
		if float64(n) != x || uint64(n+1<<grainBits) >= 2<<grainBits || n == 0 && v != 0 {
			return i
		}
		sums[ids[i]] += n
	}
	return len(values)
}

// AddGrain adds a sum of grains of a window.
func (s *Float) AddGrain(w Window, grains int64) {
	s.AddFixed(Window{shift: w.grain}, Fixed{uint64(grains), uint64(grains >> 63)})
}

// Add adds each value to the sum with its id, up to the first value outside of the window. It
// returns the number of values that it has added.
func (w Window) Add(sums []Fixed, ids []uint32, values []float64) int {
	ids = ids[:len(values)]
	for i, v := range values {
		b := math.Float64bits(v)
		at := uint(b>>52&0x7ff) - 1 - uint(w.shift)
		if at > mostShift { // too small, too large, or not finite
			if b<<1 == 0 {
				continue
			}
			return i
		}
		mantissa := b&(1<<52-1) | 1<<52
		sign := uint64(int64(b) >> 63) // 0, or all ones: then x ^ sign + 1 is -x
		low, high := mantissa<<(at&63), mantissa>>1>>((63-at)&63)
		s := &sums[ids[i]]
		var carry uint64
		s.low, carry = bits.Add64(s.low, low^sign, sign&1)
		s.high, _ = bits.Add64(s.high, high^sign, carry)
	}
	return len(values)
}

// Merge adds o, of the same window.
func (s *Fixed) Merge(o Fixed) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, o.low, 0)
	s.high, _ = bits.Add64(s.high, o.high, carry)
}

// AddFixed adds a sum of a window.
func (s *Float) AddFixed(w Window, f Fixed) {
	if f == (Fixed{}) {
		return
	}
	const digits = 5 // digits of 128 bits that are shifted by less than 32
	s.carry()
	at := s.extend(w.shift/digitBits, digits)
	within := uint(w.shift) % digitBits
	// The words of the shifted integer. The last one has the sign.
	words := [3]uint64{f.low << within, f.high<<within | f.low>>(64-within), uint64(int64(f.high) >> (63 - within) >> 1)}
	d := s.digits[at : at+digits]
	for i := range 4 {
		d[i] += int64(words[i/2] >> (i % 2 * digitBits) & digitMask)
	}
	d[4] += int64(words[2])
	s.carry()
}
