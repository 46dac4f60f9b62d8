package csv

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// columns describes the columns of a table to the parsers.
type columns struct {
	comma  byte
	names  []string     // of the fields of a record
	column []int        // of each field: its column, or -1 where it is left out
	fields []read.Field // of columns
	nulls  [][]byte     // fields that stand for a missing value, as the empty one does
	advice bool         // as Options.Advice
	noNaN  bool         // NaN is one of them, in every spelling
}

// fieldError is an error in a record.
type fieldError struct {
	line   int // from 0: lines of the text before it
	reason string
}

// scanner cuts records into fields, by the rules of RFC 4180 as encoding/csv has them:
// lines end in LF or CR LF, empty lines are skipped, and a field may stand in quotes. In
// quotes a quote is written twice, and line ends are part of the field, unchanged. Its
// text ends in a line end.
type scanner struct {
	text  []byte
	comma byte
	at    int // of the next byte
	line  int // that it is in, from 0

	field  []byte // the current one: a view into text or into buf
	quoted bool   // it stood in quotes
	last   bool   // of its record
	buf    []byte
}

// skipEmpty goes to the next record and reports whether there is one.
func (s *scanner) skipEmpty() bool {
	for s.at < len(s.text) {
		switch {
		case s.text[s.at] == '\n':
			s.at++
		case s.text[s.at] == '\r' && s.text[s.at+1] == '\n': // the text ends in LF
			s.at += 2
		default:
			return true
		}
		s.line++
	}
	return false
}

// next reads a field. It returns the reason of a syntax error, or the empty string.
func (s *scanner) next() (reason string) {
	text, comma := s.text, s.comma
	at := s.at
	if text[at] == '"' {
		return s.nextQuoted()
	}
	for i := at; ; i++ {
		c := text[i]
		if c > '"' && c != comma {
			continue
		}
		switch c {
		case comma:
			s.field, s.quoted, s.last = text[at:i], false, false
			s.at = i + 1
			return ""
		case '\n':
			end := i
			if end > at && text[end-1] == '\r' {
				end--
			}
			s.field, s.quoted, s.last = text[at:end], false, true
			s.at = i + 1
			s.line++
			return ""
		case '"':
			return "a quote inside a field that does not start with one"
		}
	}
}

// nextQuoted reads a field that starts with a quote.
func (s *scanner) nextQuoted() (reason string) {
	s.quoted = true
	s.at++
	from := s.at
	copied := false // the field so far is in buf
	s.buf = s.buf[:0]
	keep := func(to int) {
		s.buf = append(s.buf, s.text[from:to]...)
		copied = true
	}
	line := s.line
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\n':
			line++
		case '"':
			if s.follows('"') {
				keep(s.at + 1)
				s.at++
				from = s.at + 1
				continue
			}
			s.field = s.text[from:s.at]
			if copied {
				keep(s.at)
				s.field = s.buf
			}
			s.line = line
			return s.afterQuote()
		}
	}
	return "a quoted field that does not end"
}

// follows reports whether c is the byte behind the byte at s.at.
func (s *scanner) follows(c byte) bool { return s.at+1 < len(s.text) && s.text[s.at+1] == c }

// afterQuote goes from the closing quote to the next field.
func (s *scanner) afterQuote() (reason string) {
	if s.last = true; s.follows(s.comma) {
		s.at, s.last = s.at+2, false
		return ""
	}
	if s.follows('\r') {
		s.at++
	}
	if !s.follows('\n') {
		return "a quoted field that goes on behind its second quote"
	}
	s.at += 2
	s.line++
	return ""
}

// isNull reports whether the current field is a missing value of type t. A quoted field
// is never missing.
func (c *columns) isNull(t column.Type, field []byte, quoted bool) bool {
	if t == column.String && quoted {
		return false
	}
	if len(field) == 0 {
		return true
	}
	for _, n := range c.nulls {
		if bytes.Equal(n, field) {
			return true
		}
	}
	return c.noNaN && t != column.String && bytes.EqualFold(field, []byte("nan"))
}

