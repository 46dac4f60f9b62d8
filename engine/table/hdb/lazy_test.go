package hdb

import (
	"testing"

	"heddle/codec/bitslice"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

// TestDamagedTile damages one block of the stored values of a table with many blocks: the
// tiles in other blocks still open.
func TestDamagedTile(t *testing.T) {
	const rows = 200_000
	s := &sample{rows: rows, word: 32}
	keys := make([]uint64, rows)
	for row := range keys {
		keys[row] = uint64(row) * 0x9e3779b97f4a7c15 >> 20 // more than 32 bits
	}
	s.add(column.Column{Name: "c", Type: column.Uint}, 1, keys, nil)
	data := s.image(t)
	e := table(t, data)[secSlices]
	tiles := bitslice.Tiles(rows)
	part := 0
	for at := e.Offset + 1000; at < e.Offset+e.Length; at += 3 * container.BlockSize {
		data[at] ^= 1
		f, err := fromBytes("x", data, true)
		if err != nil {
			t.Fatal(err)
		}
		damaged := 0
		for i := range tiles {
			column, err := f.Table().Tiles(0, i, i+1)
			if err != nil {
				containertest.WantCorrupt(t, err, "x")
				damaged++
				continue
			}
			var codes [bitslice.TileRows]uint64
			for k, code := range codes[:column.Decode(i, &codes)] {
				if row := i*bitslice.TileRows + k; code != s.columns[0].code(row) {
					t.Fatalf("row %d has code %d", row, code)
				}
			}
		}
		if damaged == 0 {
			t.Errorf("no tile is damaged by byte %d", at)
		} else if damaged < tiles {
			part++
		}
		data[at] ^= 1
	}
	if part < 3 {
		t.Errorf("%d blocks damaged a part of the tiles", part)
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
			if words := section(s) == secVectors || section(s) == secSlices; words && err != nil {
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
