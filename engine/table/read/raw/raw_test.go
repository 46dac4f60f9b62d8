package raw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// raw is values of a type, little-endian.
func raw(t testing.TB, values any) string {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kindTypes are the types of kinds that are not Int.
var kindTypes = map[string]column.Type{"u64": column.Uint, "f32": column.Float32, "f64": column.Float}

// TestRaw reads each kind, with a value that stands for none.
func TestRaw(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		kind, missing string
		values        any
		want          string
	}{
		{"i8", "-1", []int8{-128, 127, -1}, "-128 127 -"},
		{"i16", "-32768", []int16{-32768, 32767, -1}, "- 32767 -1"},
		{"i32", "0", []int32{math.MinInt32, math.MaxInt32, 0}, "-2147483648 2147483647 -"},
		{"i64", "-9", []int64{math.MinInt64, math.MaxInt64, -9}, "-9223372036854775808 9223372036854775807 -"},
		{"u8", "255", []uint8{0, 254, 255}, "0 254 -"},
		{"u16", "", []uint16{0, 254, 65535}, "0 254 65535"},
		{"u32", "7", []uint32{0, 7, math.MaxUint32}, "0 - 4294967295"},
		{"u64", "18446744073709551615", []uint64{0, math.MaxInt64 + 1, math.MaxUint64}, "0 9223372036854775808 -"},
		{"f32", "0.1", []float32{0.1, -1.5, float32(nan)}, "- -1.5 nan"},
		{"f32", "nan", []float32{26.352673, float32(-nan)}, "26.352673 -"},
		{"f64", "", []float64{1e300, math.Inf(-1), nan}, "1e+300 -inf nan"},
		{"f64", "NaN", []float64{1, nan}, "1 -"},
	} {
		for _, name := range []string{"x", "x.gz"} {
			x, err := Parse("x:" + c.kind + ":" + readtest.Write(t, name, raw(t, c.values)) + ":" + c.missing)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), []Column{x}, Options{})
			got, err := readtest.ReadAll(t, s, err)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, r := range got.Rows {
				parts = append(parts, strings.ReplaceAll(r[0], readtest.Missing, "-"))
			}
			if s := strings.Join(parts, " "); s != c.want || got.Fields[0].Type != kindTypes[c.kind] {
				t.Errorf("%s: %s of type %v, want %s", c.kind, s, got.Fields[0].Type, c.want)
			}
		}
	}
}

// TestRawColumns reads columns longer than a batch and checks the reported progress.
func TestRawColumns(t *testing.T) {
	const rows = 2*batchRows + 7
	a, b := make([]int16, rows), make([]float64, rows)
	for i := range rows {
		a[i], b[i] = int16(i), float64(i)/2
	}
	columns := []Column{
		{Name: "a", Kind: "i16", Path: readtest.Write(t, "a", raw(t, a))},
		{Name: "b", Kind: "f64", Path: "-"},
	}
	s, err := Open(t.Context(), columns, Options{Stdin: strings.NewReader(raw(t, b))})
	got, err := readtest.ReadAll(t, s, err)
	if err != nil || len(got.Rows) != rows {
		t.Fatalf("%d rows, error %v", len(got.Rows), err)
	}
	for i, r := range got.Rows {
		if r[0] != fmt.Sprint(a[i]) || r[1] != fmt.Sprint(b[i]) {
			t.Fatalf("row %d: %q", i, r)
		}
	}
	if done, total := s.Progress(); done != rows*10 || total != 0 {
		t.Fatalf("progress %d of %d", done, total)
	}
}

// TestRawErrors breaks each rule.
func TestRawErrors(t *testing.T) {
	four, five := readtest.Write(t, "four", raw(t, []int16{1, 2, 3, 4})), readtest.Write(t, "five", raw(t, make([]int32, 5)))
	odd := readtest.Write(t, "odd", "abc")
	cut := readtest.Write(t, "cut.gz", strings.Repeat("abcd", 1000))
	data, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	cut = readtest.Write(t, "cut", string(data[:len(data)-9]))
	for name, c := range map[string]struct {
		columns []string
		want    []string
	}{
		"lengths":       {[]string{"a:i16:" + four, "b:i32:" + five}, []string{"four", `column "a" ends after 4 values`, "five has 5"}},
		"lengths, back": {[]string{"b:i32:" + five, "a:i16:" + four}, []string{"four", `column "a" ends after 4 values`, "five has 5"}},
		"half a value":  {[]string{"a:i16:" + odd}, []string{"odd: byte 2", "ends within a value of 2 bytes"}},
		"half a gzip":   {[]string{"a:i8:" + cut}, []string{"truncated gzip data"}},
	} {
		var columns []Column
		for _, text := range c.columns {
			x, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			columns = append(columns, x)
		}
		s, err := Open(t.Context(), columns, Options{})
		_, err = readtest.ReadAll(t, s, err)
		t.Run(name, func(t *testing.T) { readtest.WantError(t, err, c.want...) })
	}
	for text, want := range map[string]string{
		"":           "is not NAME:TYPE:FILE",
		"a:i8":       "is not NAME:TYPE:FILE",
		":i8:x":      "is not NAME:TYPE:FILE",
		"a:i8:":      "is not NAME:TYPE:FILE",
		"a:i7:x":     `unknown type "i7" (one of i8, i16,`,
		"a:i8:x:128": `"128", which is to stand for missing values, is no i8`,
		"a:u8:x:-1":  `is no u8`,
		"a:f32:x:z":  `is no f32`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := Open(t.Context(), []Column{{"a", "i8", four, ""}, {"a", "i8", four, ""}}, Options{}); err == nil || !strings.Contains(err.Error(), "two columns") {
		t.Errorf("error %v, want one about names", err)
	}
	if _, err := Open(t.Context(), []Column{{"a", "i8", four + ".none", ""}}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no file", err)
	}
}
