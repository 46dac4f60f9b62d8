package multivalue_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/multivalue"
	"heddle/engine/table/read/csv"
)

// TestDamaged opens tables with changed bytes and without their checksums: nothing reads out of bounds.
func TestDamaged(t *testing.T) {
	text := "a,n,s\n" + strings.Repeat("1,\"[1,2,3]\",\n2,,\"[\"\"x\"\"]\"\n3,[9],\"[\"\"y\"\",\"\"x\"\"]\"\n", 60)
	types := map[string]column.Declared{"n": {Type: column.Int, List: true}, "s": {Type: column.String, List: true}}
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text), Types: types})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(t.TempDir(), "t.hdb")
	if _, err := build.Build(t.Context(), src, path, build.Options{}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	joined := 0
	for i := range 500 {
		data := append([]byte{}, good...)
		for range min(i, 3) {
			for {
				if at := hdb.PageSize + r.IntN(len(data)-hdb.PageSize); data[at] != 0 || r.IntN(200) == 0 {
					data[at] ^= 1 << r.IntN(8)
					break
				}
			}
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := hdb.OpenTrusted(path)
		if err != nil {
			continue
		}
		for c := range f.Columns() {
			l := f.List(c)
			if l == nil {
				continue
			}
			j, err := multivalue.Open(f.Table(), &f.Columns()[c], &l.Table)
			if err != nil {
				continue
			}
			joined++
			for row := range j.Rows() {
				if first, end := j.Span(row); first > end || end > j.Values() {
					t.Fatalf("row %d has values %d to %d of %d", row, first, end, j.Values())
				}
			}
			all, rows := make([]uint64, (j.Values()+63)/64), make([]uint64, (j.Rows()+63)/64)
			for v := range j.Values() {
				all[v/64] |= 1 << (v % 64)
			}
			j.RowsOf(all, rows)
		}
		f.Close()
	}
	if joined < 100 {
		t.Errorf("%d joins, too few to tell", joined)
	}
}

// TestFirstMark: the first value of a table is the first of its row.
func TestFirstMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.hdb")
	w, err := hdb.Create(path, 1, 32, hdb.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	none := func(func([]byte, error) bool) {}
	two := []column.Bin{{Rows: 1}, {Lo: 1, Hi: 1, Rows: 1}}
	for _, c := range []struct {
		part    hdb.Part
		of      column.Column
		codes   []uint64
		vectors [][]uint32
	}{
		{hdb.Present, column.Column{Type: column.Bool, Base: 1, Bins: two[:1]}, []uint64{0}, [][]uint32{{1}}},
		{hdb.Values, column.Column{Type: column.Uint, Bins: two}, []uint64{0, 1}, [][]uint32{{1}, {2}}},
		{hdb.First, column.Column{Type: column.Bool, Bins: two}, []uint64{0, 1}, [][]uint32{{1}, {2}}}, // the second value is the first
	} {
		c.of.Name, c.of.Binning = "n", column.Distinct
		cw, err := w.PartColumn(c.part, c.of, 0, none)
		if err != nil {
			t.Fatal(err)
		}
		err = cw.Codes(c.codes, nil)
		for _, v := range c.vectors {
			err = errors.Join(err, cw.Vector32(v))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := multivalue.Open(f.Table(), &f.Columns()[0], &f.List(0).Table); err == nil || !strings.Contains(err.Error(), `column "n": 1 rows have values`) {
		t.Error(err)
	}
}
