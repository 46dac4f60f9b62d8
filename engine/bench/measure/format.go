package measure

import (
	"math"
	"strconv"
)

// Number formats v with three digits or more, without an exponent.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(a))), 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Binary formats a number with binary prefixes: 131072 is 128 K.
func Binary(v float64) string { return scaled(v, 1024) }

// Decimal formats a number with decimal prefixes: 128000 is 128 K.
func Decimal(v float64) string { return scaled(v, 1000) }

func scaled(v, base float64) string {
	unit := ""
	for _, u := range []string{" K", " M", " G"} {
		if math.Abs(v) < base {
			break
		}
		v, unit = v/base, u
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + unit
}

// When returns text if ok, else the empty string.
func When(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}
