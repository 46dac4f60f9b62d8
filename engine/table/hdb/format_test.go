package hdb

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

var update = flag.Bool("update", false, "rewrite the examples in FORMAT.md")

// tiny is the first table of FORMAT.md.
func tiny() *sample {
	s := &sample{rows: 40, word: 32, meta: Meta{Creator: "heddle", Source: "flights.csv"}}
	keys := func(f func(row int) uint64) (k []uint64) {
		for row := range 40 {
			k = append(k, f(row))
		}
		return k
	}
	missing := make([]bool, 40)
	for row := 30; row < 35; row++ {
		missing[row] = true
	}
	s.add(column.Column{Name: "delay", Type: column.Int}, 3,
		keys(func(row int) uint64 { return column.IntKey(int64(row%7 - 3)) }), missing)
	s.add(column.Column{Name: "carrier", Type: column.String, Encoding: column.Range, Binning: column.Distinct, Dictionary: []string{"AA", "DL", "WN"}}, 3,
		keys(func(row int) uint64 { return uint64(row/20 + row/39) }), nil)
	s.add(column.Column{Name: "seen", Type: column.Timestamp, Unit: 3600e6, Encoding: column.Interval, Binning: column.Distinct}, 4,
		keys(func(row int) uint64 { return column.IntKey(int64(row%4) * 3600e6) }), nil)
	s.add(column.Column{Name: "fee", Type: column.Uint, Ranks: []uint64{}}, 1,
		keys(func(row int) uint64 { return 1 << (8 * (row % 3)) }), nil)
	return s
}

// second is a second sample.
func second() *sample {
	s := &sample{rows: 2, word: 64}
	s.add(column.Column{Name: "late", Type: column.Bool, Binning: column.Distinct}, 1, []uint64{0, 1}, []bool{true, false})
	return s
}

// image is the bytes of a sample's file.
func (s *sample) image(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(s.build(t))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFormatExample compares the examples at the end of FORMAT.md with the files
// that the Writer makes.
func TestFormatExample(t *testing.T) {
	containertest.Examples(t, *update, tiny().image(t), second().image(t))
}

// TestFormatTable compares the sections of FORMAT.md with the sections of the code.
func TestFormatTable(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, tiny().build(t))
	end := int64(PageSize)
	for i, s := range f.Sections() {
		if row := fmt.Sprintf("\n| %d | %s | ", i, s.Name); !strings.Contains(string(text), row) {
			t.Errorf("FORMAT.md has no row %q", row)
		}
		if s.Offset != end || s.Length == 0 {
			t.Errorf("section %+v, the one before ends at %d", s, end)
		}
		end = s.Offset + (s.Length+PageSize-1)/PageSize*PageSize
	}
	if f.Size() != end {
		t.Errorf("%d bytes, the sections end at %d", f.Size(), end)
	}
	vectors, values := int64(0), int64(0)
	for c := range f.Columns() {
		v, p := f.ColumnSize(c)
		vectors, values = vectors+v, values+p
	}
	// Each of the 9 vectors has less than 16 bytes of padding.
	if s := f.Sections(); vectors > s[0].Length || s[0].Length-vectors >= 9*16 || values != s[2].Length {
		t.Errorf("columns have %d and %d bytes, their sections %d and %d", vectors, values, s[0].Length, s[2].Length)
	}
}

// TestDecodeColumns decodes as many columns as the header states, and stops behind them.
func TestDecodeColumns(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{`[{"name":"a"},{"name":"b","base":"7"}]`, ""},
		{` [{}, {}] `, ""},
		{`[{}]`, "1 columns, the header says 2"},
		{`[]`, "0 columns, the header says 2"},
		{`[{},{},{}]`, "more columns than 2, which the header says"},
		{"[" + strings.Repeat("{},", 1<<20) + "oh", "more columns than 2, which the header says"},
		{`[{},{}`, "EOF"},
		{`[{},{}}`, "invalid character '}'"},
		{`[{} {}]`, "expected comma"},
		{`[{},{}][]`, "something behind the list of columns"},
		{`[{},{}]x`, "something behind the list of columns"},
		{`{}`, "not a list of columns"},
		{`null`, "not a list of columns"},
		{``, "EOF"},
	} {
		list, err := decodeColumns([]byte(c.text), 2)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || err == nil && len(list) != 2 {
			t.Errorf("%.30s: %d columns, error %v, want %q", c.text, len(list), err, c.says)
		}
	}
	many := []byte("[" + strings.Repeat("{},", 1<<20))
	if n := testing.AllocsPerRun(10, func() { decodeColumns(many, 2) }); n > 100 {
		t.Errorf("%g allocations for two columns", n)
	}
}
