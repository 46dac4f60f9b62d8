package arrow

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// TestWriteRows reads the streams again.
func TestWriteRows(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1 << 16, 1<<16 + 1, 200_001} {
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = rand.Uint32()
		}
		var stream bytes.Buffer
		if err := WriteRows(&stream, rows); err != nil {
			t.Fatal(err)
		}
		if got, err := readRows(&stream); err != nil || !slices.Equal(got, rows) || stream.Len() > 0 {
			t.Errorf("%d rows: read %d, %d bytes are left, %v", n, len(got), stream.Len(), err)
		}
	}
}

// readRows returns the rows of a stream.
func readRows(in io.Reader) (rows []uint32, err error) {
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

// full is a writer that takes some bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// TestWriteRowsFails writes to a writer that fails at the schema, at each batch, and at the end.
func TestWriteRowsFails(t *testing.T) {
	rows := make([]uint32, rowsPerBatch+1)
	var whole bytes.Buffer
	if err := WriteRows(&whole, rows); err != nil {
		t.Fatal(err)
	}
	for _, room := range []full{0, 200, full(whole.Len()) - 100, full(whole.Len()) - 1} {
		if err := WriteRows(&room, rows); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("room for %d bytes of %d: %v", room, whole.Len(), err)
		}
	}
}