// parsed is the result of a parser, besides the batch.
type parsed struct {
	lines   int
	wrong   *fieldError // the end of the text is not parsed
	invalid *fieldError // the first text that is not UTF-8
}

// parse appends the records of text to b.
func (c *columns) parse(b *read.Batch, text []byte, s *scanner) (p parsed) {
	b.Reset(len(c.fields))
	*s = scanner{text: text, comma: c.comma, buf: s.buf}
	for s.skipEmpty() {
		record := s.line
		for i := 0; ; i++ {
			line := s.line
			if reason := s.next(); reason != "" {
				p.lines, p.wrong = s.line, &fieldError{line, reason}
				return p
			}
			if i == len(c.column) || s.last && i+1 < len(c.column) {
				p.wrong = &fieldError{record, c.wrongCount(s, i)}
				p.lines = s.line
				return p
			}
			if k := c.column[i]; k >= 0 {
				v := &b.Columns[k]
				if reason := c.put(v, c.fields[k], s.field, s.quoted); reason != "" {
					p.lines, p.wrong = s.line, &fieldError{line, fmt.Sprintf(reason, c.names[i])}
					return p
				}
				if v.HasInvalid() && p.invalid == nil {
					p.invalid = &fieldError{line, fmt.Sprintf("column %q: %s", c.names[i], input.InvalidByte("value", s.field, false))}
				}
			}
			if s.last {
				break
			}
		}
		b.Rows++
	}
	p.lines = s.line
	return p
}

// put appends a field to a column. It returns the reason of an error as a format with a
// place for the name of the column.
func (c *columns) put(v *read.Values, f read.Field, field []byte, quoted bool) (reason string) {
	if f.List {
		return c.putList(v, f, field)
	}
	t := f.Type
	if t != column.String {
		field = trim(field)
		if t == column.Int { // the usual case: a number, and no null token
			if n, ok := parseInt(field); ok && len(c.nulls) == 0 {
				v.AppendKey(column.IntKey(n))
				return ""
			}
		}
	}
	switch {
	case c.isNull(t, field, quoted):
		v.AppendMissing(t)
	case t == column.String:
		if len(field) > hdb.MaxStringLen {
			return fmt.Sprintf("column %%[1]q: a string of %d bytes; at most %d are possible", len(field), hdb.MaxStringLen)
		}
		v.AppendChecked(field)
	case t == column.Decimal128:
		entry, ok := parseWide(f, field)
		if !ok {
			return c.misfit(f, field)
		}
		v.AppendText(entry)
	default:
		key, ok := parse(f, field)
		if !ok {
			return c.misfit(f, field)
		}
		v.AppendKey(key)
	}
	return ""
}

// misfit describes a field that is no value of its column, with the remedy if there is one.
func (c *columns) misfit(f read.Field, field []byte) string {
	value := strings.ReplaceAll(fmt.Sprintf("%.60q", field), "%", "%%")
	reason := "column %[1]q: " + value + " is not " + describe(f)
	if !c.advice {
		return reason
	}
	var seen inference
	seen.see(field, "", 0)
	fits := column.String.String()
	switch found := seen.found(); {
	case (f.Type == column.Int || f.Type == column.Uint) && found == column.Decimal128, f.Type == column.Uint && found == column.Int:
		fits = "decimal(38,0)"
	case f.Type == column.Int && (found == column.Float || found == column.Uint), f.Type == column.Timestamp && found == column.TimestampNS:
		fits = found.String()
	}
	return reason + " (--type %[1]s=" + fits + " takes it; --null names the text of missing values)"
}

// wrongCount describes a record with a wrong number of fields, after its field i.
func (c *columns) wrongCount(s *scanner, i int) string {
	n := i + 1
	for ; !s.last; n++ {
		if reason := s.next(); reason != "" {
			return reason
		}
	}
	return fmt.Sprintf("%s, the table has %d columns", plural(n, "field"), len(c.column))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
