package tablebuild

import (
	"fmt"
	"os"
	"testing"

	"heddle/engine/column"
)

var allTypes = []column.Type{column.Int, column.Float, column.String, column.Bool, column.Timestamp}

// everyType has a column of each type, with and without missing values, and one of
// missing values alone.
func everyType(rows int) *table {
	var columns []data
	for i, typ := range allTypes {
		columns = append(columns,
			make1(fmt.Sprint(typ), typ, rows, 200, 0, uint64(i)),
			make1(fmt.Sprint(typ, " with holes"), typ, rows, 5000, 0.2, uint64(i)),
			make1(fmt.Sprint("no ", typ), typ, rows, 10, 1, uint64(i)))
	}
	return newTable(columns...)
}

// TestBuild builds every type in every encoding, binning and size of words.
func TestBuild(t *testing.T) {
	for _, rows := range []int{0, 1, 30, 31, 32, 62, 63, 64, 3000} {
		src := everyType(rows)
		for _, e := range []column.Encoding{column.Equality, column.Range, column.Interval} {
			for _, word := range []int{32, 64} {
				path, r := build(t, src, Options{Settings: Settings{Bins: 20, Encoding: e}, Word: word})
				if r.Word != word || int(r.Rows) != rows || len(r.Columns) != len(src.columns) {
					t.Fatalf("report %+v", r)
				}
				check(t, path, src)
			}
		}
	}
}

// TestMemory builds within little memory what it builds within much.
func TestMemory(t *testing.T) {
	src := newTable(
		make1("a", column.Int, 300000, 100000, 0.01, 1),
		make1("b", column.Int, 300000, 3, 0, 2),
		make1("c", column.String, 300000, 500, 0.5, 3),
	)
	for _, e := range []column.Encoding{column.Equality, column.Range, column.Interval} {
		for _, word := range []int{0, 32, 64} {
			opt := Options{Settings: Settings{Encoding: e}, Word: word}
			path, much := build(t, src, opt)
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if word == 0 {
				check(t, path, src)
			}
			opt.Memory = 100 << 10
			path, little := build(t, src, opt)
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Fatalf("%v, %d: within little memory the table differs", e, word)
			}
			if little.TempBytes <= much.TempBytes {
				t.Fatalf("%v, %d: %d temporary bytes within little memory, %d within much", e, word, little.TempBytes, much.TempBytes)
			}
		}
	}
}
