// Package arrow writes results as streams of Apache Arrow (the IPC streaming format).
//
// Integers, floats and booleans have the types of the same names. Decimals are decimal128 of 38
// digits. Times are in UTC, in microseconds or nanoseconds; infinite times are the ends of the
// range of 64 bits. Texts are utf8, or binary if the dictionary of the column has a text that
// is not UTF-8. A multi-valued column is a list. Every column is nullable.
package arrow

import (
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"heddle/engine/table/column"
	"heddle/engine/table/values"
)

// New returns a Writer of a stream. The first batch gives the columns.
func New(w io.Writer) values.Writer { return &writer{w: w} }

type writer struct {
	w      io.Writer
	schema *arrow.Schema
	stream *ipc.Writer // nil before the first batch
}

// Write implements values.Writer.
func (x *writer) Write(b values.Batch) error {
	if x.stream == nil {
		var fields []arrow.Field
		for i := range b {
			single := typeOf(&b[i].Column)
			if b[i].Starts != nil {
				single = arrow.ListOf(single)
			}
			fields = append(fields, arrow.Field{Name: b[i].Name, Type: single, Nullable: true})
		}
		x.schema = arrow.NewSchema(fields, nil)
		x.stream = ipc.NewWriter(x.w, ipc.WithSchema(x.schema))
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, x.schema)
	defer builder.Release()
	for k := range b {
		if b[k].Starts != nil {
			fillLists(builder.Field(k).(*array.ListBuilder), &b[k])
		} else {
			fill(builder.Field(k), &b[k], b[k].Codes)
		}
	}
	batch := builder.NewRecordBatch()
	defer batch.Release()
	return x.stream.Write(batch)
}

// Close implements values.Writer.
func (x *writer) Close() error {
	if x.stream == nil {
		return nil
	}
	return x.stream.Close()
}

// typeOf is the type of a column.
func typeOf(c *column.Column) arrow.DataType {
	switch c.Type {
	case column.Int:
		return arrow.PrimitiveTypes.Int64
	case column.Uint:
		return arrow.PrimitiveTypes.Uint64
	case column.Float:
		return arrow.PrimitiveTypes.Float64
	case column.Float32:
		return arrow.PrimitiveTypes.Float32
	case column.Bool:
		return arrow.FixedWidthTypes.Boolean
	case column.Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case column.TimestampNS:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	case column.Decimal, column.Decimal128:
		return &arrow.Decimal128Type{Precision: column.MaxScale, Scale: int32(c.Scale)}
	}
	if c.UTF8() {
		return arrow.BinaryTypes.String
	}
	return arrow.BinaryTypes.Binary
}

// fillLists appends the rows of a multi-valued column to its builder.
func fillLists(to *array.ListBuilder, c *values.Column) {
	single := *c
	single.Starts = nil
	for i := range c.Len() {
		if to.Append(!c.Null(i)); !c.Null(i) {
			fill(to.ValueBuilder(), &single, c.Row(i))
		}
	}
}

// fill appends codes of a column to a builder: of all rows, or of a column without missing values.
func fill(to array.Builder, c *values.Column, codes []uint64) {
	to.Reserve(len(codes))
	for i, code := range codes {
		key := c.Key(code)
		if c.Null(i) {
			to.AppendNull()
			continue
		}
		switch to := to.(type) {
		case *array.Int64Builder:
			to.Append(column.KeyInt(key))
		case *array.Uint64Builder:
			to.Append(key)
		case *array.Float64Builder:
			to.Append(c.Float(code))
		case *array.Float32Builder:
			to.Append(float32(c.Float(code)))
		case *array.BooleanBuilder:
			to.Append(key != 0)
		case *array.TimestampBuilder:
			to.Append(arrow.Timestamp(column.KeyInt(key)))
		case *array.Decimal128Builder:
			wide := c.Wide(code)
			to.Append(decimal128.New(int64(binary.BigEndian.Uint64(wide[:8])), binary.BigEndian.Uint64(wide[8:])))
		case *array.StringBuilder:
			to.Append(c.Dictionary[key])
		case *array.BinaryBuilder:
			to.Append([]byte(c.Dictionary[key]))
		}
	}
}
