package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// inference finds the type of a column: the first in the order of candidates that all
// values seen have.
type inference struct {
	not    [len(candidates)]bool
	seen   bool
	quoted bool // a value stood in quotes

	rounded  place // the first integer that a Float rounds
	code     place // the first integer that begins with a zero, as codes do
	unfit    place // the first time from which on no type has all of them
	notTimes bool  // a value is no time
}

// place is a value and where it stands.
type place struct {
	value string
	at    input.Error
}

func (p *place) set(s []byte, path string, line int) {
	if p.value == "" {
		*p = place{string(s), input.Error{Path: path, Line: line, Offset: -1}}
	}
}

var candidates = [...]column.Type{column.Int, column.Uint, column.Decimal128, column.Float, column.Timestamp, column.TimestampNS, column.Bool}

// see takes a value of a line of a file, and the same value with the signs of a plain number.
func (f *inference) see(s, number []byte, path string, line int) {
	f.seen = true
	if isCode(number) {
		f.code.set(s, path, line)
	}
	if p, ok := parsePlain(s); ok && bytes.Equal(s, number) {
		f.seePlain(p)
		return
	}
	for i, t := range candidates {
		if f.not[i] {
			continue
		}
		if isNumber(t) {
			f.not[i] = !shows(t, number)
		} else {
			f.not[i] = !shows(t, s)
		}
	}
	if len(number) == 0 {
		number = s
	}
	if f.fits(column.Float) && Rounds(read.Field{Type: column.Float}, number) {
		f.rounded.set(s, path, line)
	}
	f.notTimes = f.notTimes || !column.IsTime(string(s))
	if !f.notTimes && !f.fits(column.Timestamp) && !f.fits(column.TimestampNS) {
		f.unfit.set(s, path, line)
	}
}

// seePlain takes a plain number, which is no time and no word, and which Float does not round if it is an integer.
func (f *inference) seePlain(p plain) {
	for i, t := range candidates {
		switch t {
		case column.Int, column.Decimal128:
			f.not[i] = f.not[i] || p.fraction > 0
		case column.Uint:
			f.not[i] = f.not[i] || p.fraction > 0 || p.negative
		case column.Timestamp, column.TimestampNS, column.Bool:
			f.not[i] = true
		}
	}
	f.notTimes = true
}

// Rounds reports whether a value is an integer that a field of type Float or Float32 rounds.
func Rounds(f read.Field, value []byte) bool {
	most, bits := 15, 64 // digits of which each integer has a value of its own
	if f.Type == column.Float32 {
		most, bits = 7, 32
	} else if f.Type != column.Float {
		return false
	}
	if value = trim(value); len(value) <= most || !isInteger(value) {
		return false
	}
	digits := bytes.TrimLeft(value, "+-0")
	v, err := strconv.ParseFloat(string(digits), bits)
	return err == nil && strconv.FormatFloat(v, 'f', -1, 64) != string(digits)
}

// fits reports whether a candidate has all values seen.
func (f *inference) fits(t column.Type) bool { return !f.not[slices.Index(candidates[:], t)] }

// shows reports whether a value shows its type: t and 1 do not show Bool, and fractions do
// not show Decimal128.
func shows(t column.Type, s []byte) bool {
	switch t {
	case column.Bool:
		return isWord(s)
	case column.Decimal128:
		return isInteger(s) && isValue(read.Field{Type: t}, s)
	}
	return isValue(read.Field{Type: t}, s)
}

// isInteger reports whether s has digits alone, behind a sign perhaps.
func isInteger(s []byte) bool {
	digits := s
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}

// isCode reports whether s is an integer that begins with a zero, as codes such as postal codes do.
func isCode(s []byte) bool { return len(s) > 1 && s[0] == '0' && isInteger(s) }

// isInts reports whether inference takes the type for integers.
func isInts(t column.Type) bool {
	return t == column.Int || t == column.Uint || t == column.Decimal128
}

// shown is the type that the values show; String where nothing else fits, or nothing was seen.
func (f *inference) shown() column.Type {
	for i, t := range candidates {
		if f.seen && !f.not[i] {
			return t
		}
	}
	return column.String
}

// found is shown, but String for codes: integers would lose their zeros.
func (f *inference) found() column.Type {
	t := f.shown()
	if f.code.value != "" && isInts(t) {
		return column.String
	}
	return t
}

// warning tells that the type found holds values of a column inexactly, with advice, or as texts.
func (f *inference) warning(name, advice string) string {
	var p *place
	var why string
	switch t := f.found(); {
	case t == column.Float && f.rounded.value != "":
		p, why = &f.rounded, "is rounded: the column has the type float"+advice
	case t == column.String && f.shown() != t:
		p, why = &f.code, fmt.Sprintf("begins with a zero, as codes do: the column has the type string (--type %s=%v takes numbers)", name, f.shown())
	case t == column.String && !f.notTimes && f.unfit.value != "":
		p, why = &f.unfit, "is no timestamp of one type with the others: the column has the type string; timestamps have microseconds from -290308-12-22 to 294247-01-10, or nanoseconds from 1677-09-21 to 2262-04-11"
	default:
		return ""
	}
	p.at.Reason = fmt.Sprintf("column %q: %.60q %s", name, p.value, why)
	return p.at.Error()
}

// Inference finds the type of values as Open finds the type of a column. The zero value has seen none.
type Inference struct{ of inference }

// See takes a value that is not missing, of a line of a file.
func (i *Inference) See(value []byte, path string, line int) {
	value = trim(value)
	i.of.see(value, value, path, line)
}

// Warning tells that Type holds values of a column inexactly, or times as texts. It is empty otherwise.
func (i *Inference) Warning(column string) string { return i.of.warning(column, "") }

// Type is the first type in the order of Options.Types that has all values seen, else String.
func (i *Inference) Type() column.Type { return i.of.found() }

// Append appends a text as a value of a field, of one value of a multi-valued field, by the rules of fields of CSV. The
// error of another text names the values of the field, and nothing is appended.
func Append(to *read.Values, f read.Field, value []byte) error {
	plain := trim(value)
	switch f.Type {
	case column.String:
		if !utf8.Valid(value) {
			return fmt.Errorf("%.60q is no UTF-8", value)
		}
		if len(value) > hdb.MaxStringLen {
			return fmt.Errorf("a string of %d bytes; at most %d are possible", len(value), hdb.MaxStringLen)
		}
		to.AppendText(value)
		return nil
	case column.Decimal128:
		if entry, ok := parseWide(f, plain); ok {
			to.AppendText(entry)
			return nil
		}
	default:
		if key, ok := parse(f, plain); ok {
			to.AppendKey(key)
			return nil
		}
	}
	return fmt.Errorf("%.60q is not %s", value, describe(f))
}

// Fits reports whether a text is a value of a field, of one value of a multi-valued field. A text that is
// too long for a table does not fit.
func Fits(f read.Field, value []byte) bool {
	if f.Type == column.String {
		return len(value) <= hdb.MaxStringLen
	}
	return isValue(f, trim(value))
}
