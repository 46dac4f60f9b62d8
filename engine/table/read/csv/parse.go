package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// columns describes the columns of a table to the parsers.
type columns struct {
	*dialect
	names   []string     // names of the fields of a record
	column  []int        // by field: its column, or -1 if it is left out
	fields  []read.Field // fields of the columns
	given   []bool       // by column: Options.Types has its type
	warned  []bool       // by column: a warning tells of inexact values already
	quick   []bool       // by field: scanner.key may read it
	nulls   [][]byte     // fields that stand for a missing value, as the empty one does
	advice  bool         // Options.Advice
	noNaN   bool         // NaN is one of them, in every spelling
	ragged  Ragged
	invalid input.Invalid

	header      []byte // header of the first file, without its line end; nil: none, or a single column
	dropHeaders bool   // lines that repeat it are no rows
}

// fieldError is an error in a record.
type fieldError struct {
	line   int // number of lines of the text before it, from 0
	reason string
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
	invalid *fieldError // the first value that Options.Invalid treats
	uneven  []int       // lines of records that are left out for their number of fields
	headers []int       // lines that repeat the header
	rounded []rounded   // by column, of inexact integers
	line    int         // line where the present field starts
}

// rounded is the integers of a column that its type rounds, or that lose zeros of codes in it.
type rounded struct {
	count int
	line  int    // line of the first integer
	first string // its text
}

// round counts an integer of column k that its type rounds, or that begins with a zero, as codes do, if the first
// rows gave the type.
func (c *columns) round(p *parsed, k int, f read.Field, number []byte) {
	if c.warned[k] || !Rounds(f, number) && (c.given[k] || !isInts(f.Type) || !isCode(number)) {
		return
	}
	if p.rounded == nil {
		p.rounded = make([]rounded, len(c.fields))
	}
	r := &p.rounded[k]
	if r.count++; r.count == 1 {
		r.line, r.first = p.line, string(number)
	}
}

// parse appends the records of text to b.
func (c *columns) parse(b *read.Batch, text []byte, s *scanner) (p parsed) {
	b.Reset(len(c.fields))
	s.scan(c.dialect, text, len(c.names) == 1)
	if len(s.times) < len(c.fields) {
		s.times = make([]lastTime, len(c.fields))
	}
	for p.wrong == nil && s.begin() {
		if c.repeats(s) {
			p.headers = append(p.headers, s.line)
			if c.dropHeaders {
				_, _ = s.rest() // it is correct, as the header was
				continue
			}
		}
		p.wrong = c.record(b, s, &p)
	}
	p.lines = s.line
	return p
}

// repeats reports whether the next record is the header again.
func (c *columns) repeats(s *scanner) bool {
	rest := s.text[s.at:]
	return len(c.header) > 0 && bytes.HasPrefix(rest, c.header) && (rest[len(c.header)] == '\n' || rest[len(c.header)] == '\r')
}

// record appends a record to b.
func (c *columns) record(b *read.Batch, s *scanner, p *parsed) *fieldError {
	first := s.line
	for i := 0; ; i++ {
		if i == len(c.column) || !c.quick[i] || !s.key(&b.Columns[c.column[i]], c.fields[c.column[i]].Type, c.column[i]) {
			line := s.line
			if reason := s.next(); reason != "" {
				return &fieldError{line, reason}
			}
			if i == len(c.column) {
				return c.long(b, s, p, first)
			}
			if k := c.column[i]; k >= 0 {
				if wrong := c.value(&b.Columns[k], k, s, line, p); wrong != nil {
					return wrong
				}
			}
		}
		if !s.last {
			continue
		}
		if i+1 < len(c.column) {
			return c.short(b, p, first, i+1)
		}
		b.Rows++
		return nil
	}
}

// value appends the current field, which starts in a line, to column k.
func (c *columns) value(v *read.Values, k int, s *scanner, line int, p *parsed) *fieldError {
	f, last := c.fields[k], (*lastTime)(nil)
	if f.Type.IsTime() && !f.List {
		if last = &s.times[k]; last.is(s.field) {
			v.AppendKey(last.key)
			return nil
		}
	}
	p.line = line
	if reason := c.put(v, f, s.field, s.quoted, s, p, k); reason != "" {
		e := &fieldError{line, fmt.Sprintf(reason, f.Name)}
		if !c.repair(v, f, s.field) {
			return e
		}
		p.invalid = cmp.Or(p.invalid, e)
	} else if last != nil {
		last.set(s.field, s.quoted, v)
	}
	if v.HasInvalid() && p.invalid == nil {
		p.invalid = &fieldError{line, fmt.Sprintf("column %q: %s", f.Name, input.InvalidByte("value", s.field, false))}
	}
	return nil
}

