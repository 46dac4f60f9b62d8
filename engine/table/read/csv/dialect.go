package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// Dialect is the syntax of CSV files. The zero value is RFC 4180 with the delimiter that the file shows.
type Dialect struct {
	// Delimiter separates fields. Default: 0, the one that a first line sep=; names, as Excel writes it, else the one of comma, semicolon, tab and pipe that gives all records
	// of the sample the same number of fields, else a comma.
	Delimiter byte
	// Quote encloses fields with delimiters, quotes and line ends. Default: 0, the double quote.
	Quote byte
	// NoQuote makes quotes plain characters.
	NoQuote bool
	// Escape stands before a delimiter, quote, line end or itself that is a plain character; before another
	// character it is plain. Default: 0, the quote, which works inside of quotes only.
	Escape byte
	// Comment begins lines that are left out. Default: 0, none.
	Comment byte
	// SkipLines is the number of lines at the start of each file that are left out.
	SkipLines int
	// Decimal is the decimal sign of numbers, '.' or ','. Default: 0, the point.
	Decimal byte
	// Thousands separates groups of three digits before the decimal sign; ' ' stands for no-break spaces too.
	// Default: 0, the point if Decimal is a comma, else none.
	Thousands byte
	// Encoding is the name of an encoding of package input. Default: empty, UTF-8, or UTF-16 with a byte order
	// mark.
	Encoding string
}

// Validate returns the error of characters that exclude each other.
func (d Dialect) Validate() error {
	_, err := d.complete()
	return err
}

// complete puts the defaults in for zeros, and checks the rest.
func (d Dialect) complete() (Dialect, error) {
	d.Quote = cmp.Or(d.Quote, '"')
	d.Decimal = cmp.Or(d.Decimal, '.')
	if d.Decimal == ',' {
		d.Thousands = cmp.Or(d.Thousands, '.')
	}
	if d.NoQuote {
		d.Quote = 0
	}
	characters := []struct {
		name string
		c    byte
	}{{"delimiter", d.Delimiter}, {"quote", d.Quote}, {"escape character", d.Escape}, {"comment character", d.Comment}, {"thousands sign", d.Thousands}}
	for i, x := range characters {
		if x.c == '\r' || x.c == '\n' || x.c >= 0x80 {
			return d, fmt.Errorf("%s %q: a line end or not ASCII", x.name, x.c)
		}
		for k, y := range characters[:i] {
			if x.c == y.c && x.c != 0 && i < 4 && !(k == 1 && i == 2) { // a quote may escape itself
				return d, fmt.Errorf("%s and %s are both %q", y.name, x.name, x.c)
			}
		}
	}
	switch {
	case d.SkipLines < 0:
		return d, fmt.Errorf("lines to skip: %d, must be 0 or more", d.SkipLines)
	case d.Decimal != '.' && d.Decimal != ',':
		return d, fmt.Errorf("decimal sign %q is no point and no comma", d.Decimal)
	case d.Thousands == d.Decimal, '0' <= d.Thousands && d.Thousands <= '9', d.Thousands == '-', d.Thousands == '+':
		return d, fmt.Errorf("thousands sign %q: a sign, a digit or the decimal sign", d.Thousands)
	}
	return d, nil
}

// dialect is a Dialect for the scanner, whose delimiter is known.
type dialect struct {
	comma, quote, escape, comment byte      // 0: none
	stops                         [256]bool // where the scanner of fields without quotes stops

	decimal, thousands byte
	numbers            bool // numbers have other signs than a point
}

// known gives the dialect with a delimiter.
func (d *Dialect) known(delimiter byte) *dialect {
	x := &dialect{comma: delimiter, quote: d.Quote, escape: cmp.Or(d.Escape, d.Quote), comment: d.Comment, decimal: d.Decimal, thousands: d.Thousands}
	for _, c := range []byte{x.comma, x.quote, x.escape, '\n'} {
		x.stops[c] = c != 0
	}
	x.numbers = d.Decimal != '.' || d.Thousands != 0
	return x
}

// escapes reports whether an escape character makes a byte behind it plain.
func (d *dialect) escapes(c byte) bool { return d.stops[c] }

