package arrow

import (
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Type is the media type of a stream.
const Type = "application/vnd.apache.arrow.stream"

// rowsPerBatch is the number of rows of a record batch of WriteRows.
const rowsPerBatch = 1 << 16

// WriteRows writes row numbers as a stream with one column, "row", of type uint32 without nulls.
func WriteRows(w io.Writer, rows []uint32) error {
	kind := arrow.PrimitiveTypes.Uint32
	schema := arrow.NewSchema([]arrow.Field{{Name: "row", Type: kind}}, nil)
	stream := ipc.NewWriter(w, ipc.WithSchema(schema))
	for part := range slices.Chunk(rows, rowsPerBatch) {
		bytes := memory.NewBufferBytes(arrow.Uint32Traits.CastToBytes(part))
		column := array.NewUint32Data(array.NewData(kind, len(part), []*memory.Buffer{nil, bytes}, nil, 0, 0))
		if err := stream.Write(array.NewRecordBatch(schema, []arrow.Array{column}, int64(len(part)))); err != nil {
			return err
		}
	}
	return stream.Close()
}
