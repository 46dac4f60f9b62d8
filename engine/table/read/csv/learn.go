package csv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// learn finds the dialect and the columns by the start of the first file, and takes the header off it.
func (s *source) learn(ctx context.Context, f *file) (err error) {
	if err := f.fill(s.opt.sample); err != nil {
		return err
	}
	s.learnDialect(f)
	c := &s.columns
	c.dialect, c.advice, c.ragged, c.invalid = f.dialect, s.opt.Advice, s.opt.Ragged, s.opt.Invalid
	for _, n := range s.opt.Null {
		c.nulls = append(c.nulls, []byte(n))
		c.noNaN = c.noNaN || strings.EqualFold(n, "nan")
	}
	if err := s.learnNames(f); err != nil {
		return err
	}
	chosen, err := read.Choose(c.names, s.opt.Columns)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.opt.Types)) {
		if !slices.Contains(c.names, name) {
			return fmt.Errorf("types: %w", &read.ColumnError{Name: name, Names: c.names})
		}
	}
	c.column = slices.Repeat([]int{-1}, len(c.names))
	for i, field := range chosen {
		c.column[field] = i
	}
	return s.learnTypes(ctx, f, chosen)
}

// learnDialect finds the delimiter.
func (s *source) learnDialect(f *file) {
	if d := cmp.Or(s.opt.Delimiter, f.sep); d != 0 {
		f.dialect = s.opt.known(d)
		return
	}
	f.dialect = s.opt.detect(f.rest[:bytes.LastIndexByte(f.rest, '\n')+1], len(s.opt.Names))
	if f.dialect.comma != ',' {
		s.opt.Warn(fmt.Sprintf("%s: the delimiter is a %s, as the first records show (--delimiter sets it)", f.path, nameOf(f.dialect.comma)))
	}
}

// learnNames finds the names of the columns, and takes the header off the rest of f.
func (s *source) learnNames(f *file) (err error) {
	c := &s.columns
	if s.header, err = s.isHeader(f); err != nil {
		return err
	}
	if s.header {
		var renamed string
		if c.names, c.header, renamed, err = f.header(s.opt.sample); err != nil {
			return err
		}
		s.fileNames = c.names
		if renamed != "" && len(s.opt.Names) == 0 {
			s.opt.Warn(renamed)
		}
	} else if len(s.opt.Names) == 0 {
		r, err := f.first(s.opt.sample)
		if err != nil {
			return err
		}
		for i := range r.fields {
			c.names = append(c.names, fmt.Sprintf("column%d", i+1))
		}
		if s.opt.Header == AutoHeader {
			s.opt.Warn(fmt.Sprintf("%s:%d: the first record is a row and no header, as its types show: columns are called column1 and so on (--header yes takes it for names)", f.path, r.line))
		}
	}
	if n := len(s.opt.Names); n > 0 {
		if s.header && n != len(c.names) {
			return f.errorf("%s, but %s are given", input.Plural(len(c.names), "column"), input.Plural(n, "name"))
		}
		c.names = s.opt.Names
	}
	if len(c.names) == 1 {
		c.header = nil // a row may have the text of the name
	}
	return nil
}

// learnTypes finds the types of the chosen fields.
func (s *source) learnTypes(ctx context.Context, f *file, chosen []int) error {
	c := &s.columns
	found := c.infer(f, f.whole())
	open := make([]bool, len(c.names))
	missing := 0
	for _, field := range chosen {
		if _, given := s.opt.Types[c.names[field]]; !given && !found[field].seen {
			open[field] = true
			missing++
		}
	}
	if missing > 0 {
		left := late{open: open, left: missing, rows: make([]int, len(c.names)), found: found}
		c.inferLate(f, f.whole(), &left)
		if left.left > 0 && (!f.end || len(s.paths) > 1) {
			if err := s.inferFiles(ctx, &left); err != nil {
				return err
			}
		}
	}
	c.quick = make([]bool, len(c.names))
	for _, field := range chosen {
		t, given := s.opt.Types[c.names[field]]
		warned := false
		if !given {
			t.Type = found[field].found()
			advice := fmt.Sprintf("; --type %[1]s='decimal(38,S)' keeps 38 digits, S of them behind the point, and --type %[1]s=string keeps all", c.names[field])
			if w := found[field].warning(c.names[field], advice); w != "" {
				s.opt.Warn(w)
				warned = true
			}
		}
		x := read.Field{Name: c.names[field], Type: t.Type, Scale: t.Scale, Digits: t.Digits, List: t.List}
		c.fields, c.given, c.warned = append(c.fields, x), append(c.given, given), append(c.warned, warned)
		c.quick[field] = c.isQuick(x)
		if x.Type != column.String && !x.List && len(c.header) > 0 && s.fileNames != nil {
			c.dropHeaders = c.dropHeaders || !isValue(x, []byte(s.fileNames[field]))
		}
	}
	return nil
}

