// Package attributes makes the attribute table of an index from the JSON lines that the index was
// built from: row i has the members of document i.
//
// A column is made of each member whose values are texts, numbers or booleans. The members that name
// a document or have its text or vector are left out, and so are objects, arrays and null: a document
// without a value misses it. Texts stay texts, "007" and "true" too, unless all values of a column are
// times. Other types are inferred as from CSV (package read).
package attributes

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"heddle/engine/file/input"
	index "heddle/engine/index/build"
	"heddle/engine/syntax"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// reserved are the members that belong to the document itself.
var reserved = index.Members()

// Build writes the table of the attributes of all lines of inputs, files with one object on each
// line, to path. docs is the number of documents of the index: another number of lines is an error.
// It reads the inputs twice.
func Build(ctx context.Context, path string, inputs []string, docs uint64, opt build.Options) (r build.Report, err error) {
	a := &table{ctx: ctx, types: map[string]column.Declared{}, at: map[string]int{}}
	lines, err := a.each(inputs, a.note)
	if err != nil {
		return r, err
	}
	if lines != docs {
		return r, fmt.Errorf("attributes: %d lines, the index has %d documents: row i must be document i", lines, docs)
	}
	if len(a.names) == 0 {
		return r, errors.New("attributes: no line has a member with a text, a number or a boolean beside the document itself")
	}
	spool, err := os.CreateTemp(cmp.Or(opt.TempDir, filepath.Dir(path)), "heddle-attributes-*.csv")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	a.out = bufio.NewWriterSize(spool, 1<<20)
	if err := a.header(); err != nil {
		return r, err
	}
	if _, err := a.each(inputs, a.write); err != nil {
		return r, err
	}
	if err := a.out.Flush(); err != nil {
		return r, err
	}
	src, err := read.OpenCSV(ctx, []string{spool.Name()}, read.CSVOptions{Types: a.types, Invalid: input.Replace, Memory: cmp.Or(opt.Memory, build.DefaultMemory) / 4})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return build.Build(ctx, src, path, opt)
}

// table is one call of Build.
type table struct {
	ctx   context.Context
	names []string // of columns, in the order of their first values
	at    map[string]int
	types map[string]column.Declared // of columns with a text that is no time
	row   []field
	out   *bufio.Writer
}

// field is a value of a row; nil is missing.
type field []byte

// each calls f with all lines that are not blank, and returns their number.
func (a *table) each(inputs []string, f func(line []byte) error) (lines uint64, err error) {
	open := input.Opener{Ctx: a.ctx}
	for _, path := range inputs {
		n, err := a.file(&open, path, f)
		if lines += n; err != nil {
			return lines, err
		}
	}
	return lines, nil
}

func (a *table) file(open *input.Opener, path string, f func(line []byte) error) (lines uint64, err error) {
	in, err := open.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if _, err := in.Text(path); err != nil {
		return 0, err
	}
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return lines, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines++
			if err := f(line); err != nil {
				return lines, fmt.Errorf("%s: line %d: %w", path, number, err)
			}
		}
		if err != nil {
			return lines, a.ctx.Err()
		}
	}
}

// members calls f with the name and the text of each value of a line, by name. quoted tells a text from a
// number or a boolean.
func members(line []byte, f func(name string, value []byte, quoted bool)) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return syntax.JSONLine(line, err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw := all[name]
		if slices.Contains(reserved, name) || raw[0] == 'n' || raw[0] == '{' || raw[0] == '[' {
			continue
		}
		if raw[0] != '"' {
			f(name, raw, false)
			continue
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		f(name, []byte(text), true)
	}
	return nil
}

// note adds the columns of a line.
func (a *table) note(line []byte) error {
	return members(line, func(name string, value []byte, quoted bool) {
		if _, known := a.at[name]; !known {
			a.at[name] = len(a.names)
			a.names = append(a.names, name)
		}
		if quoted && !isTime(value) {
			a.types[name] = column.Declared{Type: column.String}
		}
	})
}

// isTime tells whether a text is a time and nothing else: a float may be "infinity" too.
func isTime(text []byte) bool {
	return len(text) > 0 && text[0] >= '0' && text[0] <= '9' && !json.Valid(text) && column.IsTime(string(text))
}

// header writes the names of the columns.
func (a *table) header() error {
	w := csv.NewWriter(a.out)
	if err := w.Write(a.names); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// write writes the row of a line. An empty text stands in quotes, a missing value is empty.
func (a *table) write(line []byte) error {
	a.row = append(a.row[:0], make([]field, len(a.names))...)
	if err := members(line, func(name string, value []byte, quoted bool) {
		if quoted {
			value = append(append([]byte{'"'}, bytes.ReplaceAll(value, []byte{'"'}, []byte(`""`))...), '"')
		}
		a.row[a.at[name]] = value
	}); err != nil {
		return err
	}
	for i, v := range a.row {
		if i > 0 {
			a.out.WriteByte(',')
		}
		if v == nil && len(a.row) == 1 { // a blank line would be no row
			v = field(`""`)
		}
		a.out.Write(v)
	}
	return a.out.WriteByte('\n')
}
