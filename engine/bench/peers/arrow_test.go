package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	heddle "heddle/engine/server/arrow"
)

// TestArrow reads the streams of package arrow with the library of the Arrow project.
func TestArrow(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1 << 16, 1<<16 + 1, 200_001} {
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = rand.Uint32()
		}
		var stream bytes.Buffer
		if err := heddle.Write(&stream, rows); err != nil {
			t.Fatal(err)
		}
		if got, err := read(&stream); err != nil || !slices.Equal(got, rows) || stream.Len() > 0 {
			t.Errorf("%d rows: read %d, %d bytes are left, %v", n, len(got), stream.Len(), err)
		}
	}
}

// read returns the rows of a stream.
func read(in io.Reader) (rows []uint32, err error) {
	r, err := ipc.NewReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	want := arrow.NewSchema([]arrow.Field{{Name: "row", Type: arrow.PrimitiveTypes.Uint32}}, nil)
	if !r.Schema().Equal(want) {
		return nil, errors.New(r.Schema().String())
	}
	for r.Next() {
		column, ok := r.RecordBatch().Column(0).(*array.Uint32)
		if !ok || column.NullN() > 0 || int(r.RecordBatch().NumRows()) != column.Len() {
			return nil, errors.New("a batch with another column")
		}
		rows = append(rows, column.Uint32Values()...)
	}
	return rows, r.Err()
}
