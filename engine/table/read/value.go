package read

import (
	"bytes"
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

// parse gives the key of a value of any type but String. A NaN is a missing value.
func parse(t column.Type, s []byte) (key uint64, missing, ok bool) {
	switch t {
	case column.Int:
		v, ok := parseInt(s)
		return column.IntKey(v), false, ok
	case column.Float:
		v, err := strconv.ParseFloat(string(s), 64)
		return column.FloatKey(v), v != v, err == nil
	case column.Bool:
		v, ok := parseBool(s)
		if v {
			key = 1
		}
		return key, false, ok
	}
	v, ok := column.ParseTimestamp(string(s))
	return column.IntKey(v), false, ok
}

// inference finds the type of a column: the first in the order of candidates that all
// values seen have.
type inference struct {
	not  [len(candidates)]bool
	seen bool
}

var candidates = [...]column.Type{column.Int, column.Float, column.Timestamp, column.Bool}

func (f *inference) see(s []byte) {
	f.seen = true
	for i, t := range candidates {
		if f.not[i] {
			continue
		}
		_, _, ok := parse(t, s)
		f.not[i] = !ok || t == column.Bool && !isWord(s) // t and 1 say nothing
	}
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

// typeNames are the names of types in errors.
var typeNames = [...]string{
	column.Int: "an integer", column.Float: "a number", column.String: "a string",
	column.Bool: "true or false", column.Timestamp: "a timestamp",
}
