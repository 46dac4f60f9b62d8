package csv

import (
	"bytes"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// scanner cuts records into fields. Lines end in LF or CR LF. A field may stand in quotes: there a quote is
// written twice, or behind the escape character, and line ends are part of the field, unchanged. The text
// ends in a line end.
type scanner struct {
	*dialect
	text   []byte
	single bool // the table has one column, so that an empty line is a record
	at     int  // index of the next byte
	line   int  // number of its line, from 0

	field  []byte // the current one: a view into text or into buf
	quoted bool   // it stood in quotes
	last   bool   // the field is the last field of its record
	buf    []byte
	number []byte     // memory of dialect.plain
	times  []lastTime // by column: the last time, which often comes again
}

// lastTime is a text and its key. Without a text there is none.
type lastTime struct {
	text []byte
	key  uint64
	raw  bool // the text stood in the file without quotes
}

func (l *lastTime) is(text []byte) bool { return len(text) > 0 && bytes.Equal(l.text, text) }

// set takes the last value of a column.
func (l *lastTime) set(text []byte, quoted bool, v *read.Values) {
	l.text, l.raw = l.text[:0], !quoted
	if n := len(v.Missing); n == 0 || !v.Missing[n-1] {
		l.text, l.key = append(l.text, text...), v.Keys[len(v.Keys)-1]
	}
}

// scan prepares the scanner for a text, and keeps its memory.
func (s *scanner) scan(d *dialect, text []byte, single bool) {
	*s = scanner{dialect: d, text: text, single: single, buf: s.buf, number: s.number, times: s.times}
}

// begin goes to the next record, behind empty lines and comments, and reports whether there is one.
func (s *scanner) begin() bool {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '\n' && !s.single:
			s.at++
		case c == '\r' && s.text[s.at+1] == '\n' && !s.single: // the text ends in LF
			s.at += 2
		case c == s.comment && c != 0:
			s.at += bytes.IndexByte(s.text[s.at:], '\n') + 1
		default:
			return true
		}
		s.line++
	}
	return false
}

// next reads a field. It returns the reason of a syntax error, or the empty string.
func (s *scanner) next() (reason string) {
	text, at := s.text, s.at
	if c := text[at]; c == s.quote && c != 0 {
		return s.nextQuoted()
	}
	i := at
	for !s.stops[text[i]] {
		i++
	}
	switch text[i] {
	case s.comma:
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
	case s.quote:
		return "a quote inside a field that does not start with one (--quote none makes quotes plain characters)"
	}
	return s.nextEscaped(i)
}

// isQuick reports whether key may read a field of a type.
func (c *columns) isQuick(f read.Field) bool {
	if f.List || len(c.nulls) > 0 || c.numbers || c.escape != c.quote {
		return false
	}
	for _, b := range []byte("0123456789-.") {
		if c.stops[b] {
			return false
		}
	}
	return f.Type == column.Int || f.Type == column.Float || f.Type.IsTime()
}

// key appends the next field to column k, if it is a plain number or the last time again, and reports whether
// it is. It reads each byte once, which next and parse together do not.
func (s *scanner) key(v *read.Values, t column.Type, k int) bool {
	i, key := s.at, uint64(0)
	if t == column.Int || t == column.Float {
		p, end := s.plainAt(i, t == column.Float)
		if end == i {
			return false
		}
		if i = end; t == column.Float {
			key = column.FloatKey(p.float())
		} else if key = column.IntKey(int64(p.digits)); p.negative {
			key = column.IntKey(-int64(p.digits))
		}
	} else {
		last := &s.times[k]
		if len(last.text) == 0 || !last.raw || !bytes.HasPrefix(s.text[i:], last.text) {
			return false
		}
		i, key = i+len(last.text), last.key
	}
	last := s.text[i] != s.comma
	if last {
		if s.text[i] == '\r' {
			i++
		}
		if s.text[i] != '\n' {
			return false
		}
		s.line++
	}
	s.last, s.at = last, i+1
	v.AppendKey(key)
	return true
}

// plainAt reads a plain number, or an integer of at most 18 digits without needless zeros, that begins at a byte, and
// finds its end. This is the same byte if there is none.
func (s *scanner) plainAt(begin int, point bool) (p plain, end int) {
	text, i := s.text, begin
	if p.negative = text[i] == '-'; p.negative {
		i++
	}
	from := i
	for ; text[i]-'0' <= 9; i++ { // the text ends in LF
		p.digits = 10*p.digits + uint64(text[i]-'0')
	}
	digits, most := i-from, 18
	if point {
		most = 15
		if text[i] == '.' && digits > 0 {
			i++
			for from = i; text[i]-'0' <= 9; i++ {
				p.digits = 10*p.digits + uint64(text[i]-'0')
			}
			if p.fraction = i - from; p.fraction == 0 {
				return p, begin
			}
			digits += p.fraction
		}
	}
	if digits == 0 || digits > most || !point && digits > 1 && text[from] == '0' {
		return p, begin
	}
	return p, i
}

// nextEscaped continues a field without quotes at the first escape character.
func (s *scanner) nextEscaped(i int) (reason string) {
	s.quoted, s.buf = false, append(s.buf[:0], s.text[s.at:i]...)
	for ; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == s.escape && i+2 < len(s.text) && s.escapes(s.text[i+1]):
			i++
			s.buf = append(s.buf, s.text[i])
			if s.text[i] == '\n' {
				s.line++
			}
		case c == s.comma:
			s.field, s.last, s.at = s.buf, false, i+1
			return ""
		case c == '\n':
			s.field, s.last, s.at = bytes.TrimSuffix(s.buf, []byte{'\r'}), true, i+1
			s.line++
			return ""
		default:
			s.buf = append(s.buf, c)
		}
	}
	return openField
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
		switch c := s.text[s.at]; {
		case c == '\n':
			line++
		case c == s.escape && c != s.quote && s.at+1 < len(s.text) && s.escapes(s.text[s.at+1]):
			keep(s.at)
			s.at++
			from = s.at
			if s.text[s.at] == '\n' {
				line++
			}
		case c == s.quote:
			if s.escape == s.quote && s.follows(s.quote) {
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
	return openQuote
}

// Reasons of errors that further text may remove.
const (
	openQuote = "a quoted field that does not end"
	openField = "a field that does not end"
)

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

// rest passes the fields of the record that follow, at least one, and returns their number.
func (s *scanner) rest() (n int, reason string) {
	for n = 1; ; n++ {
		if reason := s.next(); reason != "" || s.last {
			return n, reason
		}
	}
}