// repair appends another value for a field that is none of its column, or a row that Options.Invalid leaves
// out.
func (c *columns) repair(v *read.Values, f read.Field, field []byte) bool {
	switch {
	case c.invalid == input.Skip:
		v.AppendUnfit(f)
	case c.invalid == input.Truncate && f.Type == column.String && !f.List:
		end := hdb.MaxStringLen
		for end > hdb.MaxStringLen-utf8.UTFMax && !utf8.RuneStart(field[end]) {
			end--
		}
		v.AppendCut(field[:end])
	default:
		return false
	}
	return true
}

// short treats a record that has n fields, fewer than the table has columns. The values of these fields are in b.
func (c *columns) short(b *read.Batch, p *parsed, first, n int) *fieldError {
	switch c.ragged {
	case Pad:
		for _, k := range c.column[n:] {
			if k >= 0 {
				b.Columns[k].AppendNone(c.fields[k])
			}
		}
		b.Rows++
		return nil
	case Skip:
		b.Truncate()
		p.uneven = append(p.uneven, first)
		return nil
	}
	return &fieldError{first, c.count(n)}
}

// long treats a record at the field behind the last column.
func (c *columns) long(b *read.Batch, s *scanner, p *parsed, first int) *fieldError {
	n, empty := len(c.column)+1, len(s.field) == 0
	for ; !s.last; n++ {
		line := s.line
		if reason := s.next(); reason != "" {
			return &fieldError{line, reason}
		}
		empty = empty && len(s.field) == 0
	}
	switch {
	case c.ragged == Pad && empty:
		b.Rows++
		return nil
	case c.ragged == Skip:
		b.Truncate()
		p.uneven = append(p.uneven, first)
		return nil
	}
	return &fieldError{first, c.count(n)}
}

// count describes a record with a wrong number of fields.
func (c *columns) count(n int) string {
	return fmt.Sprintf("%s, the table has %s (--ragged pad takes missing fields as missing values, --ragged skip leaves such records out)", input.Plural(n, "field"), input.Plural(len(c.column), "column"))
}

// put appends a field to a column. It returns the reason of an error as a format with a
// place for the name of the column. Without a scanner, numbers have a point. Inexact integers of column k are
// counted in p.
func (c *columns) put(v *read.Values, f read.Field, field []byte, quoted bool, s *scanner, p *parsed, k int) (reason string) {
	if f.List {
		return c.putList(v, f, field, p, k)
	}
	t := f.Type
	if t != column.String {
		field = trim(field)
		if t == column.Int { // the usual case: a number, and no null token
			if n, ok := parseInt(field); ok && len(c.nulls) == 0 {
				c.round(p, k, f, field)
				v.AppendKey(column.IntKey(n))
				return ""
			}
		}
	}
	if c.isNull(t, field, quoted) {
		v.AppendMissing(t)
		return ""
	}
	number := field
	if s != nil && s.numbers && isNumber(t) {
		number = s.plain(field)
	}
	switch {
	case t == column.String:
		if len(field) > hdb.MaxStringLen {
			return fmt.Sprintf("column %%[1]q: a string of %d bytes; at most %d are possible (--invalid truncate cuts it, --invalid skip leaves the row out)", len(field), hdb.MaxStringLen)
		}
		v.AppendChecked(field)
	case t == column.Decimal128:
		entry, ok := parseWide(f, number)
		if !ok {
			return c.misfit(f, field, s == nil)
		}
		c.round(p, k, f, number)
		v.AppendText(entry)
	default:
		key, ok := parse(f, number)
		if !ok {
			return c.misfit(f, field, s == nil)
		}
		c.round(p, k, f, number)
		v.AppendKey(key)
	}
	return ""
}

// misfit describes a field, or an element of an array, that is no value of its column, with the remedy if
// there is one.
func (c *columns) misfit(f read.Field, field []byte, element bool) string {
	value := strings.ReplaceAll(fmt.Sprintf("%.60q", field), "%", "%%")
	reason := "column %[1]q: " + value + " is not " + describe(f)
	if !c.advice {
		return reason
	}
	var seen inference
	seen.see(field, field, "", 0)
	fits := column.String.String()
	switch found := seen.found(); {
	case (f.Type == column.Int || f.Type == column.Uint) && found == column.Decimal128, f.Type == column.Uint && found == column.Int:
		fits = "decimal(38,0)"
	case f.Type == column.Int && (found == column.Float || found == column.Uint), f.Type == column.Timestamp && found == column.TimestampNS:
		fits = found.String()
	}
	if element {
		fits += "[]"
	}
	return reason + " (--type %[1]s=" + fits + " takes it; --null names the text of missing values)"
}
