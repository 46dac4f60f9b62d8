package column

import (
	"math"
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

// place is where the number stands among the keys of an Int.
func (d decimal) place() place {
	if d.digits == "" {
		return place{IntKey(0), 0}
	}
	away, side := last, 1 // from 0
	if d.negative {
		away, side = first, -1
	}
	if d.exp > 19 {
		return away
	}
	n := max(d.exp, 0) // digits before the point
	whole := d.digits[:min(n, len(d.digits))]
	v, _ := strconv.ParseUint("0"+whole+strings.Repeat("0", n-len(whole)), 10, 64)
	if len(whole) == len(d.digits) {
		side = 0
	}
	switch {
	case !d.negative && v <= math.MaxInt64:
		return place{IntKey(int64(v)), side}
	case d.negative && v <= 1<<63:
		return place{IntKey(int64(-v)), side}
	}
	return away
}
