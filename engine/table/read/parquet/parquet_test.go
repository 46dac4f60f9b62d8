package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// everyRow has a column of each type that Parquet files have.
type everyRow struct {
	I8    int8             `parquet:"i8"`
	I32   int32            `parquet:"i32"`
	I64   int64            `parquet:"i64,delta"`
	U8    uint8            `parquet:"u8"`
	U32   uint32           `parquet:"u32"`
	U64   uint64           `parquet:"u64"`
	F32   float32          `parquet:"f32"`
	F64   float64          `parquet:"f64"`
	Bool  bool             `parquet:"bool"`
	Text  string           `parquet:"text"`
	Coded string           `parquet:"coded,dict,zstd"`
	Bytes []byte           `parquet:"bytes"`
	Fixed [3]byte          `parquet:"fixed"`
	Date  int32            `parquet:"date,date"`
	Milli time.Time        `parquet:"milli,timestamp(millisecond)"`
	Micro time.Time        `parquet:"micro,timestamp(microsecond)"`
	Nano  int64            `parquet:"nano,timestamp(nanosecond)"`
	Old   deprecated.Int96 `parquet:"old"`
	Small int32            `parquet:"small,decimal(2:9)"`
	Whole int64            `parquet:"whole,decimal(0:18)"`
	Big   [16]byte         `parquet:"big,decimal(3:38)"`
	Mid   [8]byte          `parquet:"mid,decimal(1:18)"`
	Maybe *int64           `parquet:"maybe,optional"`
	Word  *string          `parquet:"word,optional,dict"`
}

