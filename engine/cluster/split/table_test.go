package split

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/codec/bitslice"
	"heddle/engine/internal/layout"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/read/parquet"
)

// cells gives the values of all rows: keys, texts of types with a dictionary, or "missing".
func cells(t *testing.T, path string) (all [][]string) {
	t.Helper()
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	table := f.Table()
	for i, c := range f.Columns() {
		codes, err := table.Codes(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		for row := range table.Rows {
			code, ok := codes.At(row)
			key := c.Key(code)
			v := fmt.Sprint(key)
			switch {
			case !ok:
				v = "missing"
			case c.Type.HasDictionary():
				v = c.Dictionary[key]
			}
			values = append(values, v)
		}
		all = append(all, values)
	}
	return all
}

// TestTable cuts a table with columns of all types, with values in every kind of bins. The rows
// of the shards, one after the other, are the rows of the table.
func TestTable(t *testing.T) {
	for _, word := range []int{32, 64} {
		dir := t.TempDir()
		path := filepath.Join(dir, "types.hdb")
		src, err := parquet.Open(t.Context(), []string{"../../table/read/parquet/testdata/types.parquet"}, parquet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		opt := build.Options{Word: word, Creator: "test", Source: "types.parquet", Columns: map[string]build.Settings{}}
		for i, f := range src.Fields() {
			opt.Columns[f.Name] = build.Settings{Bins: 1 + i, Binning: column.Binning(1 + i%4), Encoding: column.Encoding(i % 3)}
		}
		if _, err := build.Build(t.Context(), src, path, opt); err != nil {
			t.Fatal(err)
		}
		checkRows(t, path, Options{Shards: 1}, Options{Shards: 2}, Options{Shards: 3}, Options{Shards: 8}, Options{Cuts: []uint64{0, 1, 1}})
	}
}

// checkRows cuts the table at path with each of the options and compares rows, settings and meta data.
func checkRows(t *testing.T, path string, options ...Options) {
	t.Helper()
	whole, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	want := cells(t, path)
	for i, opt := range options {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		m, err := File(t.Context(), path, dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind != layout.Table || m.Docs != uint64(whole.Rows()) || m.Name != "types" {
			t.Fatalf("manifest %+v", m)
		}
		got := make([][]string, len(want))
		for _, s := range m.Shards {
			shard := filepath.Join(dir, s.File)
			part := cells(t, shard)
			for c := range got {
				got[c] = append(got[c], part[c]...)
			}
			f, err := hdb.Open(shard)
			if err != nil {
				t.Fatal(err)
			}
			if f.Meta() != whole.Meta() || f.Word() != whole.Word() || uint64(f.Rows()) != s.Docs {
				t.Errorf("shard %+v has %+v and %d-bit words", s, f.Meta(), f.Word())
			}
			for k, c := range f.Columns() {
				w := whole.Columns()[k]
				if c.Name != w.Name || c.Type != w.Type || c.Scale != w.Scale || c.Encoding != w.Encoding || c.Binning != w.Binning || len(w.Bins) > 0 && len(c.Bins) > len(w.Bins) {
					t.Errorf("column %+v, want %+v", c, w)
				}
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: rows differ", opt)
		}
	}
}

// batchRows is the number of rows of a batch of package merge.
const batchRows = 64 * codec.SegmentLen

// TestLongTable cuts a table of many batches, where rows without a value lie in runs across
// batches, segments and shards.
func TestLongTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types.hdb")
	src := &made{rows: 3*batchRows + 77}
	if _, err := build.Build(t.Context(), src, path, build.Options{}); err != nil {
		t.Fatal(err)
	}
	m := &layout.Map{Docs: uint64(src.rows), Shards: []layout.Shard{{Docs: 131}, {First: 131, Docs: 2 * batchRows}, {First: 131 + 2*batchRows}}}
	checkRows(t, path, Options{Shards: 3}, Options{Like: m})
	if values := cells(t, path); !slices.Contains(values[0], "missing") || !slices.Contains(values[1], "missing") {
		t.Error("the table has no missing values")
	}
}

// made is a source of rows by a formula.
type made struct{ row, rows int }

func (m *made) Fields() []read.Field {
	return []read.Field{{Name: "n", Type: column.Uint}, {Name: "s", Type: column.String}}
}

func (m *made) Next(_ context.Context, b *read.Batch) error {
	if m.row == m.rows {
		return io.EOF
	}
	*b = read.Batch{Rows: min(1000, m.rows-m.row), Columns: make([]read.Values, 2)}
	n, s := &b.Columns[0], &b.Columns[1]
	for range b.Rows {
		n.Keys = append(n.Keys, uint64(m.row)*0x9E3779B97F4A7C15)
		s.Text = fmt.Append(s.Text, m.row%300)
		s.Ends = append(s.Ends, uint32(len(s.Text)))
		n.Missing, s.Missing = append(n.Missing, m.row/700%3 == 0), append(s.Missing, m.row%5 == 0)
		m.row++
	}
	return nil
}

func (m *made) Progress() (done, total int64) { return 0, 0 }
func (m *made) Invalid() read.InvalidRows     { return read.InvalidRows{} }
func (m *made) Close() error                  { return nil }

// TestTableTiles cuts a table of several tiles at rows inside of tiles, of groups of 31 and 63 rows, and of words.
func TestTableTiles(t *testing.T) {
	const rows = 3*bitslice.TileRows + 77
	text := "sorted,few,wide,name\n"
	r := rand.New(rand.NewPCG(39, 9))
	for i := range rows {
		few := fmt.Sprint(r.IntN(9))
		if i%7 == 3 {
			few = ""
		}
		text += fmt.Sprintf("%d,%s,%d,n%d\n", i/5, few, r.Int64N(1e12), r.IntN(40))
	}
	for _, word := range []int{32, 64} {
		src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text), Null: []string{""}})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		path := filepath.Join(t.TempDir(), "types.hdb")
		if _, err := build.Build(t.Context(), src, path, build.Options{Word: word}); err != nil {
			t.Fatal(err)
		}
		checkRows(t, path, Options{Shards: 5}, Options{Cuts: []uint64{0, 1, bitslice.TileRows - 1, bitslice.TileRows + 63, 2*bitslice.TileRows + 31, rows - 1}})
	}
}
