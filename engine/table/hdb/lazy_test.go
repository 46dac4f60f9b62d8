package hdb

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
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

// TestDamagedSections damages the first and the last byte of each section: Open reports it, for vectors and
// values CheckWords does.
func TestDamagedSections(t *testing.T) {
	data := tiny().image(t)
	for s, e := range table(t, data)[:secSums] {
		for _, at := range []uint64{e.Offset, e.Offset + e.Length - 1} {
			data[at] ^= 1
			f, err := fromBytes("x", data, true)
			if words := section(s) == secVectors || section(s) == secPacked; words && err != nil {
				t.Errorf("section %v: Open: %v", section(s), err)
			} else if words {
				err = f.CheckWords()
			}
			if c := containertest.WantCorrupt(t, err, "x"); c.Section != section(s).String() {
				t.Errorf("section %v: %v", section(s), err)
			}
			data[at] ^= 1
		}
	}
}

// TestDamagedVector damages a byte of the last block of a vector of several blocks: a reader of the vector notices, a
// reader of the vector before does not.
func TestDamagedVector(t *testing.T) {
	for _, word := range []int{32, 64} {
		const rows = 12 * container.BlockSize
		s := &sample{rows: rows, word: word}
		keys := make([]uint64, rows)
		for row := range keys {
			keys[row] = uint64(row) * 0x9e3779b97f4a7c15 >> 63
		}
		s.add(column.Column{Name: "c", Type: column.Uint}, 2, keys, nil)
		data := s.image(t)
		f, err := fromBytes("x", data, true)
		if err != nil {
			t.Fatal(err)
		}
		v, size := f.table.Vectors[1], uint64(word/8)
		if v.Off*size < container.BlockSize || uint64(v.Words)*size < container.BlockSize {
			t.Fatalf("vector %+v lies in one block", v)
		}
		data[table(t, data)[secVectors].Offset+(v.Off+uint64(v.Words))*size-1] ^= 1
		if f, err = fromBytes("x", data, true); err != nil {
			t.Fatal(err)
		}
		f.eachVector(t, func(v uint32, _ []uint64, err error) {
			if v == 0 && err != nil {
				t.Errorf("vector 0 of %d-bit words: %v", word, err)
			} else if v == 1 {
				containertest.WantCorrupt(t, err, "x")
			}
		})
	}
}

// TestDirectory damages entries of the directory of values: the one where a segment ends lies in the next block, and one is
// less than the entry before.
func TestDirectory(t *testing.T) {
	const entry, rows = 8, (container.BlockSize/8 + 100) * codec.SegmentLen
	s := &sample{rows: rows, word: 32}
	keys := make([]uint64, rows)
	for row := range keys {
		keys[row] = uint64(row) % 3
	}
	s.add(column.Column{Name: "c", Type: column.Uint}, 1, keys, nil)
	data := s.image(t)
	e := table(t, data)[secPacked]
	const first = container.BlockSize / entry // segment whose entry begins a block
	data[e.Offset+first*entry] ^= 1
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Table().Segments(0, first-2, first-1); err != nil {
		t.Error(err)
	}
	_, _, err = f.Table().Segments(0, first-1, first)
	containertest.WantCorrupt(t, err, "x")

	data[e.Offset+first*entry] ^= 1
	binary.LittleEndian.PutUint32(data[e.Offset+5*entry:], binary.LittleEndian.Uint32(data[e.Offset+6*entry:])+1)
	containertest.RepairSums(data, int(secSums))
	if f, err = fromBytes("x", data, true); err != nil {
		t.Fatal(err)
	}
	err = mapped.Run(func() error { _, _, err := f.Table().Segments(0, 5, 6); return err })
	if c := containertest.WantCorrupt(t, err, "x"); !strings.HasPrefix(c.Reason, "segments 5 to 5 lie in words ") {
		t.Error(c)
	}
}
