package hdb

import (
	"errors"
	"testing"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

// TestDamagedSegment damages one block of the stored values of a table with many blocks: the
// segments in other blocks still open.
func TestDamagedSegment(t *testing.T) {
	const rows = 200_000
	s := &sample{rows: rows, word: 32}
	keys := make([]uint64, rows)
	for row := range keys {
		keys[row] = uint64(row) * 0x9e3779b97f4a7c15 >> 20 // more than 32 bits
	}
	s.add(column.Column{Name: "c", Type: column.Uint}, 1, keys, nil)
	data := s.image(t)
	e := table(t, data)[secPacked]
	segments := (rows + codec.SegmentLen - 1) / codec.SegmentLen
	part := 0
	for at := e.Offset + 1000; at < e.Offset+e.Length; at += 3 * container.BlockSize {
		data[at] ^= 1
		f, err := fromBytes("x", data, true)
		if err != nil {
			t.Fatal(err)
		}
		damaged := 0
		for i := range segments {
			low, high, err := f.Table().Segments(0, i, i+1)
			if err != nil {
				containertest.WantCorrupt(t, err, "x")
				damaged++
				continue
			}
			var values [2][codec.SegmentLen]uint32
			n, err := low.Decode(i, &values[0])
			_, err2 := high.Decode(i, &values[1])
			for k := range n {
				if got := uint64(values[1][k])<<32 | uint64(values[0][k]); got != s.columns[0].code(i*codec.SegmentLen+k) {
					t.Fatalf("row %d has code %d", i*codec.SegmentLen+k, got)
				}
			}
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case damaged == 0:
			t.Errorf("no segment is damaged by byte %d", at)
		case damaged < segments: // all are where the block has a part of the directory
			part++
		}
		data[at] ^= 1
	}
	if part < 3 {
		t.Errorf("%d blocks damaged a part of the segments", part)
	}
}