// parquetFile writes rows in groups of so many.
func parquetFile[T any](t testing.TB, name string, group int, rows []T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	for len(rows) > 0 {
		n := min(group, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return readtest.Write(t, name, b.String())
}

// pointer gives nil for every third row.
func pointer[T any](i int, v T) *T {
	if i%3 == 0 {
		return nil
	}
	return &v
}

// TestParquet reads a column of each type, over groups, pages and batches.
func TestParquet(t *testing.T) {
	const n = 2500
	rows := make([]everyRow, n)
	want := make([][]string, n)
	for i := range rows {
		v := int64(i) * 7919 % 1000
		at := time.UnixMicro(1e15 - v*1234567).UTC()
		f32, old := float32(v)/8-3, deprecated.Int96{uint32(v * 1000), 0, uint32(2440588 + v - 500)}
		wide := [16]byte{15: byte(v % 100)}
		if v%2 == 1 { // less 1000: the complement of 999-v%100
			for k := range wide {
				wide[k] = 0xff
			}
			low := 0x10000 - 1000 + int(v%100)
			wide[14], wide[15] = byte(low>>8), byte(low)
		}
		thousandths := v % 100
		if v%2 == 1 {
			thousandths -= 1000
		}
		rows[i] = everyRow{
			int8(v), int32(v - 500), -v << 50, uint8(v), uint32(v) << 22, uint64(v) << 54, f32, float64(v) / 7,
			v%2 == 0, fmt.Sprint("text", v), fmt.Sprint("c", v%5), []byte{byte(v), 0}, [3]byte{'x', byte(v), 'y'},
			int32(v - 500), at, at, at.UnixNano() + 999, old, int32(v - 500), v << 40, wide, [8]byte(wide[8:]), pointer(i, v), pointer(i, fmt.Sprint(v%5)),
		}
		if i%10 == 9 {
			rows[i].F64 = math.NaN()
		}
		float := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
		decimal := func(v int64, scale int) string { return big.NewRat(v, int64(math.Pow10(scale))).FloatString(scale) }
		stamp := func(t time.Time) string { return readtest.ValueOf(column.Timestamp, column.IntKey(t.UnixMicro())) }
		want[i] = []string{
			fmt.Sprint(int8(v)), fmt.Sprint(v - 500), fmt.Sprint(-v << 50), fmt.Sprint(uint8(v)), fmt.Sprint(v << 22), fmt.Sprint(uint64(v) << 54),
			strconv.FormatFloat(float64(f32), 'g', -1, 32), float(float64(v) / 7), fmt.Sprint(v%2 == 0), fmt.Sprint("text", v), fmt.Sprint("c", v%5),
			string(rows[i].Bytes), string(rows[i].Fixed[:]), stamp(time.Unix(86400*(v-500), 0)), stamp(at.Truncate(time.Millisecond)), stamp(at), readtest.ValueOf(column.TimestampNS, column.IntKey(at.UnixNano()+999)),
			stamp(time.Unix(86400*(v-500), v*1000)), decimal(v-500, 2), fmt.Sprint(v << 40), decimal(thousandths, 3), decimal(thousandths, 1), fmt.Sprint(v), fmt.Sprint(v % 5),
		}
		if i%10 == 9 {
			want[i][7] = "nan"
		}
		if i%3 == 0 {
			want[i][22], want[i][23] = readtest.Missing, readtest.Missing
		}
	}
	path := parquetFile(t, "x.parquet", 1500, rows)
	s, err := Open(t.Context(), []string{path, path}, Options{rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if done, total := s.Progress(); done != 0 || total == 0 {
		t.Fatalf("progress %d of %d at the start", done, total)
	}
	got, err := readtest.ReadAll(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, total := s.Progress(); done != total {
		t.Fatalf("progress %d of %d in the end", done, total)
	}
	if len(got.Rows) != 2*n {
		t.Fatalf("%d rows, want %d", len(got.Rows), 2*n)
	}
	for i, r := range got.Rows {
		if !slices.Equal(r, want[i%n]) {
			for c := range r {
				if r[c] != want[i%n][c] {
					t.Errorf("column %v: %q, want %q", got.Fields[c], r[c], want[i%n][c])
				}
			}
			t.Fatalf("row %d differs", i)
		}
	}

	s, err = Open(t.Context(), []string{path}, Options{Columns: []string{"word", "i8"}})
	got, err = readtest.ReadAll(t, s, err)
	if err != nil || len(got.Rows) != n || !slices.Equal(got.Rows[1], []string{want[1][23], want[1][0]}) {
		t.Fatalf("two columns: %d rows, %q, error %v", len(got.Rows), got.Rows[1], err)
	}
}

// TestParquetErrors reads damaged and unsuitable files.
func TestParquetErrors(t *testing.T) {
	type plain struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
	}
	type nested struct {
		A   int64            `parquet:"a"`
		Map map[string]int64 `parquet:"map"`
	}
	type other struct {
		A float64 `parquet:"a"`
		B string  `parquet:"b"`
	}
	good := parquetFile(t, "good.parquet", 1000, slices.Repeat([]plain{{1, "x"}, {2, "y"}}, 1000))
	deep := parquetFile(t, "deep.parquet", 10, []nested{{A: 1}})
	try := func(opt Options, paths ...string) error {
		s, err := Open(t.Context(), paths, opt)
		_, err = readtest.ReadAll(t, s, err)
		return err
	}
	readtest.WantError(t, try(Options{}, deep), "deep.parquet", `column "map" is a MAP`)
	if err := try(Options{Columns: []string{"a"}}, deep); err != nil {
		t.Error(err)
	}
	if err := try(Options{Columns: []string{"c"}}, good); err == nil || errors.Is(err, input.ErrCorrupt) || !strings.Contains(err.Error(), `no column "c"; there are a, b`) {
		t.Errorf("error %v, want that there is no such column", err)
	}
	readtest.WantError(t, try(Options{}, good, parquetFile(t, "other.parquet", 9, []other{{1, "x"}})), "other.parquet", "differs from the columns of")
	readtest.WantError(t, try(Options{}, readtest.Write(t, "text.parquet", strings.Repeat("no parquet\n", 99))), "text.parquet")
	readtest.WantError(t, try(Options{}, readtest.Write(t, "empty.parquet", "")), "empty.parquet")
	if err := try(Options{}, good+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no file", err)
	}
	if err := try(Options{}, filepath.Dir(good)); err == nil {
		t.Error("a folder is read")
	}
	if err := try(Options{}, "-"); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("error %v, want one about standard input", err)
	}

	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := 0; at < len(data); at += 1 + len(data)/300 { // must never panic, and never blame the system
		broken := bytes.Clone(data)
		broken[at] ^= 0xff
		if err := try(Options{}, readtest.Write(t, "broken.parquet", string(broken))); err != nil {
			readtest.WantError(t, err, "broken.parquet")
			failed++
		}
		readtest.WantError(t, try(Options{}, readtest.Write(t, "short.parquet", string(data[:at]))), "short.parquet")
	}
	if failed == 0 {
		t.Error("no damage is noticed")
	}

	s, err := Open(t.Context(), []string{good}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b read.Batch
	if err := s.Next(ctx, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestParquetTypes reads a column of each type that keeps exact values, with infinite
// times, NaN and missing values.
func TestParquetTypes(t *testing.T) {
	s, err := Open(t.Context(), []string{"testdata/types.parquet"}, Options{})
	got, err := readtest.ReadAll(t, s, err)
	if err != nil {
		t.Fatal(err)
	}
	fields := "[d18 decimal of scale 6 d19 decimal of scale 0 d38 decimal128 of scale 10 d9 decimal of scale 2 u64 uint f32 float32 f64 float day timestamp moment timestamp id string clock int]"
	if text := fmt.Sprint(got.Fields); text != fields {
		t.Errorf("fields %s, want %s", text, fields)
	}
	want := [][]string{
		{"900719925474.000005", "9007199254740993", "12345678901234567890123456.7890123456", "0.07", "18446744073709551615", "26.352673", "nan",
			"2010-01-02T00:00:00Z", "2010-01-02T03:04:05.678901Z", "00112233-4455-6677-8899-aabbccddeeff", "3723000000"},
		{"900719925474.000006", "9007199254740992", "-12345678901234567890123456.7890123456", "-1234567.89", "9223372036854775808", "nan", "+inf",
			"infinity", "infinity", "ffeeddcc-bbaa-9988-7766-554433221100", "86399999999"},
		{"-0.000001", "-9007199254740993", "12345678901234567890123456.7890123457", "1.00", "0", "-inf", "0", "-infinity", "-infinity", readtest.Missing, "0"},
		slices.Repeat([]string{readtest.Missing}, 11),
	}
	if !slices.EqualFunc(got.Rows, want, slices.Equal[[]string]) {
		t.Errorf("rows\n%q, want\n%q", got.Rows, want)
	}
	for path, part := range map[string]string{
		"testdata/far-date.parquet":   `column "day": row 1 (from 0): 1825492972 days since 1970-01-01; timestamps reach from -290308-12-22 to 294247-01-10`,
		"testdata/interval.parquet":   `column "span" is an INTERVAL`,
		"testdata/wrong-kind.parquet": `column "val" has the type DATE, which values of type INT64 cannot have`,
	} {
		s, err := Open(t.Context(), []string{path}, Options{})
		_, err = readtest.ReadAll(t, s, err)
		readtest.WantError(t, err, path, part)
	}
}

// TestParquetRanges converts the values next to the ends of types.
func TestParquetRanges(t *testing.T) {
	stamp := func(micros int64) string {
		return (&column.Column{Type: column.Timestamp}).Format(column.IntKey(micros))
	}
	milli, nano := timestampType(time.Millisecond), timestampType(time.Nanosecond)
	old, oldNano := int96Type(column.Timestamp), int96Type(column.TimestampNS)
	short := columnType{key: decimalKey(4)}
	for name, x := range map[string]struct {
		t    columnType
		v    parquet.Value
		want string // empty: an error
	}{
		"milliseconds":     {milli, parquet.Int64Value(math.MaxInt64 / 1000), stamp(math.MaxInt64 / 1000 * 1000)},
		"too many":         {milli, parquet.Int64Value(math.MaxInt64/1000 + 1), ""},
		"too few":          {milli, parquet.Int64Value(math.MinInt64/1000 - 1), ""},
		"infinite milli":   {milli, parquet.Int64Value(math.MaxInt64), "infinity"},
		"infinite nano":    {nano, parquet.Int64Value(-math.MaxInt64), "-infinity"},
		"nano":             {nano, parquet.Int64Value(-1), stamp(-1)},
		"before all":       {nano, parquet.Int64Value(math.MinInt64), ""},
		"julian day":       {old, parquet.Int96Value(deprecated.Int96{0, 0, 2440588 + 106751990}), stamp(106751990 * 86400e6)},
		"far julian day":   {old, parquet.Int96Value(deprecated.Int96{0, 0, 2440588 + 106751992}), ""},
		"wrong nano":       {old, parquet.Int96Value(deprecated.Int96{0, 1 << 31, 2440588}), ""},
		"part of a micro":  {old, parquet.Int96Value(deprecated.Int96{1001, 0, 2440588}), ""},
		"old nano":         {oldNano, parquet.Int96Value(deprecated.Int96{1001, 0, 2440588}), stamp(1001)},
		"far old nano":     {oldNano, parquet.Int96Value(deprecated.Int96{1001, 0, 2440588 + 106751}), ""},
		"four digits":      {short, parquet.Int32Value(-9999), stamp(-9999)},
		"five digits":      {short, parquet.Int64Value(10000), ""},
		"decimal of bytes": {columnType{key: decimalKey(38)}, parquet.ByteArrayValue([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}), stamp(-2)},
		"long decimal":     {columnType{key: decimalKey(38)}, parquet.ByteArrayValue([]byte{0, 0x80, 0, 0, 0, 0, 0, 0, 0}), ""},
	} {
		key, err := x.t.key(&x.v)
		if got := stamp(column.KeyInt(key)); (err != nil) != (x.want == "") || err == nil && got != x.want {
			t.Errorf("%s: %s, error %v, want %q", name, got, err, x.want)
		}
	}
	for text, want := range map[string]string{"\x05": "5", "\xff\xfe": "-2", "": "0", "\xff" + strings.Repeat("\x70", 16): "", "\x00" + strings.Repeat("\x70", 16): "", "\x00" + strings.Repeat("\x40", 16): "85404201893882594751592058335816335424",
		"\x4b\x3b\x4c\xa8\x5a\x86\xc4\x7a\x09\x8a\x22\x3f\xff\xff\xff\xff": "99999999999999999999999999999999999999", "\x4b\x3b\x4c\xa8\x5a\x86\xc4\x7a\x09\x8a\x22\x40\x00\x00\x00\x00": ""} {
		v := parquet.ByteArrayValue([]byte(text))
		entry, err := wideText(&v)
		if got := column.KeyWide(string(entry)).String(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%x: %s, error %v, want %q", text, got, err, want)
		}
	}
}

// TestParquetInt96 keeps parts of a microsecond, and files without them far from 1970.
func TestParquetInt96(t *testing.T) {
	type row struct {
		Old deprecated.Int96 `parquet:"old"`
	}
	far := parquetFile(t, "far.parquet", 2, []row{{deprecated.Int96{1000, 0, 2440588}}, {deprecated.Int96{0, 0, 2440588 + 3e6}}, {deprecated.Int96{5000, 0, 2440588}}})
	fine := parquetFile(t, "fine.parquet", 2, []row{{deprecated.Int96{1000, 0, 2440588}}, {deprecated.Int96{0, 0, 2440588}}, {deprecated.Int96{5001, 0, 2440588}}})
	for _, x := range []struct {
		paths []string
		want  string
	}{
		{[]string{far, far}, "[old timestamp] [[1970-01-01T00:00:00.000001Z] [10183-09-21T00:00:00Z] [1970-01-01T00:00:00.000005Z] [1970-01-01T00:00:00.000001Z] [10183-09-21T00:00:00Z] [1970-01-01T00:00:00.000005Z]]"},
		{[]string{fine}, "[old timestamp_ns] [[1970-01-01T00:00:00.000001Z] [1970-01-01T00:00:00Z] [1970-01-01T00:00:00.000005001Z]]"},
	} {
		s, err := Open(t.Context(), x.paths, Options{})
		if got, err := readtest.ReadAll(t, s, err); err != nil || fmt.Sprint(got.Fields, got.Rows) != x.want {
			t.Errorf("%v %v, error %v, want %s", got.Fields, got.Rows, err, x.want)
		}
	}
	s, err := Open(t.Context(), []string{fine, far}, Options{})
	_, err = readtest.ReadAll(t, s, err)
	readtest.WantError(t, err, far, `column "old": row 1 (from 0)`, "timestamps in nanoseconds reach from 1677-09-21 to 2262-04-11")
}

// TestParquetPages reads pages of both versions and integers whose differences need more
// than 32 bits.
func TestParquetPages(t *testing.T) {
	for _, path := range []string{"testdata/pages-V1-lz4_raw.parquet", "testdata/pages-V2-lz4_raw.parquet", "testdata/pages-V2-zstd.parquet"} {
		s, err := Open(t.Context(), []string{path, path}, Options{rows: 300})
		got, err := readtest.ReadAll(t, s, err)
		if err != nil || len(got.Rows) != 1000 {
			t.Fatalf("%s: %d rows, error %v", path, len(got.Rows), err)
		}
		for row, r := range got.Rows {
			i := int64(row % 500)
			u := fmt.Sprint(i * 2654435761 % (1 << 32))
			signed := math.MaxInt32 - i
			if i%2 == 1 {
				signed = math.MinInt32 + i
			}
			want := []string{u, u, fmt.Sprint(i % 5), fmt.Sprint(signed), fmt.Sprint("t", i*i*i), strconv.FormatFloat(float64(i)/7, 'g', -1, 64)}
			if i%3 == 0 {
				want[1] = readtest.Missing
			}
			if !slices.Equal(r, want) {
				t.Fatalf("%s: row %d: %q, want %q", path, row, r, want)
			}
		}
	}
}
