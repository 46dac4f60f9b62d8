package column

import (
	"math"
	"slices"
)

// A Float column whose values are decimals of at most 15 digits, such as prices, may have a
// Scale from 1 to MaxFloatScale. Then the key of a value is the IntKey of an integer n, and the
// value is the double that is nearest to n / 10^Scale. Such keys have the order of the values,
// and codes take far fewer bits than the codes of doubles. There are no infinite values and no NaN.

// MaxFloatScale is the greatest Scale of a Float.
const MaxFloatScale = 15

// maxScaled bounds n: decimals of 15 digits are different doubles.
const maxScaled = 1e15

// ScaledKey is the key of v in a Float with a scale of 1 to MaxFloatScale. ok is false if
// v is none of its values.
func ScaledKey(v float64, scale uint8) (key uint64, ok bool) {
	p := scaledPlace(v, scale)
	return p.key, p.side == 0
}

// ScaleKeys replaces keys of a Float by keys in a Float with a scale, among whose values all are.
func ScaleKeys(keys []uint64, scale uint8) {
	power := math.Pow10(int(scale))
	for i, k := range keys {
		keys[i] = IntKey(int64(math.RoundToEven(KeyFloat(k) * power)))
	}
}

// ScaledBelow is the greatest key in a Float with a scale whose value is not above v, which must
// not be below the least value of the column.
func ScaledBelow(v float64, scale uint8) uint64 {
	key, _ := scaledPlace(v, scale).below(true)
	return key
}

// ScaledKeys reports whether values of a Float with a scale have keys from least to greatest.
func ScaledKeys(least, greatest uint64) bool {
	return KeyInt(least) >= -maxScaled && KeyInt(greatest) <= maxScaled
}

// scaledPlace is the place of v among the keys of a Float with a scale.
func scaledPlace(v float64, scale uint8) place {
	power := math.Pow10(int(scale)) // exact, so that the quotient is rounded once
	n := math.RoundToEven(v * power)
	switch {
	case n < -maxScaled:
		return first
	case !(n <= maxScaled): // NaN is greater than all numbers
		return last
	}
	p := place{key: IntKey(int64(n))}
	switch w := n / power; {
	case w < v:
		p.side = 1
	case w > v:
		p.side = -1
	}
	return p
}

// Float is the value of a code of a Float or Float32.
func (c *Column) Float(code uint64) float64 {
	switch key := c.Key(code); {
	case c.Type == Float32:
		return float64(KeyFloat32(key))
	case c.Scale > 0:
		return float64(KeyInt(key)) / math.Pow10(int(c.Scale))
	default:
		return KeyFloat(key)
	}
}

// AppendFloats appends the values of codes of a Float or Float32 to dst.
func (c *Column) AppendFloats(dst []float64, codes []uint64) []float64 {
	before := len(dst)
	dst = slices.Grow(dst, len(codes))[:before+len(codes)]
	to := dst[before:]
	switch power := math.Pow10(int(c.Scale)); {
	case c.Type == Float32:
		for i, code := range codes {
			to[i] = float64(KeyFloat32(c.Key(code)))
		}
	case c.Scale > 0:
		for i, code := range codes {
			to[i] = float64(KeyInt(c.Key(code))) / power
		}
	default:
		for i, code := range codes {
			to[i] = KeyFloat(c.Key(code))
		}
	}
	return dst
}

// UnscaledKey is the key of a code in a column of the same type, without a scale if the type is
// Float.
func (c *Column) UnscaledKey(code uint64) uint64 {
	if c.Type == Float && c.Scale > 0 {
		return FloatKey(c.Float(code))
	}
	return c.Key(code)
}

// floatPlace is the place of v in a Float or Float32.
func (c *Column) floatPlace(v float64) place {
	switch {
	case c.Type == Float32:
		return place{key: Float32Key(float32(v))}
	case c.Scale > 0:
		return scaledPlace(v, c.Scale)
	}
	return place{key: FloatKey(v)}
}
