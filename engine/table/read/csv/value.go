package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"

	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// trim drops blanks at both ends, which do not count but in strings.
func trim(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// parseInt reads a decimal int64 with or without a sign.
func parseInt(s []byte) (v int64, ok bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	n := uint64(0)
	for i, c := range s {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		if i >= 18 && n > (math.MaxUint64-9)/10 { // 18 digits always fit
			return 0, false
		}
		n = 10*n + uint64(c)
	}
	if negative {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n <= math.MaxInt64
}

// plain is a number of at most 15 digits, with a point between two of them perhaps: digits / 10^fraction.
type plain struct {
	digits   uint64
	fraction int // digits behind the point, from 0
	negative bool
}

// parsePlain reads a plain number; ok is false for other texts, which may be numbers too.
func parsePlain(s []byte) (p plain, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		p.negative = s[0] == '-'
		s = s[1:]
	}
	point := len(s)
	for i, c := range s {
		if c == '.' && i > 0 && point == len(s) {
			point = i
			continue
		}
		if c -= '0'; c > 9 || i > 15 {
			return p, false
		}
		p.digits = 10*p.digits + uint64(c)
	}
	if point < len(s) {
		p.fraction = len(s) - point - 1
		return p, p.fraction > 0 && len(s) <= 16
	}
	return p, len(s) > 0 && len(s) <= 15
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// float is the nearest double: digits and power of ten are doubles themselves, so that the quotient is rounded once.
func (p plain) float() float64 {
	v := float64(p.digits) / powers[p.fraction]
	if p.negative {
		return -v
	}
	return v
}

// parseBool reads true and false, whatever their case, t, f, 1 and 0.
func parseBool(s []byte) (v, ok bool) {
	switch {
	case len(s) == 1:
		switch s[0] {
		case '1', 't', 'T':
			return true, true
		case '0', 'f', 'F':
			return false, true
		}
	case isWord(s):
		return len(s) == len("true"), true
	}
	return false, false
}

// isNumber reports whether the values of a type are numbers.
func isNumber(t column.Type) bool {
	return !t.IsTime() && t != column.Bool && t != column.String
}

// isWord reports whether s is the word true or false.
func isWord(s []byte) bool {
	return bytes.EqualFold(s, []byte("true")) || bytes.EqualFold(s, []byte("false"))
}

// parse gives the key of a value of a type without a dictionary.
func parse(f read.Field, s []byte) (key uint64, ok bool) {
	switch f.Type {
	case column.Int:
		v, ok := parseInt(s)
		return column.IntKey(v), ok
	case column.Uint:
		v, err := strconv.ParseUint(string(bytes.TrimPrefix(s, []byte("+"))), 10, 64)
		return v, err == nil
	case column.Float:
		if p, ok := parsePlain(s); ok {
			return column.FloatKey(p.float()), true
		}
		v, ok := syntax.ParseFloat(string(s), 64)
		return column.FloatKey(v), ok
	case column.Float32:
		v, ok := syntax.ParseFloat(string(s), 32)
		return column.Float32Key(float32(v)), ok
	case column.Decimal:
		v, ok := column.ParseDecimal(string(s), digits(f), f.Scale)
		return column.IntKey(v.Int64()), ok
	case column.Bool:
		v, ok := parseBool(s)
		if v {
			key = 1
		}
		return key, ok
	}
	return column.ParseTimestamp(f.Type, string(s))
}

// isValue reports whether a text is a value of a field that is no String.
func isValue(f read.Field, s []byte) (ok bool) {
	if f.Type == column.Decimal128 {
		_, ok = parseWide(f, s)
	} else {
		_, ok = parse(f, s)
	}
	return ok
}

// parseWide gives the dictionary entry of a Decimal128.
func parseWide(f read.Field, s []byte) (entry []byte, ok bool) {
	v, ok := column.ParseDecimal(string(s), digits(f), f.Scale)
	if !ok {
		return nil, false
	}
	key, err := column.WideKey(v)
	return key[:], err == nil
}

// digits is the number of digits that a decimal has room for.
func digits(f read.Field) uint8 {
	if f.Digits == 0 && f.Type == column.Decimal128 {
		return column.MaxScale
	}
	return cmp.Or(f.Digits, column.MaxDecimalDigits)
}

// describe names the values of a field in errors.
func describe(f read.Field) string {
	if f.Type.IsDecimal() {
		return fmt.Sprintf("a decimal with at most %d digits behind the point and %d in all", f.Scale, digits(f))
	}
	return typeNames[f.Type]
}

var typeNames = [...]string{
	column.Int: "an integer", column.Float: "a number", column.String: "a string", column.Bool: "true or false",
	column.Timestamp:   "a timestamp from -290308-12-22 to 294247-01-10 in whole microseconds",
	column.TimestampNS: "a timestamp from 1677-09-21 to 2262-04-11 in whole nanoseconds",
	column.Uint:        "an integer from 0 to 18446744073709551615", column.Float32: "a number in the range of float32",
}
