package column

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is a number as it was written: ±0.digits · 10^exp, with no zeros at either
// end of digits, which are none for 0.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// parseDecimal reads [+-]digits[.digits][e[+-]digits], with a digit before or behind
// the point.
func parseDecimal(s string) (d decimal, ok bool) {
	d.negative = strings.HasPrefix(s, "-")
	if d.negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	mantissa, exp := s, 0
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa = s[:e]
		var err error
		// Beyond the range of an int, Atoi gives the end of it.
		if exp, err = strconv.Atoi(s[e+1:]); err != nil && exp == 0 {
			return d, false
		}
		exp = min(max(exp, -maxExp), maxExp)
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	d.digits = whole + part
	if d.digits == "" || strings.Trim(d.digits, "0123456789") != "" {
		return d, false
	}
	d.exp = exp + len(whole)
	n := len(d.digits)
	d.digits = strings.TrimLeft(d.digits, "0")
	d.exp -= n - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	return d, true
}

// maxExp is more digits than any text has.
const maxExp = 1 << 30

// whole gives the digits before the point, and the side of them on which the number
// stands: 1 if it is farther from 0, else 0. Numbers of more than most digits have ok
// false.
func (d decimal) whole(most int) (digits string, side int, ok bool) {
	if d.exp > most {
		return "", 0, d.digits == ""
	}
	n := max(d.exp, 0)
	digits = d.digits[:min(n, len(d.digits))]
	if len(digits) < len(d.digits) {
		side = 1
	}
	return digits + strings.Repeat("0", n-len(digits)), side, true
}

// place is where the number stands among the keys of an Int.
func (d decimal) place() place {
	if !d.negative {
		return d.magnitude(math.MaxInt64, func(v uint64) uint64 { return IntKey(int64(v)) })
	}
	p := d.magnitude(1<<63, func(v uint64) uint64 { return IntKey(int64(-v)) })
	if p == last {
		return first
	}
	return place{p.key, -p.side}
}

// uintPlace is where the number stands among the keys of a Uint.
func (d decimal) uintPlace() place {
	if d.negative && d.digits != "" {
		return first
	}
	return d.magnitude(math.MaxUint64, func(v uint64) uint64 { return v })
}

// magnitude is the place of a number without its sign. The greatest integer is most, and
// key gives the keys of integers.
func (d decimal) magnitude(most uint64, key func(uint64) uint64) place {
	digits, side, ok := d.whole(20)
	v, err := strconv.ParseUint("0"+digits, 10, 64)
	if !ok || err != nil || v > most {
		return last
	}
	return place{key(v), side}
}

// integer is the number without its part behind the point, and the side on which the
// number stands of it: -1, 0 or 1. ok is false for more digits than 128 bits have.
func (d decimal) integer() (v *big.Int, side int, ok bool) {
	digits, side, ok := d.whole(MaxScale + 1)
	v, _ = new(big.Int).SetString("0"+digits, 10)
	if d.negative {
		return v.Neg(v), -side, ok
	}
	return v, side, ok
}

// compare compares two numbers: -1, 0 or 1.
func (d decimal) compare(e decimal) int {
	if order := cmp.Compare(d.sign(), e.sign()); order != 0 {
		return order
	}
	return d.sign() * cmp.Or(cmp.Compare(d.exp, e.exp), strings.Compare(d.digits, e.digits))
}

// sign is -1, 0 or 1.
func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// ParseDecimal reads a decimal of at most the given number of digits, scale of them behind the point,
// as the integer value·10^scale. It does not round.
func ParseDecimal(text string, digits, scale uint8) (v *big.Int, ok bool) {
	d, ok := parseDecimal(text)
	if d.exp += int(scale); !ok || d.digits != "" && d.exp > int(digits) {
		return new(big.Int), false
	}
	v, side, fits := d.integer()
	return v, fits && side == 0
}

// formatDecimal writes digits, an integer, with a point before the last scale of them.
func formatDecimal(digits string, scale uint8) string {
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if scale == 0 {
		return sign + digits
	}
	if n := int(scale) + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	at := len(digits) - int(scale)
	return sign + digits[:at] + "." + digits[at:]
}