// infer finds the types of the fields of the first records of a text, the rest of a file or its end.
func (c *columns) infer(f *file, text []byte) []inference {
	found := make([]inference, len(c.names))
	var scan scanner
	scan.scan(c.dialect, text, len(c.names) == 1)
	for rows := 0; rows < sampleRows && scan.begin(); rows++ {
		if c.repeats(&scan) {
			_, _ = scan.rest()
			continue
		}
		for i := 0; ; i++ {
			line := scan.line
			if scan.next() != "" {
				return found // the parser of the text reports the error
			}
			if i < len(found) {
				c.see(&found[i], f, &scan, line)
			}
			if scan.last {
				break
			}
		}
	}
	return found
}

// see shows the current field, which starts in a line of the scanner, to the inference of
// its type.
func (c *columns) see(i *inference, f *file, scan *scanner, line int) {
	field := trim(scan.field)
	if c.isNull(column.Float, field, scan.quoted) {
		return
	}
	number := field
	if c.numbers {
		number = scan.plain(field)
	}
	i.see(field, number, f.path, f.line+line)
	i.quoted = i.quoted || scan.quoted
}

// look shows a text to an inference.
func (c *columns) look(i *inference, text []byte) {
	scan := scanner{dialect: c.dialect}
	if text = trim(text); c.numbers {
		i.see(text, scan.plain(text), "", 0)
		return
	}
	i.see(text, text, "", 0)
}

// late is the fields that are empty at the start of the first file.
type late struct {
	open  []bool // by field: it needs more rows
	left  int    // fields that do
	rows  []int  // by column: rows with a value so far
	found []inference
}

// inferFiles reads the files again, until each field has had a value for sampleRows rows.
func (s *source) inferFiles(ctx context.Context, left *late) error {
	opener := input.Opener{Ctx: ctx} // another opener reports progress
	clear(left.rows)
	for _, path := range s.paths {
		if input.Size(path) == 0 {
			return nil // it can be read only once
		}
		f, err := s.openFile(&opener, path)
		if err != nil {
			return nil // the reader of the table reports it
		}
		f.dialect = s.columns.dialect
		if err = f.fill(s.opt.sample); err == nil && s.header {
			_, _, _, err = f.header(s.opt.sample)
		}
		var text []byte
		for err == nil && left.left > 0 && ctx.Err() == nil {
			if text, err = f.text(text, s.opt.sample, s.opt.maxRecord); len(text) > 0 {
				s.columns.inferLate(f, text, left)
				f.line += bytes.Count(text, []byte{'\n'})
			}
		}
		f.Close()
		if left.left == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// inferLate continues with the records of text, a part of f.
func (c *columns) inferLate(f *file, text []byte, left *late) {
	var scan scanner
	scan.scan(c.dialect, text, len(c.names) == 1)
	for scan.begin() {
		if c.repeats(&scan) {
			_, _ = scan.rest()
			continue
		}
		for i := 0; ; i++ {
			line := scan.line
			if scan.next() != "" {
				left.left = 0 // the parser of the text reports the error
				return
			}
			if i < len(left.open) && left.open[i] {
				c.see(&left.found[i], f, &scan, line)
				if left.found[i].seen {
					left.rows[i]++
				}
				if left.rows[i] == sampleRows {
					left.open[i] = false
					left.left--
				}
			}
			if scan.last {
				break
			}
		}
	}
}
