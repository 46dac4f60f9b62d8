package csv

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// Header tells whether the first record of each file has the names of the columns.
type Header uint8

const (
	// AutoHeader takes the first record of the first file for a row of data where the records that follow show
	// it: no field contradicts the type of its column, and one at least is a number, a time or a boolean. Numbers in
	// equal steps, such as years, are names if the next record has no such numbers. With Options.Names, there is
	// no header.
	AutoHeader Header = iota
	// WithHeader takes the first record of each file for names, or drops it if Options.Names gives the names.
	WithHeader
	// NoHeader takes all records for rows. Without Options.Names, columns are called column1, column2 and so on.
	NoHeader
)

// record is the first record of the rest of a file.
type record struct {
	fields   []field
	from, to int // its place in the rest
	line     int // line of the record in the file
}

// first reads the first record, which must end in the first sample bytes.
func (f *file) first(sample int) (r record, err error) {
	var scan scanner
	scan.scan(f.dialect, f.whole(), false)
	if !scan.begin() {
		reason := "no header: the file is empty"
		if !f.end {
			reason = fmt.Sprintf("the header does not end in the first %d bytes", sample)
		}
		return r, f.errorf("%s", reason)
	}
	r.from, r.line = scan.at, f.line+scan.line
	for !scan.last {
		if reason := scan.next(); reason != "" {
			return r, f.errorf("%s", reason)
		}
		r.fields = append(r.fields, field{string(scan.field), scan.quoted})
	}
	r.to = scan.at
	return r, nil
}

// field is a field of the first record.
type field struct {
	text   string
	quoted bool
}

// header takes the first record off the rest. It returns the names, which are different: an equal name gets a
// number, which renamed tells.
func (f *file) header(sample int) (names []string, raw []byte, renamed string, err error) {
	r, err := f.first(sample)
	if err != nil {
		return nil, nil, "", err
	}
	for i, x := range r.fields {
		if !utf8.ValidString(x.text) {
			return nil, nil, "", f.errorf("the name of column %d, %.60q, is not UTF-8", i+1, x.text)
		}
		if !x.quoted {
			x.text = string(trim([]byte(x.text)))
		}
		names = append(names, x.text)
	}
	names, changed := read.Rename(names)
	if changed >= 0 {
		renamed = fmt.Sprintf("%s:%d: columns have equal names: the second %q, column %d, is called %q", f.path, r.line, r.fields[changed].text, changed+1, names[changed])
	}
	raw = bytes.TrimRight(bytes.Clone(f.rest[r.from:r.to]), "\r\n")
	f.line += bytes.Count(f.rest[:r.to], []byte{'\n'})
	f.offset += int64(r.to)
	f.rest = f.rest[r.to:]
	return names, raw, renamed, nil
}

// isHeader decides whether the first record is a header, by the records that follow.
func (s *source) isHeader(f *file) (bool, error) {
	switch {
	case s.opt.Header != AutoHeader:
		return s.opt.Header == WithHeader, nil
	case len(s.opt.Names) > 0:
		return false, nil
	}
	r, err := f.first(s.opt.sample)
	if err != nil || !slices.ContainsFunc(r.fields, s.columns.shows) {
		return true, err
	}
	fields, following := r.fields, f.whole()[r.to:]
	c := s.columns
	c.names = make([]string, len(fields))
	found := c.infer(f, following)
	typed := 0
	for i, x := range fields {
		if x.text == "" || c.isNull(column.Float, []byte(x.text), x.quoted) {
			continue
		}
		var alone inference
		c.look(&alone, []byte(x.text))
		both := found[i]
		c.look(&both, []byte(x.text))
		switch {
		case x.quoted && !found[i].quoted && alone.shown() != column.String:
			return true, nil
		case !found[i].seen && alone.shown() == column.String, found[i].seen && found[i].shown() != column.String && both.shown() == column.String:
			return true, nil
		case alone.shown() != column.String && both.shown() != column.String:
			typed++
		}
	}
	if step, ok := steps(fields); ok {
		rest := *f
		rest.rest = following
		second, err := rest.first(s.opt.sample)
		next, same := steps(second.fields)
		return err != nil || !same || step != next, nil
	}
	return typed == 0, nil
}

// shows reports whether a field shows a type besides String.
func (c *columns) shows(x field) bool {
	var alone inference
	c.look(&alone, []byte(x.text))
	return x.text != "" && alone.shown() != column.String
}

// steps reports whether the integers of a record, at least three, ascend in equal steps.
func steps(fields []field) (step int, ok bool) {
	var numbers []int
	for _, x := range fields {
		if n, ok := parseInt([]byte(x.text)); ok {
			numbers = append(numbers, int(n))
		}
	}
	if len(numbers) < 3 {
		return 0, false
	}
	step = numbers[1] - numbers[0]
	for i := range numbers[2:] {
		if numbers[i+2]-numbers[i+1] != step {
			return 0, false
		}
	}
	return step, step > 0
}
