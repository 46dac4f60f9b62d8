package values

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"heddle/engine/table/column"
)

const bufferSize = 64 << 10

// NewCSV returns a Writer of CSV (RFC 4180) with a line of names. A missing value is empty,
// and an empty text stands in quotes. The values of a multi-valued column are a JSON array. The first batch gives the names; it may have no rows.
func NewCSV(w io.Writer) Writer { return &csvWriter{out: bufio.NewWriterSize(w, bufferSize)} }

type csvWriter struct {
	out   *bufio.Writer
	names bool // written
}

// Write implements Writer.
func (x *csvWriter) Write(b Batch) error {
	if !x.names {
		x.names = true
		for k := range b {
			x.field(k, []byte(b[k].Name), true, plainName(b[k].Name))
		}
		x.out.WriteByte('\n')
	}
	var value []byte
	for i := range b.Len() {
		for k := range b {
			c := &b[k]
			if value = value[:0]; !c.Null(i) {
				value = c.AppendText(value, i)
			}
			x.field(k, value, !c.Null(i), true)
		}
		x.out.WriteByte('\n')
		if err := endLine(x.out); err != nil {
			return err
		}
	}
	return nil
}

// endLine passes whole lines on, and returns errors of earlier writes.
func endLine(out *bufio.Writer) error {
	if out.Buffered() > bufferSize/2 {
		return out.Flush()
	}
	return nil
}

// field writes field k of a line: in quotes unless it is missing, or a plain text without delimiters of any
// dialect, so that readers that find the delimiter find the comma.
func (x *csvWriter) field(k int, value []byte, present, plain bool) {
	if k > 0 {
		x.out.WriteByte(',')
	}
	text := string(value)
	if present && (!plain || text == "" || strings.ContainsAny(text, "\",;|\t\r\n") || text[0] == ' ' || text[len(text)-1] == ' ') {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	x.out.WriteString(text)
}

// plainName reports whether a name is no number, boolean or time, which readers may take for a value, and does not
// start like a file of another format.
func plainName(name string) bool {
	c := name[0]
	letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
	return letter && !slices.Contains([]string{"true", "false", "nan", "inf", "infinity"}, strings.ToLower(name)) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '/' })
}

// Close implements Writer.
func (x *csvWriter) Close() error { return x.out.Flush() }

// NewLines returns a Writer of one JSON object per row, with the names of the columns.
// Numbers have all their digits; times, infinities and NaN are texts. Bytes of a text that are
// not UTF-8 become U+FFFD.
func NewLines(w io.Writer) Writer { return &lineWriter{out: bufio.NewWriterSize(w, bufferSize)} }

type lineWriter struct {
	out   *bufio.Writer
	names [][]byte // names of the columns, each with a colon
}

// Write implements Writer.
func (x *lineWriter) Write(b Batch) error {
	if x.names == nil {
		for k := range b {
			x.names = append(x.names, append(appendText(nil, b[k].Name), ':'))
		}
	}
	var line []byte
	for i := range b.Len() {
		line = line[:0]
		for k := range b {
			line = append(append(line, ","[:min(k, 1)]...), x.names[k]...)
			line = b[k].AppendJSON(line, i)
		}
		x.out.WriteByte('{')
		x.out.Write(line)
		x.out.WriteString("}\n")
		if err := endLine(x.out); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Writer.
func (x *lineWriter) Close() error { return x.out.Flush() }

// AppendText appends the value of row i, which is not missing, as in CSV: a JSON array of a
// multi-valued column.
func (c *Column) AppendText(dst []byte, i int) []byte {
	if c.Starts != nil {
		return c.AppendJSON(dst, i)
	}
	return c.Append(dst, c.Codes[i])
}

// AppendJSON appends the value of row i as JSON: an array of a multi-valued column.
func (c *Column) AppendJSON(dst []byte, i int) []byte {
	if c.Null(i) {
		return append(dst, "null"...)
	}
	if c.Starts == nil {
		return c.appendValue(dst, c.Codes[i])
	}
	dst = append(dst, '[')
	for k, code := range c.Row(i) {
		dst = c.appendValue(append(dst, ","[:min(k, 1)]...), code)
	}
	return append(dst, ']')
}

// appendValue appends a code as JSON.
func (c *Column) appendValue(dst []byte, code uint64) []byte {
	switch c.Literal(code).Kind {
	case column.Number, column.Boolean:
		return c.Append(dst, code)
	}
	return appendText(dst, c.Format(code))
}

// appendText appends a JSON string.
func appendText(dst []byte, text string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // every text has a form
	}
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}
