// Package exact adds up numbers without rounding.
//
// Float is a superaccumulator after Kulisch (1971) in the form of Neal (2015): an integer so
// wide that it has a bit for each power of two of a float64, from 2^-1074 on. It is stored
// as digits of 32 bits in words of 64 bits, so that carries wait for 2^30 additions. An
// addition touches three digits. The sum is rounded once, at the end, and therefore does not
// depend on the order of the additions. A Float stores only the digits that its values need:
// values of similar size need three to five.
//
// Integer is a sum of integers of up to 128 bits.
package exact

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Float is the exact sum of any number of float64. The zero value is 0. It is not safe for
// concurrent use.
type Float struct {
	digits  []int64 // the value is Σ digits[i] · 2^(32·(low+i)-1074)
	pending uint32  // additions since the last carry
	low     int16
	special special
}

// special has a bit for each kind of value that is no number.
type special uint8

const (
	nan special = 1 << iota
	positive
	negative
)

const (
	digitBits = 32
	digitMask = 1<<digitBits - 1
	perFloat  = 3 // digits that one value touches
	mostAdds  = 1 << 30
	least     = -1074 // exponent of the least float64 above 0
)

// Reset makes the sum 0. It keeps the memory.
func (s *Float) Reset() { *s = Float{digits: s.digits[:0]} }

// Add adds v.
func (s *Float) Add(v float64) {
	b := math.Float64bits(v)
	mantissa, shift := b&(1<<52-1), int(b>>52&0x7ff)
	switch shift {
	case 0x7ff:
		s.addSpecial(v)
		return
	case 0: // a subnormal number
	default:
		mantissa |= 1 << 52
		shift--
	}
	at := shift/digitBits - int(s.low)
	if uint(at) > uint(len(s.digits)-perFloat) || len(s.digits) == 0 {
		at = s.extend(shift/digitBits, perFloat)
	}
	if s.pending++; s.pending >= mostAdds {
		s.carry()
	}
	d := s.digits[at : at+perFloat : at+perFloat]
	sign := int64(b) >> 63 // 0 or -1: x ^ sign - sign is x or -x
	within := uint(shift) % digitBits
	lower, upper := mantissa<<within, mantissa>>(64-within)
	d[0] += int64(lower&digitMask) ^ sign - sign
	d[1] += int64(lower>>digitBits) ^ sign - sign
	d[2] += int64(upper) ^ sign - sign
}

// AddTimes adds n·v; n is above 0.
func (s *Float) AddTimes(v float64, n uint32) {
	b := math.Float64bits(v)
	mantissa, shift := b&(1<<52-1), int(b>>52&0x7ff)
	switch shift {
	case 0x7ff:
		s.addSpecial(v)
		return
	case 0: // a subnormal number
	default:
		mantissa |= 1 << 52
		shift--
	}
	at := shift/digitBits - int(s.low)
	if uint(at) >= uint(len(s.digits)-perFloat) || len(s.digits) == 0 {
		at = s.extend(shift/digitBits, perFloat+1)
	}
	if s.pending += 2; s.pending >= mostAdds {
		s.carry()
	}
	sign := int64(b) >> 63
	within := uint(shift) % digitBits
	lower, upper := mantissa<<within, mantissa>>(64-within)
	for i, digit := range [perFloat]uint64{lower & digitMask, lower >> digitBits, upper} {
		product := digit * uint64(n)
		s.digits[at+i] += int64(product&digitMask) ^ sign - sign
		s.digits[at+i+1] += int64(product>>digitBits) ^ sign - sign
	}
}

func (s *Float) addSpecial(v float64) {
	switch {
	case v != v:
		s.special |= nan
	case v > 0:
		s.special |= positive
	default:
		s.special |= negative
	}
}

// extend makes room for n digits from digit low on, and returns the place of the first.
func (s *Float) extend(low, n int) int {
	if len(s.digits) == 0 {
		s.digits, s.low = append(s.digits, make([]int64, n)...), int16(low)
		return 0
	}
	first := min(low, int(s.low))
	end := max(low+n, int(s.low)+len(s.digits))
	digits := make([]int64, end-first)
	copy(digits[int(s.low)-first:], s.digits)
	s.digits, s.low = digits, int16(first)
	return low - first
}

// carry leaves 32 bits in all digits but the last, which has the sign.
func (s *Float) carry() {
	s.pending = 0
	last := len(s.digits) - 1
	for i := range last {
		s.digits[i+1] += s.digits[i] >> digitBits
		s.digits[i] &= digitMask
	}
}

// Merge adds the sum o, which stays usable.
func (s *Float) Merge(o *Float) {
	s.special |= o.special
	if len(o.digits) == 0 {
		return
	}
	s.carry()
	o.carry()
	at := s.extend(int(o.low), len(o.digits))
	for i, d := range o.digits {
		s.digits[at+i] += d
	}
	s.carry()
}

// Sum is the float64 nearest to the sum, the even one of two. A sum of at least 2^1024, after
// rounding, is an infinity. A sum with NaN, or with both infinities, is NaN.
func (s *Float) Sum() float64 {
	if v, ok := s.infinite(); ok {
		return v
	}
	if len(s.digits) == 0 {
		return 0
	}
	s.carry()
	// The absolute value in words, behind two words 0. The last digit has the sign, and 64 bits.
	var all [mostDigits + 3]uint32
	negative := s.digits[len(s.digits)-1] < 0
	carry, end := int64(0), 2
	for _, d := range s.digits {
		if negative {
			d = -d
		}
		carry += d
		all[end] = uint32(carry)
		carry, end = carry>>digitBits, end+1
	}
	all[end] = uint32(carry)
	for all[end] == 0 {
		if end--; end < 2 {
			return 0
		}
	}
	// The first 64 bits. float64 rounds them to the nearest 53; the last one is 1 for any bit behind.
	high, low := uint64(all[end]), uint64(all[end-1])<<digitBits|uint64(all[end-2])
	behind := bits.Len64(high)
	first, rest := high<<(64-behind)|low>>behind, low<<(64-behind)
	for _, word := range all[:end-2] {
		rest |= uint64(word)
	}
	if rest != 0 {
		first |= 1
	}
	v := math.Ldexp(float64(first), s.exponent()+digitBits*(end-4)+behind)
	if negative {
		return -v
	}
	return v
}

// Mean is the float64 nearest to the exact sum divided by n, which is not 0.
func (s *Float) Mean(n uint64) float64 {
	if v, ok := s.infinite(); ok {
		return v
	}
	sum, by := s.integer(), new(big.Int).SetUint64(n)
	if e := s.exponent(); e >= 0 {
		sum.Lsh(sum, uint(e))
	} else {
		by.Lsh(by, uint(-e))
	}
	v, _ := new(big.Rat).SetFrac(sum, by).Float64()
	return v
}

// infinite is the sum if it has an infinity or NaN.
func (s *Float) infinite() (v float64, ok bool) {
	switch {
	case s.special&nan != 0 || s.special == positive|negative:
		return math.NaN(), true
	case s.special != 0:
		return math.Inf(1 - 2*int(s.special/negative)), true
	}
	return 0, false
}

// exponent is the power of two of the unit of integer.
func (s *Float) exponent() int { return digitBits*int(s.low) + least }

// integer is the sum in units of 2^exponent.
func (s *Float) integer() *big.Int {
	s.carry()
	sum := new(big.Int)
	for _, d := range slices.Backward(s.digits) {
		sum.Lsh(sum, digitBits)
		sum.Add(sum, big.NewInt(d))
	}
	return sum
}
