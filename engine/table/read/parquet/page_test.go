package parquet

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// wantText fails unless err has a text, or is nil for none.
func wantText(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", name, err, want)
	}
}

// TestPageEnds has pages with one value more than they may have, and the values at the limit.
func TestPageEnds(t *testing.T) {
	for n, want := range map[int]string{10: "", 11: "a page of 11 values in a row group with 10 more", -1: "a page of -1 values"} {
		p := pageReader{typ: parquet.Int32Type, left: 10}
		wantText(t, "a page", p.start(n, nil, nil, make([]byte, 4*max(n, 0)), format.Plain), want)
	}
	dict := parquet.Int32Type.NewDictionary(0, 2, encoding.Int32Values([]int32{7, 8}))
	for i, want := range map[int32]string{0: "", 1: "", 2: "entry 2 of a dictionary with 2", -1: "entry -1 of a dictionary with 2"} {
		r := entryReader{dict, []int32{i}}
		_, err := r.ReadValues(make([]parquet.Value, 1))
		wantText(t, "an index", err, want)
	}

	p := pageReader{typ: parquet.Int32Type, left: 2, dict: dict, defines: 1} // the width of the indexes is absent
	levels := []byte{2 << 1, 0}
	wantText(t, "no value at all", p.start(2, nil, levels, nil, format.RLEDictionary), "")
	got := make([]parquet.Value, 3)
	if n, err := p.ReadValues(got); n != 2 || err != nil || !got[0].IsNull() || !got[1].IsNull() {
		t.Errorf("%v, %v", got[:n], err)
	}
}

// TestPageV2 reads a page whose header does not say that it is compressed: it is.
func TestPageV2(t *testing.T) {
	plain := binary.LittleEndian.AppendUint32(nil, 77)
	var h format.PageHeader
	h.UncompressedPageSize = int32(len(plain))
	h.DataPageHeaderV2.V.NumValues = 1
	p := pageReader{typ: parquet.Int32Type, left: 1, codec: format.Snappy}
	got := make([]parquet.Value, 1)
	wantText(t, "compressed", p.readDataV2(&h, snappy.Encode(nil, plain)), "")
	if n, err := p.ReadValues(got); n != 1 || err != nil || got[0].Int32() != 77 {
		t.Errorf("%v, %v", got, err)
	}
	h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 100
	wantText(t, "long levels", p.readDataV2(&h, plain), "levels of 0 and 100 bytes in a page of 4")
}

// TestChunks: a chunk begins at its first page, whichever kind it has, and knows nothing of the chunk before.
func TestChunks(t *testing.T) {
	opened, err := Open(t.Context(), []string{"testdata/types.parquet"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s := opened.(*source)
	if err := s.open("testdata/types.parquet"); err != nil {
		t.Fatal(err)
	}
	c := &s.columns[0]
	for _, x := range []struct{ data, dictionary, want int64 }{{10, 0, 10}, {10, 50, 10}, {50, 10, 10}} {
		chunk := s.groups[0].Columns[0]
		chunk.MetaData.DataPageOffset, chunk.MetaData.DictionaryPageOffset = x.data, x.dictionary
		if p, err := openChunk(c.column, 1, &chunk, s.file, s.end); err != nil || p.at != x.want {
			t.Errorf("%+v: %+v, %v", x, p, err)
		}
	}
	c.rest = make([]parquet.Value, 3)
	if err := c.begin(s, &s.groups[0]); err != nil || len(c.rest) != 0 {
		t.Errorf("%d values are left of the chunk before, %v", len(c.rest), err)
	}
}

// TestListBegin: a group cannot begin within a list.
func TestListBegin(t *testing.T) {
	c := columnReader{group: 1, rest: []parquet.Value{parquet.Int64Value(1).Level(1, 3, 0)}}
	wantText(t, "a list", c.readLists("x", new(read.Values), 0, 1), "row group 1: a row begins within a list")
}

// TestFirstInvalid names the first row with a wrong text, whichever column has it.
func TestFirstInvalid(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}
	for want, rows := range map[string][]row{
		`column "b": row 1 (from 0)`: {{"", ""}, {"", "\xff"}, {"\xff", ""}},
		`column "a": row 1 (from 0)`: {{"", ""}, {"\xff", ""}, {"", "\xff"}},
	} {
		s, err := Open(t.Context(), []string{parquetFile(t, "x.parquet", 9, rows)}, Options{Invalid: input.Fail})
		_, err = readtest.ReadAll(t, s, err)
		readtest.WantError(t, err, want)
	}
}

// TestFooterSize: a footer lies behind the first mark.
func TestFooterSize(t *testing.T) {
	good, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{len(good) - 11, len(good)} {
		binary.LittleEndian.PutUint32(good[len(good)-8:], uint32(size))
		s, err := Open(t.Context(), []string{readtest.Write(t, "x.parquet", string(good))}, Options{})
		_, err = readtest.ReadAll(t, s, err)
		readtest.WantError(t, err, "x.parquet: a footer of")
	}
}
