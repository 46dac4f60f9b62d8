// Package parquet reads tables of Parquet files.
package parquet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// Options say how Parquet files are read.
type Options struct {
	// Columns are the names of the columns to read, in this order. The default is all.
	Columns []string

	// Invalid is the treatment of rows with texts that are not UTF-8, in columns whose logical type is STRING,
	// ENUM or JSON. input.Skip leaves out rows with times and decimals that no type of a table holds, too. The
	// default is input.Fail.
	Invalid input.Invalid

	// Warn, unless nil, receives a text for each file that does not have all columns, and for equal names.
	Warn func(text string)

	rows int64 // number of rows of a batch; 0: derived from the number of columns
}

// batchRows is the number of rows of a batch, at most. A batch has at most batchValues values, but leastRows rows.
const (
	batchRows   = 32768
	leastRows   = 256
	batchValues = 1 << 23
)

// source reads the columns of a batch on all cores.
type source struct {
	paths []string
	opt   Options

	fields  []read.Field
	columns []columnReader
	texts   read.Treatment
	bytes   int64        // bytes of all files
	rows    int64        // rows of all files
	done    atomic.Int64 // rows that were given

	number int // number of the current file
	file   *os.File
	groups []format.RowGroup // row groups of the current file that are still to be read
	end    int64             // end of the data of the current file, in bytes
	row    int64             // number of the next row of the current file
	left   int64             // rows of the current group
	absent []int             // fields that the current file does not have
	parts  []partition       // columns of the names of folders, the last of fields
	err    error
}

// Open opens Parquet files. Columns of equal names must have equal types; a column that a file does not have has missing
// values there. Folders such as date=2013-01-01 in the paths of all files are columns, unless the files have them. It reads:
//
//	integers           Int; Uint if unsigned with 64 bits
//	floats             Float32, Float
//	decimals           Int up to 18 digits, none of them behind the point; else Decimal up to
//	                   18 digits or if the statistics of all row groups promise values of 64
//	                   bits; else Decimal128
//	booleans           Bool
//	dates, timestamps  Timestamp; TimestampNS for a unit of nanoseconds, and for an INT96 with
//	                   parts of a microsecond; a time outside of the range is an error
//	times of day       Int, a count of their unit since midnight
//	UUIDs              String, such as 00112233-4455-6677-8899-aabbccddeeff
//	byte arrays        String
//
// A column of lists is multi-valued: a null in a list is left out and counted (read.InvalidRows), and lists in
// lists are one list. A struct gives a column for each of its members, such as a.b, multi-valued below a
// list; Columns may name the struct or the member. A MAP or an INTERVAL is an error unless Columns leave it
// out.
func Open(ctx context.Context, paths []string, opt Options) (read.Source, error) {
	if len(paths) == 0 {
		return nil, errors.New("no Parquet file is given")
	}
	s := &source{paths: paths, opt: opt, number: -1, texts: read.Treatment{Mode: opt.Invalid}}
	wide := map[string]bool{}    // columns that the narrower type does not suffice
	for i, path := range paths { // check all files first: a difference should not be found after hours
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := s.open(path)
		if err == nil {
			err = s.check(i)
		}
		for i := range s.columns {
			if c := &s.columns[i]; err == nil && c.column.Type().Kind() == parquet.Int96 {
				c.narrow, err = s.wholeMicros(ctx, c)
			}
			wide[s.columns[i].name] = wide[s.columns[i].name] || !s.columns[i].narrow
		}
		if err == nil && len(s.columns) < len(s.fields) && s.opt.Warn != nil {
			s.opt.Warn(fmt.Sprintf("%s: the file has %d of %d columns so far: the others have missing values there", path, len(s.columns), len(s.fields)))
		}
		if err = errors.Join(err, s.closeFile()); err != nil {
			return nil, err
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; !wide[f.Name] {
			f.Type = columnType{to: f.Type}.narrower().to
		}
	}
	return s, s.choose()
}

// choose adds the columns of folders, and checks that each wanted column is there.
func (s *source) choose() error {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.Name)
	}
	for _, p := range partitions(s.paths) {
		if !slices.Contains(names, p.field.Name) && (len(s.opt.Columns) == 0 || slices.Contains(s.opt.Columns, p.field.Name)) {
			s.parts, s.fields, names = append(s.parts, p), append(s.fields, p.field), append(names, p.field.Name)
		}
	}
	for _, w := range s.opt.Columns {
		if !slices.ContainsFunc(names, func(n string) bool { return n == w || strings.HasPrefix(n, w+".") }) {
			return fmt.Errorf("%s: %w", s.paths[0], &read.ColumnError{Name: w, Names: names})
		}
	}
	return nil
}

