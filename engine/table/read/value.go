package read

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"heddle/engine/table/column"
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

// isWord reports whether s is the word true or false.
func isWord(s []byte) bool {
	return bytes.EqualFold(s, []byte("true")) || bytes.EqualFold(s, []byte("false"))
}

// parse gives the key of a value of a type without a dictionary.
func parse(f Field, s []byte) (key uint64, ok bool) {
	switch f.Type {
	case column.Int:
		v, ok := parseInt(s)
		return column.IntKey(v), ok
	case column.Uint:
		v, err := strconv.ParseUint(string(bytes.TrimPrefix(s, []byte("+"))), 10, 64)
		return v, err == nil
	case column.Float:
		v, err := strconv.ParseFloat(string(s), 64)
		return column.FloatKey(v), err == nil
	case column.Float32:
		v, err := strconv.ParseFloat(string(s), 32)
		return column.Float32Key(float32(v)), err == nil
	case column.Decimal:
		v, ok := column.ParseDecimal(string(s), f.Scale)
		return column.IntKey(v.Int64()), ok && v.IsInt64()
	case column.Bool:
		v, ok := parseBool(s)
		if v {
			key = 1
		}
		return key, ok
	}
	v, ok := column.ParseTimestamp(string(s))
	return column.IntKey(v), ok
}

// parseWide gives the dictionary entry of a Decimal128.
func parseWide(s []byte, scale uint8) (entry []byte, ok bool) {
	v, ok := column.ParseDecimal(string(s), scale)
	if !ok {
		return nil, false
	}
	key, err := column.WideKey(v)
	return key[:], err == nil
}

// inference finds the type of a column: the first in the order of candidates that all
// values seen have.
type inference struct {
	not  [len(candidates)]bool
	seen bool
}

var candidates = [...]column.Type{column.Int, column.Uint, column.Float, column.Timestamp, column.Bool}

func (f *inference) see(s []byte) {
	f.seen = true
	for i, t := range candidates {
		if !f.not[i] {
			_, ok := parse(Field{Type: t}, s)
			f.not[i] = !ok || !plain(t, s)
		}
	}
}

// plain reports whether a value shows its type: t and 1 do not show Bool, and a year with
// more than four digits does not show Timestamp.
func plain(t column.Type, s []byte) bool {
	switch t {
	case column.Bool:
		return isWord(s)
	case column.Timestamp:
		return len(s) > 4 && (s[4] == '-' || isInfinity(s))
	}
	return true
}

func isInfinity(s []byte) bool {
	return bytes.EqualFold(bytes.TrimLeft(s, "+-"), []byte("infinity"))
}

// found is String where nothing else fits, or nothing was seen.
func (f *inference) found() column.Type {
	for i, t := range candidates {
		if f.seen && !f.not[i] {
			return t
		}
	}
	return column.String
}

// describe names the values of a field in errors.
func describe(f Field) string {
	if f.Type.IsDecimal() {
		return fmt.Sprintf("a decimal with at most %d digits behind the point and %d in all", f.Scale, decimalDigits[f.Type])
	}
	return typeNames[f.Type]
}

var decimalDigits = map[column.Type]int{column.Decimal: column.MaxDecimalDigits, column.Decimal128: column.MaxScale}

var typeNames = [...]string{
	column.Int: "an integer", column.Float: "a number", column.String: "a string", column.Bool: "true or false", column.Timestamp: "a timestamp",
	column.Uint: "an integer from 0 to 18446744073709551615", column.Float32: "a number in the range of float32",
}
