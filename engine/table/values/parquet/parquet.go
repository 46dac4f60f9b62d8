// Package parquet writes results as Parquet files.
//
// Integers, floats and booleans have the types of the same names. Decimals have 38 digits, in
// 16 bytes. Times are in UTC, in microseconds or nanoseconds; infinite times are the ends of
// the range of 64 bits, as in DuckDB. Texts have the type STRING, or are plain bytes if the
// dictionary of the column has a text that is not UTF-8. A multi-valued column is a LIST. Every column is optional. Decimals have no
// statistics: parquet-go takes negative values for the greatest.
package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"heddle/engine/table/column"
	"heddle/engine/table/values"
)

// Type is the media type of a file.
const Type = "application/vnd.apache.parquet"

// groupRows is the greatest number of rows of a row group.
const groupRows = 1 << 20

// New returns a Writer of a Parquet file. The first batch gives the columns.
func New(w io.Writer) values.Writer { return &writer{w: w} }

type writer struct {
	w    io.Writer
	file *parquet.GenericWriter[any] // nil before the first batch
	rows []parquet.Row               // rows of a batch
}

// Write implements values.Writer.
func (x *writer) Write(b values.Batch) error {
	if x.file == nil {
		options := []parquet.WriterOption{schema(b), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(groupRows)}
		for i := range b {
			if b[i].Type.IsDecimal() { // their bytes are compared without the sign
				path := []string{b[i].Name}
				if b[i].Starts != nil {
					path = append(path, "list", "element")
				}
				options = append(options, parquet.SkipPageBounds(path...))
			}
		}
		x.file = parquet.NewGenericWriter[any](x.w, options...)
	}
	x.rows = x.rows[:0]
	for i := range b.Len() {
		row := make(parquet.Row, 0, len(b))
		for k := range b {
			if b[k].Null(i) {
				row = append(row, parquet.NullValue().Level(0, 0, k))
				continue
			}
			for n, code := range b[k].Row(i) {
				repeated, defined := 0, 1
				if b[k].Starts != nil {
					repeated, defined = min(n, 1), 2
				}
				row = append(row, value(&b[k], code).Level(repeated, defined, k))
			}
		}
		x.rows = append(x.rows, row)
	}
	_, err := x.file.WriteRows(x.rows)
	return err
}

// Close implements values.Writer.
func (x *writer) Close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// ordered is a group of columns in the order of their names' list.
type ordered struct {
	parquet.Group
	names []string
}

// Fields returns the columns in their order; parquet.Group has the order of names.
func (o ordered) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(o.names))
	for i, name := range o.names {
		fields[i] = byName[name]
	}
	return fields
}

func schema(b values.Batch) *parquet.Schema {
	root := ordered{Group: parquet.Group{}}
	for i := range b {
		single := node(&b[i].Column)
		if b[i].Starts != nil {
			single = parquet.List(single)
		}
		root.Group[b[i].Name] = parquet.Optional(single)
		root.names = append(root.names, b[i].Name)
	}
	return parquet.NewSchema("result", root)
}

// node is the type of a column.
func node(c *column.Column) parquet.Node {
	switch c.Type {
	case column.Int:
		return parquet.Int(64)
	case column.Uint:
		return parquet.Uint(64)
	case column.Float:
		return parquet.Leaf(parquet.DoubleType)
	case column.Float32:
		return parquet.Leaf(parquet.FloatType)
	case column.Bool:
		return parquet.Leaf(parquet.BooleanType)
	case column.Timestamp:
		return parquet.Timestamp(parquet.Microsecond)
	case column.TimestampNS:
		return parquet.Timestamp(parquet.Nanosecond)
	case column.Decimal, column.Decimal128:
		return parquet.Decimal(int(c.Scale), column.MaxScale, parquet.FixedLenByteArrayType(column.WideSize))
	}
	if c.UTF8() {
		return parquet.String()
	}
	return parquet.Leaf(parquet.ByteArrayType)
}

// value is the value of a code.
func value(c *values.Column, code uint64) parquet.Value {
	key := c.Key(code)
	switch c.Type {
	case column.Int, column.Timestamp, column.TimestampNS:
		return parquet.Int64Value(column.KeyInt(key))
	case column.Uint:
		return parquet.Int64Value(int64(key))
	case column.Float:
		return parquet.DoubleValue(c.Float(code))
	case column.Float32:
		return parquet.FloatValue(float32(c.Float(code)))
	case column.Bool:
		return parquet.BooleanValue(key != 0)
	case column.Decimal, column.Decimal128:
		wide := c.Wide(code)
		return parquet.FixedLenByteArrayValue(wide[:])
	}
	return parquet.ByteArrayValue([]byte(c.Dictionary[key]))
}