// open opens a file and finds its columns.
func (s *source) open(path string) (err error) {
	if path == "-" {
		return errors.New("standard input cannot be read as Parquet, whose end comes first")
	}
	if s.file, err = os.Open(path); err != nil {
		return err
	}
	st, err := s.file.Stat()
	if err != nil {
		return err
	}
	if st.IsDir() {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory")}
	}
	f, end, err := footer(path, s.file, st.Size())
	if err != nil {
		return err
	}
	s.groups, s.end = f.Metadata().RowGroups, end
	fields := leaves(f.Root())
	var names []string
	for _, c := range fields {
		names = append(names, c.name)
	}
	names, changed := read.Rename(names)
	if changed >= 0 && s.number < 0 && s.opt.Warn != nil {
		s.opt.Warn(fmt.Sprintf("%s: columns have equal names: the second %q, column %d, is called %q", path, fields[changed].name, changed+1, names[changed]))
	}
	wanted := expand(names, s.opt.Columns)
	if s.others() {
		wanted = slices.DeleteFunc(wanted, func(w string) bool { return !slices.Contains(names, w) })
	}
	var chosen []int
	if len(wanted) > 0 || len(s.opt.Columns) == 0 {
		if chosen, err = read.Choose(names, wanted); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	s.columns = make([]columnReader, len(chosen))
	for i, at := range chosen {
		x := &s.columns[i]
		x.leaf, x.skip = fields[at], s.opt.Invalid == input.Skip
		x.name = names[at]
		if err = x.wrong; err == nil {
			x.columnType, err = typeOf(x.column, element(f.Metadata(), x.column.Index()))
		}
		if err != nil {
			return &input.Error{Path: path, Offset: -1, Reason: fmt.Sprintf("column %q %v (--columns can leave it out)", x.name, err)}
		}
		if x.to == column.Decimal128 {
			x.narrow = narrow(f.Metadata(), x.column.Index())
		}
	}
	return nil
}

// others reports whether columns may be elsewhere: in other files, or in the names of folders.
func (s *source) others() bool { return len(s.paths) > 1 || len(partitions(s.paths)) > 0 }

// check compares the columns of file i with the columns of the files before it, and counts rows.
func (s *source) check(i int) error {
	for _, c := range s.columns {
		f := read.Field{Name: c.name, Type: c.to, Scale: c.scale, List: c.list}
		switch k := s.place(c.name); {
		case k < 0:
			s.fields = append(s.fields, f)
		case s.fields[k] != f:
			return &input.Error{Path: s.paths[i], Offset: -1, Reason: fmt.Sprintf("its column, %v, differs from the columns of %s, %v", f, s.paths[0], s.fields)}
		}
	}
	for _, g := range s.groups {
		s.rows += g.NumRows
	}
	s.bytes += input.Size(s.paths[i])
	return nil
}

// place is the place of a column by its name, or -1.
func (s *source) place(name string) int {
	return slices.IndexFunc(s.fields, func(f read.Field) bool { return f.Name == name })
}

// explain turns an error about data, or a panic of the library, which does not check all of its input, into an
// *input.Error that names the file and the column. Errors of the system pass unchanged.
func explain(path, column string, err *error) {
	if recover() != nil {
		*err = errors.New("damaged values")
	}
	var system *fs.PathError
	var known *input.Error
	if *err == nil || errors.As(*err, &system) || errors.As(*err, &known) {
		return
	}
	*err = &input.Error{Path: path, Offset: -1, Reason: fmt.Sprintf("column %q: %v", column, *err)}
}

func (s *source) Fields() []read.Field { return s.fields }

// Progress is by rows: columns of a group are read at different places of a file.
func (s *source) Progress() (done, total int64) {
	if s.rows == 0 {
		return s.bytes, s.bytes
	}
	return int64(float64(s.bytes) * float64(s.done.Load()) / float64(s.rows)), s.bytes
}

func (s *source) Invalid() read.InvalidRows { return s.texts.Invalid }

func (s *source) Next(ctx context.Context, b *read.Batch) error {
	for s.err == nil {
		if s.err = s.next(ctx, b); b.Rows > 0 {
			break
		}
	}
	return s.err
}

func (s *source) next(ctx context.Context, b *read.Batch) error {
	for s.left == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.nextGroup(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := int(min(s.left, cmp.Or(s.opt.rows, max(leastRows, min(batchRows, batchValues/int64(max(len(s.fields), 1)))))))
	b.Reset(len(s.fields))
	path := s.paths[s.number]
	read.Parallel(len(s.columns), func(i int) { s.columns[i].read(path, &b.Columns[s.columns[i].place], s.row, rows) })
	for _, i := range s.absent {
		for range rows {
			b.Columns[i].AppendNone(s.fields[i])
		}
	}
	for k := range s.parts {
		s.parts[k].append(&b.Columns[len(s.fields)-len(s.parts)+k], s.number, rows)
	}
	var first *columnReader
	for i := range s.columns {
		c := &s.columns[i]
		if c.err != nil {
			return c.err
		}
		if c.invalid != nil && (first == nil || c.row < first.row) {
			first = c
		}
	}
	b.Rows = rows
	s.left -= int64(rows)
	s.row += int64(rows)
	s.done.Add(int64(rows))
	if first != nil {
		return s.texts.Apply(b, first.invalid)
	}
	return s.texts.Apply(b, nil)
}

// nextGroup begins the next group of rows; io.EOF behind the last of the last file.
func (s *source) nextGroup() (err error) {
	if len(s.groups) == 0 {
		if err := s.closeFile(); err != nil {
			return err
		}
		if s.number+1 == len(s.paths) {
			return io.EOF
		}
		s.number++
		s.row = 0
		if err := s.open(s.paths[s.number]); err != nil {
			return err
		}
		has := make([]bool, len(s.fields)-len(s.parts))
		for i := range s.columns {
			c := &s.columns[i]
			c.place = s.place(c.name)
			if has[c.place] = true; c.to != s.fields[c.place].Type {
				c.columnType = c.narrower()
			}
		}
		s.absent = nil
		for i, here := range has {
			if !here {
				s.absent = append(s.absent, i)
			}
		}
		return nil
	}
	g := &s.groups[0]
	s.groups = s.groups[1:]
	s.left = g.NumRows
	for i := range s.columns {
		if err := s.columns[i].begin(s, g); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) closeFile() (err error) {
	if s.file == nil {
		return nil
	}
	err = s.file.Close()
	s.file, s.groups, s.columns = nil, nil, nil
	return err
}

func (s *source) Close() error {
	s.err = cmp.Or(s.err, os.ErrClosed)
	return s.closeFile()
}
