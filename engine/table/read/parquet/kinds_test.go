package parquet

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// TestParquetKinds reads small files of other writers: a column of type NULL, pages of version 2 without bytes, keys
// without values, a byte behind the texts of a page, and a row group without rows. DuckDB gives the same values.
func TestParquetKinds(t *testing.T) {
	padded := ""
	for i := 1; i < 24; i++ {
		padded += fmt.Sprintf("[%d.00] ", i)
	}
	padded += "[0.00]"
	for name, want := range map[string]string{
		"null-type.parquet":     "[id int val string] [[1 -] [2 -] [3 -]]",
		"empty-page-v2.parquet": "[value float32] [[-]]",
		"column-keys.parquet":   "[column1 int column2 int] []",
		"no-rows.parquet":       "[col1 int __index_level_0__ int] []",
		"padded-page.parquet":   "[value decimal of scale 2] [" + padded + "]",
	} {
		s, err := Open(t.Context(), []string{filepath.Join("testdata", name)}, Options{})
		got, err := readtest.ReadAll(t, s, err)
		if text := strings.ReplaceAll(fmt.Sprint(got.Fields, " ", got.Rows), readtest.Missing, "-"); err != nil || text != want {
			t.Errorf("%s: %s, error %v, want %s", name, text, err, want)
		}
	}
}

// TestWrongSize reads a column whose size leaves out its dictionary, as older writers have it.
func TestWrongSize(t *testing.T) {
	s, err := Open(t.Context(), []string{"testdata/wrong-size.parquet"}, Options{Columns: []string{"name"}})
	got, err := readtest.ReadAll(t, s, err)
	if err != nil || len(got.Rows) != 25 || fmt.Sprint(got.Rows[0], got.Rows[24]) != "[ALGERIA] [UNITED STATES]" {
		t.Errorf("%v, error %v", got.Rows, err)
	}
}

// TestFloat16 converts each kind of float of 16 bits, as IEEE 754 has them.
func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x8000: 0, 0x0001: math.Ldexp(1, -24), 0x83ff: -math.Ldexp(1023, -24), 0x0400: math.Ldexp(1, -14), 0x3c00: 1, 0xc000: -2,
		0x3555: 0.333251953125, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		v := parquet.FixedLenByteArrayValue([]byte{byte(bits), byte(bits >> 8)})
		if got := float64(column.KeyFloat32(float16Key(&v))); got != want {
			t.Errorf("%#x: %v, want %v", bits, got, want)
		}
	}
	v := parquet.FixedLenByteArrayValue([]byte{0x01, 0x7e})
	if got := column.KeyFloat32(float16Key(&v)); got == got {
		t.Errorf("%v, want NaN", got)
	}
}

// TestLZ4 decompresses frames of Hadoop, and blocks without frames.
func TestLZ4(t *testing.T) {
	text := []byte(strings.Repeat("abcdefgh", 100))
	block := make([]byte, lz4.CompressBlockBound(len(text)))
	n, err := lz4.CompressBlock(text, block, nil)
	if err != nil {
		t.Fatal(err)
	}
	block = block[:n]
	frame := append([]byte{0, 0, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, byte(n)}, block...)
	for name, c := range map[string]struct {
		data []byte
		size int
		want string
	}{
		"block":           {block, len(text), string(text)},
		"frame":           {frame, len(text), string(text)},
		"two frames":      {append(append([]byte{}, frame...), frame...), 2 * len(text), string(text) + string(text)},
		"nothing":         {nil, 0, ""},
		"cut":             {frame[:len(frame)-3], len(text), "error"},
		"a size too few":  {frame, len(text) - 1, "error"},
		"a size too many": {frame, len(text) + 1, "error"},
		"negative":        {block, -1, "error"},
	} {
		got, err := decompress(lz4Hadoop, c.data, c.size)
		if err != nil {
			got = []byte("error")
		}
		if string(got) != c.want {
			t.Errorf("%s: %.20q, error %v, want %.20q", name, got, err, c.want)
		}
	}
	if got, err := decompress(format.Snappy, nil, 0); err != nil || len(got) > 0 {
		t.Errorf("a page without bytes: %q, %v", got, err)
	}
}

// TestParquetUnfit leaves out rows with times that no type holds, and names the remedy.
func TestParquetUnfit(t *testing.T) {
	type row struct {
		N  int64 `parquet:"n"`
		At int64 `parquet:"at,timestamp(millisecond)"`
	}
	path := parquetFile(t, "far.parquet", 9, []row{{1, 1000}, {2, math.MaxInt64 - 1}, {3, 2000}})
	s, err := Open(t.Context(), []string{path}, Options{Invalid: input.Skip})
	got, err := readtest.ReadAll(t, s, err)
	if err != nil || fmt.Sprint(got.Rows) != "[[1 1970-01-01T00:00:01Z] [3 1970-01-01T00:00:02Z]]" {
		t.Errorf("%v, error %v", got.Rows, err)
	}
	if n := s.Invalid(); n.Rows != 1 || !strings.Contains(n.First.Error(), `far.parquet: column "at": row 1 (from 0): 9223372036854775806 milliseconds`) {
		t.Errorf("%+v", n)
	}
	s, err = Open(t.Context(), []string{path}, Options{Invalid: input.Replace})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, `column "at": row 1`, "--invalid skip leaves the row out")
}

// TestParquetUnfitLists leaves out rows of a list with a time that no type holds.
func TestParquetUnfitLists(t *testing.T) {
	type row struct {
		N  int64   `parquet:"n"`
		At []int64 `parquet:"at,list" parquet-element:",timestamp(millisecond)"`
	}
	path := parquetFile(t, "far.parquet", 9, []row{{1, []int64{1000, 2000}}, {2, []int64{1, math.MaxInt64 - 1, 2}}, {3, nil}, {4, []int64{3000}}})
	s, err := Open(t.Context(), []string{path}, Options{Invalid: input.Skip})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b read.Batch
	if err := s.Next(t.Context(), &b); err != nil || b.Rows != 3 || fmt.Sprint(b.Columns[1].Counts) != "[2 0 1]" || len(b.Columns[1].Elements.Keys) != 3 || s.Invalid().Rows != 1 {
		t.Errorf("%d rows, counts %v, error %v, %+v", b.Rows, b.Columns[1].Counts, err, s.Invalid())
	}
}
