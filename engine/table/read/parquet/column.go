package parquet

import (
	"context"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
)

// columnReader reads a column of the current file.
type columnReader struct {
	columnType
	leaf
	place  int  // index in the fields of the source
	narrow bool // all values fit the narrower type
	group  int  // number in the file, for errors
	skip   bool // rows with values that do not fit are left out
	values *pageReader
	buffer [256]parquet.Value
	rest   []parquet.Value // the part of buffer with values of the next rows
	err    error

	invalid *input.Error // the first text of the batch that is not UTF-8
	row     int          // number of the row in the batch
}

// read appends the next rows, which start at row first of the file.
func (c *columnReader) read(path string, v *read.Values, first int64, rows int) {
	defer explain(path, c.name, &c.err)
	c.invalid = nil
	if c.list {
		c.err = c.readLists(path, v, first, rows)
		return
	}
	for at := 0; at < rows; {
		n, err := c.values.ReadValues(c.buffer[:min(len(c.buffer), rows-at)])
		for i := range c.buffer[:n] {
			if err := c.put(v, &c.buffer[i]); err != nil {
				if c.err = c.unfit(err, path, first, at+i); c.err != nil {
					return
				}
				v.AppendUnfit(read.Field{Type: c.to})
			}
			if c.invalid == nil && v.HasInvalid() {
				c.row = at + i
				c.invalid = &input.Error{Path: path, Offset: -1, Reason: fmt.Sprintf("column %q: row %d (from 0): %s", c.name, first+int64(c.row), input.InvalidByte("value", c.buffer[i].ByteArray(), false))}
			}
		}
		at += n
		if at < rows && err != nil {
			if err == io.EOF {
				err = fmt.Errorf("row group %d ends %d rows too early", c.group, rows-at)
			}
			c.err = err
			return
		}
	}
}

// begin begins the next group of rows of the current file.
func (c *columnReader) begin(s *source, g *format.RowGroup) (err error) {
	defer explain(s.file.Name(), c.name, &err)
	c.group++
	c.rest = nil
	c.values, err = openChunk(c.column, c.group, &g.Columns[c.column.Index()], s.file, s.end)
	return err
}

// unfit treats a value of a row of the batch that its column does not hold: it is an error unless the row is left out.
func (c *columnReader) unfit(wrong error, path string, first int64, row int) error {
	wrong = fmt.Errorf("row %d (from 0): %w", first+int64(row), wrong)
	if !c.skip {
		return fmt.Errorf("%w (--invalid skip leaves the row out)", wrong)
	}
	if c.invalid == nil {
		c.row = row
		c.invalid = &input.Error{Path: path, Offset: -1, Reason: fmt.Sprintf("column %q: %v", c.name, wrong)}
	}
	return nil
}

// wholeMicros reads a column of INT96 and reports whether it has whole microseconds alone.
func (s *source) wholeMicros(ctx context.Context, c *columnReader) (whole bool, err error) {
	whole = true
	for i := 0; i < len(s.groups) && whole && err == nil; i++ {
		if err = ctx.Err(); err == nil {
			err = c.begin(s, &s.groups[i])
		}
		if err == nil {
			whole, err = c.wholeMicros(s.file.Name())
		}
	}
	return whole, err
}

func (c *columnReader) wholeMicros(path string) (whole bool, err error) {
	defer explain(path, c.name, &err)
	for {
		n, err := c.values.ReadValues(c.buffer[:])
		for i := range c.buffer[:n] {
			if v := &c.buffer[i]; !v.IsNull() && int96Nanos(v)%1000 != 0 {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}
