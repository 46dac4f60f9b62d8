// Package merge copies the rows of table files to another table, without some of them. The result
// equals the table that a build of the remaining rows writes with the same options.
package merge

import (
	"context"
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/bitslice"
	"heddle/engine/file/mapped"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// Part is the rows First to End-1 of a file, without the deleted ones.
type Part struct {
	File       *hdb.File
	First, End uint64
	Deleted    *roaring.Bitmap // nil: none
}

// Whole is the part with all rows of a file but the deleted ones.
func Whole(f *hdb.File, deleted *roaring.Bitmap) Part {
	return Part{File: f, End: uint64(f.Rows()), Deleted: deleted}
}

// File writes the rows of all parts, in their order, as a table to path. The files must have columns
// of the same names and types.
func File(ctx context.Context, parts []Part, path string, opt build.Options) (build.Report, error) {
	s, err := newRows(parts)
	if err != nil {
		return build.Report{}, err
	}
	defer s.Close() // Close has no error
	return build.Build(ctx, s, path, opt)
}

// rows is a read.Source of rows of table files.
type rows struct {
	parts       []Part // parts that are left; the first part is open
	fields      []read.Field
	columns     []column.Column
	row         uint64 // the next row of the first part
	values      []values
	done, total int64
}

func newRows(parts []Part) (*rows, error) {
	if err := Check(parts); err != nil {
		return nil, err
	}
	s := &rows{parts: parts}
	if len(parts) > 0 {
		s.fields = fieldsOf(parts[0].File)
	}
	for i := range parts {
		s.total += int64(parts[i].End - parts[i].First)
	}
	return s, s.begin()
}

// Check compares the columns of the files. The error names the first file and column that differ from the first file.
func Check(parts []Part) error {
	for i := range parts {
		first, fields := fieldsOf(parts[0].File), fieldsOf(parts[i].File)
		for k := range max(len(first), len(fields)) {
			want, got := "no such column", "no such column"
			if k < len(first) {
				want = first[k].String()
			}
			if k < len(fields) {
				got = fields[k].String()
			}
			if want != got {
				return fmt.Errorf("%s: column %d is %q, %s has %q: the columns differ", parts[i].File.Path(), k+1, got, parts[0].File.Path(), want)
			}
		}
	}
	return nil
}

func fieldsOf(file *hdb.File) (fields []read.Field) {
	for _, c := range file.Columns() {
		f := read.Field{Name: c.Name, Type: c.Type, List: c.Values != nil}
		if c.Type.IsDecimal() {
			f.Scale = c.Scale
		}
		fields = append(fields, f)
	}
	return fields
}

// begin starts the reading of the first part.
func (s *rows) begin() error {
	s.Close()
	if len(s.parts) == 0 {
		return nil
	}
	p := &s.parts[0]
	s.row, s.columns = p.First, p.File.Columns()
	for i := range s.columns {
		v, err := open(p.File, i)
		if err != nil {
			return err
		}
		s.values = append(s.values, v)
	}
	return nil
}

// batchRows is the number of rows of a batch, at most.
const batchRows = 64 * bitslice.SegmentRows

// Fields implements read.Source.
func (s *rows) Fields() []read.Field { return s.fields }

// Next implements read.Source.
func (s *rows) Next(ctx context.Context, b *read.Batch) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(s.parts) > 0 && s.row == s.parts[0].End {
			s.parts = s.parts[1:]
			if err := s.begin(); err != nil {
				return err
			}
		}
		if len(s.parts) == 0 {
			return io.EOF
		}
		if err := s.batch(&s.parts[0], b); err != nil || b.Rows > 0 {
			return err
		}
	}
}

// batch reads the next rows of a part, of which all may be deleted.
func (s *rows) batch(p *Part, b *read.Batch) error {
	end := min(p.End, s.row-s.row%batchRows+batchRows)
	if len(b.Columns) != len(s.columns) {
		b.Columns = make([]read.Values, len(s.columns))
	}
	if b.Rows = int(end - s.row); p.Deleted != nil {
		b.Rows -= int(p.Deleted.CardinalityInRange(s.row, end))
	}
	for i := range s.columns {
		if err := s.values[i].read(&b.Columns[i], p.Deleted, s.row, end); err != nil {
			return fmt.Errorf("%s: column %q, rows from %d on: %w", p.File.Path(), s.columns[i].Name, s.row, err)
		}
	}
	s.done += int64(end - s.row)
	s.row = end
	return nil
}

// Progress implements read.Source.
func (s *rows) Progress() (done, total int64) { return s.done, s.total }

// Invalid implements read.Source.
func (s *rows) Invalid() read.InvalidRows { return read.InvalidRows{} }

// Close implements read.Source.
func (s *rows) Close() error {
	for _, v := range s.values {
		v.stop()
	}
	s.values = nil
	return nil
}