// end is the end of the last whole record of text, 0 if it has none: behind the last line end with an even
// number of quotes before it. In a text with a misplaced quote records may seem to end elsewhere, but only
// behind that quote, which is an error. Escape characters and comments need a scan of all fields.
func (d *dialect) end(text []byte) int {
	if d.escape != d.quote || d.comment != 0 {
		return d.scannedEnd(text[:bytes.LastIndexByte(text, '\n')+1])
	}
	if d.quote == 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	quote := []byte{d.quote}
	before := bytes.Count(text, quote)
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return 0
		}
		if before -= bytes.Count(text[i:end], quote); before%2 == 0 {
			return i + 1
		}
		end = i
	}
}

// scannedEnd is end for a text that is empty or ends in a line end.
func (d *dialect) scannedEnd(text []byte) int {
	var s scanner
	s.scan(d, text, true)
	end := 0
	for s.begin() {
		for {
			if reason := s.next(); reason == openQuote || reason == openField {
				return end
			} else if reason != "" {
				return len(text) // the parser of the text reports it
			}
			if s.last {
				break
			}
		}
		end = s.at
	}
	return len(text)
}

// plain writes a number with digits and a point. It returns nil for a text that is no number with the
// decimal sign and the groups of the dialect. The result is valid until the next call.
func (s *scanner) plain(text []byte) []byte {
	if s.thousands == ' ' {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\u00a0"), []byte{' '}), []byte("\u202f"), []byte{' '})
	}
	whole, part, fraction := bytes.Cut(text, []byte{s.decimal})
	s.number = s.number[:0]
	if s.thousands == 0 || bytes.IndexByte(whole, s.thousands) < 0 {
		s.number = append(s.number, whole...)
	} else {
		digits := bytes.TrimLeft(whole, "+-")
		s.number = append(s.number, whole[:len(whole)-len(digits)]...)
		for i, group := range bytes.Split(digits, []byte{s.thousands}) {
			if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) || len(bytes.Trim(group, "0123456789")) > 0 {
				return nil
			}
			s.number = append(s.number, group...)
		}
	}
	if bytes.IndexByte(s.number, '.') >= 0 || bytes.IndexByte(part, '.') >= 0 {
		return nil
	}
	if fraction {
		s.number = append(append(s.number, '.'), part...)
	}
	return s.number
}

// delimiters are the candidates of a detection, and their names.
var delimiters = []struct {
	char byte
	name string
}{{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "pipe"}}

// detect finds the delimiter by the first records of a text. columns is the number of fields of a record; 0 if it is
// unknown. The best delimiter gives all records the same number of fields, the greatest. Without such a
// delimiter it is a comma if this gives all records one field, else the delimiter that gives most records the
// same number of fields.
func (d *Dialect) detect(text []byte, columns int) *dialect {
	var best *dialect
	var most shape
	for i, c := range delimiters {
		if c.char == d.Quote || c.char == d.Escape || c.char == d.Comment || c.char == d.Decimal {
			continue
		}
		x := d.known(c.char)
		s := x.shape(text)
		if columns > 0 && s.fields != columns {
			s = shape{}
		}
		if best == nil || s.better(most) && (s.fields > 1 || i == 0) {
			best, most = x, s
		}
	}
	return best
}

// shape is the number of fields that most records of a text have.
type shape struct {
	fields  int
	records int  // number of records with this number of fields
	all     bool // all records have this number of fields
}

// better compares the shapes of two delimiters.
func (s shape) better(o shape) bool {
	switch {
	case s.all != o.all:
		return s.all && s.records > 0
	case s.all:
		return s.fields > o.fields
	case s.fields > 1 && o.fields > 1:
		return s.records > o.records
	}
	return s.fields > o.fields
}

// shape counts the fields of the first records, up to a syntax error.
func (d *dialect) shape(text []byte) (found shape) {
	counts := map[int]int{}
	var s scanner
	s.scan(d, text, false)
	records, whole := 0, true
	for ; records < sampleRows && s.begin(); records++ {
		n, reason := s.rest()
		if reason != "" {
			whole = reason == openQuote || reason == openField // the end of the text cuts the record
			break
		}
		counts[n]++
	}
	for n, k := range counts {
		if k > found.records || k == found.records && n > found.fields {
			found = shape{n, k, whole && k == records}
		}
	}
	return found
}

// nameOf names a delimiter in messages.
func nameOf(delimiter byte) string {
	for _, c := range delimiters {
		if c.char == delimiter {
			return c.name
		}
	}
	return strings.Trim(fmt.Sprintf("%q", delimiter), "'")
}
