// Package arrow writes row numbers as a stream of Apache Arrow (the IPC streaming format). A test
// of module engine/bench/peers reads the streams with the library of the Arrow project.
package arrow

import (
	"encoding/binary"
	"encoding/hex"
	"io"
)

// Type is the media type of a stream.
const Type = "application/vnd.apache.arrow.stream"

// perBatch is the number of rows of a record batch.
const perBatch = 1 << 16

// A stream has a single column, "row", of type uint32 without nulls. Its messages therefore differ
// in a few numbers only. These are the encoded messages (metadata version 5), with zeros in place
// of the numbers; the body of a batch follows its message.
var (
	schema = unhex("" +
		"ffffffff780000001000000000000a000c000a00090004000a00000010000000" +
		"0001040008000800000004000800000004000000010000001400000010001400" +
		"100000000f000800000004001000000010000000180000000000000218000000" +
		"000000000000060008000400060000002000000003000000726f770000000000")
	batch = unhex("" +
		"ffffffff8800000014000000000000000c001600140013000c0004000c000000" +
		"0000000000000000140000000000000304000a0018000c00080004000a000000" +
		"1400000038000000000000000000000000000000020000000000000000000000" +
		"0000000000000000000000000000000000000000000000000000000001000000" +
		"00000000000000000000000000000000")
	end = unhex("ffffffff00000000")
)

// Places in batch of numbers of 64 bits.
const (
	bodyLength = 0x20 // bytes of the body, a multiple of 8
	rowsOfAll  = 0x48 // rows of the batch
	dataLength = 0x70 // bytes of the column
	rowsOfData = 0x80 // rows of the column
)

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // the texts are constant
	}
	return b
}

// Write writes a stream with the rows.
func Write(w io.Writer, rows []uint32) error {
	text := append([]byte(nil), schema...)
	for len(rows) > 0 {
		n := min(len(rows), perBatch)
		text = appendBatch(text, rows[:n])
		rows = rows[n:]
		if _, err := w.Write(text); err != nil {
			return err
		}
		text = text[:0]
	}
	_, err := w.Write(append(text, end...))
	return err
}

// appendBatch appends a record batch.
func appendBatch(dst []byte, rows []uint32) []byte {
	head := len(dst)
	dst = append(dst, batch...)
	size := 4 * len(rows)
	padding := size % 8
	for place, n := range map[int]int{bodyLength: size + padding, rowsOfAll: len(rows), dataLength: size, rowsOfData: len(rows)} {
		binary.LittleEndian.PutUint64(dst[head+place:], uint64(n))
	}
	for _, row := range rows {
		dst = binary.LittleEndian.AppendUint32(dst, row)
	}
	return append(dst, make([]byte, padding)...)
}
