package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
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
	return write(t, name, b.String())
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
		big := [16]byte{15: byte(v % 100)}
		if v%2 == 1 { // less 1000: the complement of 999-v%100
			for k := range big {
				big[k] = 0xff
			}
			low := 0x10000 - 1000 + int(v%100)
			big[14], big[15] = byte(low>>8), byte(low)
		}
		bigValue := float64(v%100) / 1000
		if v%2 == 1 {
			bigValue = float64(v%100-1000) / 1000
		}
		rows[i] = everyRow{
			int8(v), int32(v - 500), -v << 50, uint8(v), uint32(v) << 22, uint64(v) << 53, f32, float64(v) / 7,
			v%2 == 0, fmt.Sprint("text", v), fmt.Sprint("c", v%5), []byte{byte(v), 0}, [3]byte{'x', byte(v), 'y'},
			int32(v - 500), at, at, at.UnixNano() + 999, old, int32(v - 500), v << 40, big, pointer(i, v), pointer(i, fmt.Sprint(v%5)),
		}
		if i%10 == 9 {
			rows[i].F64 = math.NaN()
		}
		float := func(f float64) string { return valueOf(column.Float, column.FloatKey(f)) }
		stamp := func(t time.Time) string { return valueOf(column.Timestamp, column.IntKey(t.UnixMicro())) }
		want[i] = []string{
			fmt.Sprint(int8(v)), fmt.Sprint(v - 500), fmt.Sprint(-v << 50), fmt.Sprint(uint8(v)), fmt.Sprint(v << 22), fmt.Sprint(v << 53),
			float(float64(f32)), float(float64(v) / 7), fmt.Sprint(v%2 == 0), fmt.Sprint("text", v), fmt.Sprint("c", v%5),
			string(rows[i].Bytes), string(rows[i].Fixed[:]), stamp(time.Unix(86400*(v-500), 0)), stamp(at.Truncate(time.Millisecond)), stamp(at), stamp(at),
			stamp(time.Unix(86400*(v-500), v*1000)), float(float64(v-500) / 100), fmt.Sprint(v << 40), float(bigValue), fmt.Sprint(v), fmt.Sprint(v % 5),
		}
		if i%10 == 9 {
			want[i][7] = missing
		}
		if i%3 == 0 {
			want[i][21], want[i][22] = missing, missing
		}
	}
	path := parquetFile(t, "x.parquet", 1500, rows)
	s, err := OpenParquet(t.Context(), []string{path, path}, ParquetOptions{rows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if done, total := s.Progress(); done != 0 || total == 0 {
		t.Fatalf("progress %d of %d at the start", done, total)
	}
	got, err := readAll(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if done, total := s.Progress(); done != total {
		t.Fatalf("progress %d of %d in the end", done, total)
	}
	if len(got.rows) != 2*n {
		t.Fatalf("%d rows, want %d", len(got.rows), 2*n)
	}
	for i, r := range got.rows {
		if !slices.Equal(r, want[i%n]) {
			for c := range r {
				if r[c] != want[i%n][c] {
					t.Errorf("column %v: %q, want %q", got.fields[c], r[c], want[i%n][c])
				}
			}
			t.Fatalf("row %d differs", i)
		}
	}

	s, err = OpenParquet(t.Context(), []string{path}, ParquetOptions{Columns: []string{"word", "i8"}})
	got, err = readAll(t, s, err)
	if err != nil || len(got.rows) != n || !slices.Equal(got.rows[1], []string{want[1][22], want[1][0]}) {
		t.Fatalf("two columns: %d rows, %q, error %v", len(got.rows), got.rows[1], err)
	}
}

// TestParquetErrors reads damaged and unsuitable files.
func TestParquetErrors(t *testing.T) {
	type plain struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
	}
	type nested struct {
		A    int64   `parquet:"a"`
		List []int64 `parquet:"list"`
		In   struct {
			X int64 `parquet:"x"`
		} `parquet:"in"`
	}
	type other struct {
		A float64 `parquet:"a"`
		B string  `parquet:"b"`
	}
	type great struct {
		U uint64 `parquet:"u"`
	}
	good := parquetFile(t, "good.parquet", 1000, slices.Repeat([]plain{{1, "x"}, {2, "y"}}, 1000))
	deep := parquetFile(t, "deep.parquet", 10, []nested{{A: 1}})
	read := func(opt ParquetOptions, paths ...string) error {
		s, err := OpenParquet(t.Context(), paths, opt)
		_, err = readAll(t, s, err)
		return err
	}
	wantError(t, read(ParquetOptions{}, deep), "deep.parquet", `column "list" is nested`)
	wantError(t, read(ParquetOptions{Columns: []string{"a", "in"}}, deep), `column "in" is nested`)
	if err := read(ParquetOptions{Columns: []string{"a"}}, deep); err != nil {
		t.Error(err)
	}
	if err := read(ParquetOptions{Columns: []string{"c"}}, good); err == nil || errors.Is(err, input.ErrCorrupt) || !strings.Contains(err.Error(), `no column "c"; there are a, b`) {
		t.Errorf("error %v, want that there is no such column", err)
	}
	wantError(t, read(ParquetOptions{}, good, parquetFile(t, "other.parquet", 9, []other{{1, "x"}})), "other.parquet", "are not those of")
	wantError(t, read(ParquetOptions{}, parquetFile(t, "great.parquet", 9, []great{{1}, {1 << 63}})), "great.parquet", `column "u"`, "row group 1", "9223372036854775808")
	wantError(t, read(ParquetOptions{}, write(t, "text.parquet", strings.Repeat("no parquet\n", 99))), "text.parquet")
	wantError(t, read(ParquetOptions{}, write(t, "empty.parquet", "")), "empty.parquet")
	if err := read(ParquetOptions{}, good+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no file", err)
	}
	if err := read(ParquetOptions{}, filepath.Dir(good)); err == nil {
		t.Error("a folder is read")
	}
	if err := read(ParquetOptions{}, "-"); err == nil || !strings.Contains(err.Error(), "standard input") {
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
		if err := read(ParquetOptions{}, write(t, "broken.parquet", string(broken))); err != nil {
			wantError(t, err, "broken.parquet")
			failed++
		}
		wantError(t, read(ParquetOptions{}, write(t, "short.parquet", string(data[:at]))), "short.parquet")
	}
	if failed == 0 {
		t.Error("no damage is noticed")
	}

	s, err := OpenParquet(t.Context(), []string{good}, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b Batch
	if err := s.Next(ctx, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
