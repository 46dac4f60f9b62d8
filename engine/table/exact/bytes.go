package exact

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrBytes is the error of bytes that AppendBytes has not written.
var ErrBytes = errors.New("bytes of a sum are damaged")

// mostDigits is above the number of digits that a Float can have: a float64 has 2,098 bits, and
// carries add few.
const mostDigits = 72

// AppendBytes appends the sum as bytes: the special values, the place of the first digit, then
// the digits, as varints.
func (s *Float) AppendBytes(dst []byte) []byte {
	s.carry()
	dst = append(dst, byte(s.special))
	dst = binary.AppendVarint(dst, int64(s.low))
	for _, d := range s.digits {
		dst = binary.AppendVarint(dst, d)
	}
	return dst
}

// ParseFloat reads the sum that AppendBytes has written. The error is ErrBytes.
func ParseFloat(b []byte) (s Float, err error) {
	if len(b) == 0 || b[0] > byte(nan|positive|negative) {
		return s, ErrBytes
	}
	s.special, b = special(b[0]), b[1:]
	low, n := binary.Varint(b)
	if n <= 0 || low < 0 || low >= mostDigits {
		return s, ErrBytes
	}
	s.low = int16(low)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		var d int64
		if d, n = binary.Varint(b); n <= 0 || d > math.MaxInt64/2 || d < math.MinInt64/2 || int(low)+len(s.digits) >= mostDigits {
			return Float{}, ErrBytes
		}
		s.digits = append(s.digits, d)
	}
	if n := len(s.digits); n > 0 && n < perFloat {
		return Float{}, ErrBytes
	}
	return s, nil
}
