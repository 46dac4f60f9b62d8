package hdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
	"heddle/engine/plan/testneeds"
)

// fromBytes is Open, or OpenTrusted, of a file in memory.
func fromBytes(path string, data []byte, deep bool) (*File, error) {
	file, err := container.New(path, data, &format)
	if err != nil {
		return nil, err
	}
	return newFile(file, deep, true)
}

// table reads the section table of a good file.
func table(t testing.TB, data []byte) []container.Extent {
	t.Helper()
	h, err := format.Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	return h.Table
}

// exercise reads the whole content of f. Answers may be wrong, but nothing may panic,
// and errors must have the right type.
func exercise(t *testing.T, f *File) {
	t.Helper()
	if err := f.Table().Validate(); err != nil {
		t.Fatalf("the table of an open file is not valid: %v", err)
	}
	typed := func(err error) {
		if err != nil && !errors.Is(err, wah.ErrCorrupt) {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	f.eachVector(t, func(_ uint32, _ []uint64, err error) { typed(err) })
	f.eachCodes(t, func(_ int, _ []uint64, err error) { typed(err) })
	for i, c := range f.Columns() {
		if int(c.Vector)+c.Vectors() > len(f.table.Vectors) {
			t.Fatalf("column %d has vectors %d to %d of %d", i, c.Vector, int(c.Vector)+c.Vectors(), len(f.table.Vectors))
		}
		for _, b := range c.Bins {
			c.Find(b.Lo)
			c.Format(b.Hi)
		}
		f.ColumnSize(i)
		if l := f.List(i); l != nil {
			if err := l.Table.Validate(); err != nil {
				t.Fatalf("the values of column %d are not valid: %v", i, err)
			}
		}
	}
	f.Meta()
	f.Sections()
	f.Checksum()
	if err := f.Verify(context.Background()); err != nil {
		containertest.WantCorrupt(t, err, f.Path())
	}
}

// answers reads all of f, a damaged file of s: each answer is correct or the typed error.
func (s *sample) answers(t *testing.T, f *File) {
	t.Helper()
	column, first := 0, uint32(0)
	f.eachVector(t, func(v uint32, rows []uint64, err error) {
		for v-first == uint32(s.columns[column].Vectors()) {
			first, column = v, column+1
		}
		for row := range int(s.rows) {
			if err == nil && rows[row/64]>>(row%64)&1 == 1 != s.columns[column].has(int(v-first), row) {
				t.Fatalf("column %d, vector %d, row %d is wrong", column, v-first, row)
			}
		}
		if err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
	})
	f.eachCodes(t, func(column int, codes []uint64, err error) {
		for row, code := range codes {
			if want := s.columns[column].code(row); err == nil && code != want {
				t.Fatalf("column %d, row %d has code %d, want %d", column, row, code, want)
			}
		}
		if err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
	})
}

// eachVector calls got with the rows of every vector, or an error.
func (f *File) eachVector(t *testing.T, got func(v uint32, rows []uint64, err error)) {
	t.Helper()
	tb := f.Table()
	for v := range uint32(len(tb.Vectors)) {
		rows := make([]uint64, wah.Bitset(uint64(tb.Rows)))
		got(v, rows, mapped.Run(func() error {
			if tb.Word() == 64 {
				return wah.Decompress(rows, tb.Vector64(v), uint64(tb.Rows))
			}
			return wah.Decompress(rows, tb.Vector32(v), uint64(tb.Rows))
		}))
	}
}

// eachCodes calls got with the codes of every column, or an error.
func (f *File) eachCodes(t *testing.T, got func(column int, codes []uint64, err error)) {
	t.Helper()
	for i := range f.Columns() {
		column, err := f.Table().Codes(uint32(i))
		var codes []uint64
		for row := uint32(0); row < column.Rows; row++ {
			code, _ := column.At(row)
			codes = append(codes, code)
		}
		got(i, codes, err)
	}
}

// TestFlippedBytes changes every byte, in the second table every byte outside of
// padding. Open or the first reader of the damaged block reports it, and Verify does in any
// case. Without checksums, nothing panics.
func TestFlippedBytes(t *testing.T) {
	testneeds.Long(t)
	for k, s := range []*sample{tiny(), second()} {
		data := s.image(t)
		sections := table(t, data)
		for i, old := range data {
			where, padding := container.HeaderName, false
			for s, e := range sections {
				if uint64(i) >= e.Offset && uint64(i) < e.End() {
					where, padding = section(s).String(), uint64(i) >= e.Offset+e.Length
				}
			}
			if padding && k == 1 {
				continue
			}
			data[i] ^= 1 << (i % 8)
			f, err := fromBytes("x", data, true)
			if lazy := where == secVectors.String() || where == secSlices.String(); lazy != (err == nil) {
				t.Fatalf("byte %d of section %s changed, the error is %v", i, where, err)
			}
			if err == nil {
				s.answers(t, f)
				containertest.WantCorrupt(t, f.CheckWords(), "x")
				err = f.Verify(context.Background())
			}
			if c := containertest.WantCorrupt(t, err, "x"); c.Section != where {
				t.Fatalf("byte %d of section %s changed, the error is %v", i, where, err)
			}
			if !padding && i >= PageSize {
				if f, err := fromBytes("x", data, false); err != nil {
					containertest.WantCorrupt(t, err, "x")
				} else {
					exercise(t, f)
				}
			}
			data[i] = old
		}
	}
}

func TestTruncated(t *testing.T) { containertest.Truncated(t, tiny().image(t), Open, fromBytes) }

func TestOpenErrors(t *testing.T) {
	containertest.OpenErrors(t, &format, tiny().image(t), Open, fromBytes)
}

// How far a change of the content gets.
const (
	always = iota // no open takes it
	deep          // OpenTrusted takes it, Open does not
	verify        // Verify alone sees it
)

// TestCrafted changes content under right checksums.
func TestCrafted(t *testing.T) {
	le := binary.LittleEndian
	put32 := func(b []byte, at int, v uint32) { le.PutUint32(b[at:], v) }
	put64 := func(b []byte, at int, v uint64) { le.PutUint64(b[at:], v) }
	text := func(old, with string) func(b []byte) {
		return func(b []byte) {
			if len(old) != len(with) || bytes.Count(b, []byte(old)) == 0 {
				t.Fatalf("%q for %q", with, old)
			}
			copy(b, bytes.Replace(b, []byte(old), []byte(with), 1))
		}
	}
	const header = numSections // the header page instead of a section
	entry := func(s section) int { return container.TableOffset + int(s)*container.TableEntry }
	for _, c := range []struct {
		name    string
		section section
		change  func(b []byte)
		seen    int
		want    string // section and start of the reason
	}{
		{"more rows", header, func(b []byte) { put32(b, 24, 41) }, always, "bins: column \"delay\": the bins have 35 rows, 5 are without a value, the table has 41"},
		{"rows at the limit", header, func(b []byte) { put32(b, 24, math.MaxUint32) }, always, "bins: "},
		{"word", header, func(b []byte) { put32(b, 28, 48) }, always, "header: vectors of 48-bit words"},
		{"the other word", header, func(b []byte) { put32(b, 28, 64) }, always, "vector-table: vector 0 has 2 words for 1 groups"},
		{"more columns", header, func(b []byte) { put32(b, 32, 5) }, always, "columns: 4 columns, the header says 5"},
		{"more vectors", header, func(b []byte) { put32(b, 36, 11) }, always, "header: section vector-table"},
		{"more bins", header, func(b []byte) { put64(b, 40, math.MaxUint64) }, always, "header: section bins"},
		{"bins that wrap", header, func(b []byte) { put64(b, 40, 11+1<<61) }, always, "header: section bins"},
		{"more strings", header, func(b []byte) { put64(b, 48, 4) }, always, "header: section string-offsets"},
		{"strings at the limit", header, func(b []byte) { put64(b, 48, math.MaxUint64) }, always, "header: section string-offsets"},
		{"no string offsets", header, func(b []byte) { put64(b, 48, math.MaxUint64); put64(b, entry(secStringOffsets)+16, 0) }, always, "header: "},
		{"section number", header, func(b []byte) { put32(b, entry(secVectors), 3) }, always, "header: section 3 in the place of 0"},
		{"odd length of vectors", header, func(b []byte) { put64(b, entry(secVectors)+16, 40) }, always, "header: section vectors has 40 bytes, not a multiple of 16"},
		{"fewer vectors", header, func(b []byte) { put64(b, entry(secVectors)+16, 16) }, always, "vector-table: vector 1 of 2 words at word 4 ends behind"},
		{"odd length of values", header, func(b []byte) { put64(b, entry(secSlices)+16, 4) }, always, "header: section slices has 4 bytes, not a multiple of 16"},

		{"vector offset", secVectorTable, func(b []byte) { put64(b, vectorSize, 8) }, always, "vector-table: vector 1 starts at word 8"},
		{"vector offset at the limit", secVectorTable, func(b []byte) { put64(b, 0, math.MaxUint64) }, always, "vector-table: vector 0 starts at word"},
		{"words at the limit", secVectorTable, func(b []byte) { put32(b, 8, math.MaxUint32) }, always, "vector-table: vector 0 of 4294967295 words"},
		{"no words", secVectorTable, func(b []byte) { put32(b, 8, 0) }, always, "vector-table: vector 0 has 0 words"},
		{"fewer words", secVectorTable, func(b []byte) { put32(b, 8, 1) }, verify, "vectors: vector 0: "},
		{"reserved bytes of a vector", secVectorTable, func(b []byte) { b[15] = 1 }, always, "vector-table: vector 0 has reserved bytes"},

		{"odd length of tiles", header, func(b []byte) { put64(b, entry(secTiles)+16, 33) }, always, "header: section tiles has 33 bytes, not a multiple of 32"},
		{"fewer tiles", header, func(b []byte) { put64(b, entry(secTiles)+16, 96) }, always, "tiles: 3 tiles, the columns up to 3 have 4"},
		{"more tiles", header, func(b []byte) { put64(b, entry(secTiles)+16, 160) }, always, "tiles: 4 tiles end at word"},
		{"tile offset", secTiles, func(b []byte) { put64(b, tileSize, 4) }, always, "tiles: column 1, tile 0: starts at word 4"},
		{"tile offset at the limit", secTiles, func(b []byte) { put64(b, 0, math.MaxUint64) }, always, "tiles: column 0, tile 0: starts at word"},
		{"words of a tile", secTiles, func(b []byte) { put32(b, 2*tileSize+20, 4) }, always, "tiles: column 2: corrupt bit slices: tile 0: "},
		{"words of a tile at the limit", secTiles, func(b []byte) { put32(b, 2*tileSize+20, math.MaxUint32) }, always, "tiles: column 2: corrupt bit slices: tile 0: words"},
		{"width", secTiles, func(b []byte) { b[16] = 65 }, always, "tiles: column 0: corrupt bit slices: tile 0: width 65"},
		{"rows of a tile", secTiles, func(b []byte) { b[18]++ }, always, "tiles: column 0: corrupt bit slices: tile 0: 41 rows instead of 40"},
		{"rows with a value", secTiles, func(b []byte) { b[24]-- }, verify, "slices: values of column \"delay\": corrupt bit slices: tile 0: 35 rows with a value instead of 34"},
		{"reserved bytes of a tile", secTiles, func(b []byte) { b[31] = 1 }, always, "tiles: column 0, tile 0: reserved bytes"},
		{"minimum", secTiles, func(b []byte) { b[tileSize+8] = 9 }, verify, "slices: column \"carrier\": row 0 has code 9, which is in no bin"},

		{"bin upside down", secBins, func(b []byte) { put64(b, 0, 3) }, always, "bins: column \"delay\": bin 0 has codes 3 to 2"},
		{"bins overlap", secBins, func(b []byte) { put64(b, binSize, 2) }, always, "bins: column \"delay\": bin 1 starts at code 2"},
		{"bin without rows", secBins, func(b []byte) { put32(b, 16, 0) }, always, "bins: column \"delay\": bin 0 has no rows"},
		{"bin with more rows", secBins, func(b []byte) { b[16]++ }, always, "bins: column \"delay\": the bins have 36 rows"},
		{"rows of another bin", secBins, func(b []byte) { b[16]++; b[16+binSize]-- }, verify, "vectors: vector 0: 17 ones, its bins have 18 rows"},
		{"reserved bytes of a bin", secBins, func(b []byte) { b[20] = 1 }, always, "bins: column \"delay\": bin 0 has reserved bytes"},
		{"loose bin", secBins, func(b []byte) { put64(b, 2*binSize+8, 7) }, verify, "bins: column \"delay\": bin 2 has codes 6 to 7 of 4 rows, its rows have 6 to 6"},
		{"code between bins", secBins, func(b []byte) { put64(b, binSize, 4) }, verify, "slices: column \"delay\": row 3 has code 3, which is in no bin"},
		{"code beyond the dictionary", secBins, func(b []byte) { put64(b, 5*binSize+8, 3) }, always, "columns: column 1 (\"carrier\"): key 3, the dictionary has 3 entries"},
		{"keys wrap", secBins, func(b []byte) { put64(b, len(b)-16-binSize, math.MaxUint64) }, always, "columns: column 2 (\"seen\"): base 9223372036854775808, with codes up to 18446744073709551615"},

		{"first string offset", secStringOffsets, func(b []byte) { put64(b, 0, 1) }, always, "string-offsets: the first offset"},
		{"last string offset", secStringOffsets, func(b []byte) { put64(b, 24, 5) }, always, "string-offsets: the last offset"},
		{"string offset at the limit", secStringOffsets, func(b []byte) { put64(b, 8, math.MaxUint64) }, always, "string-offsets: offset"},
		{"strings descend", secStrings, func(b []byte) { b[2] = 'A'; b[3] = 'A' }, deep, "strings: column \"carrier\": entry 1"},

		{"columns are no list", secColumns, func(b []byte) { b[0] = '{' }, always, "columns: "},
		{"columns are null", secColumns, func(b []byte) { copy(b, "null"); copy(b[4:], bytes.Repeat([]byte(" "), len(b))) }, always, "columns: not a list of columns"},
		{"a name twice", secColumns, text(`"name":"delay","type"`, `"name":"seen","type" `), always, "columns: column 2 (\"seen\"): the name comes twice"},
		{"no name", secColumns, text(`"name":"seen"`, `"nema":"seen"`), always, "columns: column 2 (\"\"): it has no name"},
		{"unknown type", secColumns, text(`"int"`, `"xyz"`), always, "columns: "},
		{"type of a dictionary", secColumns, text(`"string"`, `"float" `), always, "columns: column 1 (\"carrier\"): a dictionary for values of type float"},
		{"keys of a boolean", secColumns, text(`"timestamp"`, `"bool"     `), always, "columns: column 2 (\"seen\"): key 9223372047654775808 of a boolean"},
		{"auto", secColumns, text(`"distinct"`, `"auto"    `), always, "columns: column 1 (\"carrier\"): binning 0"},
		{"unknown encoding", secColumns, text(`"range"`, `"rings"`), always, "columns: column 1 (\"carrier\"): "},
		{"another encoding", secColumns, text(`"interval"`, `"equality"`), always, "columns: column 3 (\"fee\"): its vectors end at"},
		{"fewer missing", secColumns, text(`"missing":5`, `"missing":4`), always, "bins: column \"delay\": the bins have 35 rows, 4 are"},
		{"more bins than there are", secColumns, text(`"bins":4`, `"bins":9`), always, "columns: column 2 (\"seen\"): 9 bins and 0 strings, 5 and 0 are left"},
		{"fewer bins", secColumns, text(`"bins":4`, `"bins":3`), always, "bins: column \"seen\": the bins have 30 rows"},
		{"more strings than there are", secColumns, text(`"strings":3`, `"strings":4`), always, "columns: column 1 (\"carrier\"): 3 bins and 4 strings"},
		{"base is no number", secColumns, text(`"base":"0"`, `"base":"x"`), always, "columns: "},
		{"missing is no number", secColumns, text(`"missing":5`, `"missing":x`), always, "columns: "},
		{"more ranks than there are", secColumns, text(`"ranks":3`, `"ranks":4`), always, "columns: column 3 (\"fee\"): 4 ranks, 3 are left"},
		{"fewer ranks", secColumns, text(`"ranks":3`, `"ranks":2`), always, "columns: column 3 (\"fee\"): 2 ranks, the codes end at 2"},
		{"ranks of no column", secColumns, text(`,"ranks":3`, `          `), always, "ranks: 3 ranks, the columns have 0"},
		{"ranks descend", secRanks, func(b []byte) { b[8] = 0; b[9] = 0 }, always, "columns: column 3 (\"fee\"): its ranks do not ascend"},
		{"ranks and a base", secColumns, text(`"base":"0","ranks"`, `"base":"1","ranks"`), always, "columns: column 3 (\"fee\"): ranks beside a base"},
		{"unit is no number", secColumns, text(`"unit":"3600000000"`, `"unit":"36000000oo"`), always, "columns: "},
		{"odd length of ranks", header, func(b []byte) { put64(b, entry(secRanks)+16, 20) }, always, "header: section ranks has 20 bytes, not a multiple of 8"},
		{"meta", secMeta, func(b []byte) { b[0] = '[' }, always, "meta: "},

		{"bits behind the last row", secVectors, func(b []byte) { b[7] |= 0x40 }, verify, "vectors: vector 0: wah32: word 1"},
		{"a fill of no groups", secVectors, func(b []byte) { put32(b, 0, 1<<31) }, verify, "vectors: vector 0: wah32: word 0"},
		{"a row less", secVectors, func(b []byte) { b[0] &^= 1 }, verify, "vectors: vector 0: 16 ones, its bins have 17 rows"},
		{"another row", secVectors, func(b []byte) { b[0] ^= 1<<2 | 1<<3 }, verify, "vectors: column \"delay\": vector 0 has row 3"},
		{"a row of a bin before", secVectors, func(b []byte) { b[16] ^= 1<<2 | 1<<3 }, verify, "vectors: column \"delay\": vector 1 has row 2"},
		{"existence", secSlices, func(b []byte) { b[3] |= 0x40 }, verify, "slices: values of column \"delay\": corrupt bit slices: tile 0: 36 rows with a value instead of 35"},
		{"another row without a value", secSlices, func(b []byte) { b[0] ^= 1; b[3] ^= 0x40 }, verify, "slices: column \"delay\": row 30 has code 0 and is among the rows without a value"},
		{"code of another bin", secSlices, func(b []byte) { b[16] ^= 1; b[32] ^= 1; b[48] ^= 1 }, verify, "slices: column \"delay\": row 0 has code 7, which is in no bin"},
		{"directory", secSlices, func(b []byte) { b[4*12+1] |= 0x3f }, verify, "slices: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := tiny().image(t)
			part := data[:PageSize]
			if c.section != header {
				e := table(t, data)[c.section]
				part = data[e.Offset : e.Offset+e.Length]
			}
			c.change(part)
			containertest.RepairSums(data, int(secSums))
			for seen, open := range []bool{false, true} {
				f, err := fromBytes("x", data, open)
				if (c.seen <= seen) != (err != nil) {
					t.Fatalf("deep %v: %v", open, err)
				}
				if err == nil {
					exercise(t, f)
					err = f.Verify(context.Background())
				}
				e := containertest.WantCorrupt(t, err, "x")
				if got := e.Section + ": " + e.Reason; !strings.HasPrefix(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// TestVerifyWide: Verify counts the rows of vectors of 64-bit words, too.
func TestVerifyWide(t *testing.T) {
	data := second().image(t)
	binary.LittleEndian.PutUint64(data[table(t, data)[secVectors].Offset:], 1<<63|1) // a group of zeros
	containertest.RepairSums(data, int(secSums))
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	if c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x"); !strings.HasPrefix(c.Reason, "vector 0: 0 ones") {
		t.Error(c)
	}
}

// TestVerifySums sees that Verify reads the checksums that OpenTrusted does not.
func TestVerifySums(t *testing.T) {
	data := tiny().image(t)
	data[table(t, data)[secSums].Offset-1] ^= 1 // padding of the section before
	f, err := fromBytes("x", data, false)
	if err != nil {
		t.Fatal(err)
	}
	if c := containertest.WantCorrupt(t, f.Verify(context.Background()), "x"); c.Section != secRanks.String() {
		t.Error(c)
	}
}
