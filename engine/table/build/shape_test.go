package build

import (
	"fmt"
	"math"
	"testing"

	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// TestScaledFloats: floats that are decimals of few digits are stored as integers, unless one
// value is no such decimal.
func TestScaledFloats(t *testing.T) {
	const rows = 5000
	floats := func(name string, value func(row int) float64) data {
		d := make1(name, column.Float, rows, 2, 0.1, 1)
		for row := range rows {
			if d.keys[row] = column.FloatKey(value(row)); d.missing[row] {
				d.keys[row] = column.FloatKey(math.Inf(1)) // is never read
			}
		}
		return d
	}
	price := func(row int) float64 { return float64(row*7919%100000-5000) / 100 }
	but := func(odd float64) func(row int) float64 {
		return func(row int) float64 {
			if row == rows-1 {
				return odd
			}
			return price(row)
		}
	}
	src := newTable(
		floats("price", price), floats("whole", func(row int) float64 { return float64(row % 300) }), floats("later", but(0.0625)),
		floats("third", but(1.0/3)), floats("nan", but(math.NaN())), floats("infinite", but(math.Inf(-1))), floats("great", but(1e14)),
		floats("one value", func(int) float64 { return 2.5 }),
	)
	for i := range src.columns {
		src.columns[i].missing[rows-1] = false
	}
	for _, b := range []column.Binning{column.Auto, column.Width, column.Quantile, column.Lloyd} {
		path, r := build(t, src, Options{Settings: Settings{Bins: 20, Binning: b}})
		check(t, path, src)
		f, err := hdb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []uint8{2, 1, 4, 0, 0, 0, 0, 0} {
			if got := f.Columns()[i].Scale; got != want {
				t.Errorf("%v: column %s has scale %d, want %d", b, src.columns[i].Name, got, want)
			}
		}
		if price, third := r.Columns[0].ValueBytes, r.Columns[3].ValueBytes; 2*price > third {
			t.Errorf("%v: values of %d bytes with a scale, of %d without", b, price, third)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScattered: the binning auto has no vectors of bins of mixed values, and has vectors of values in runs, and on
// demand. Bins stay.
func TestScattered(t *testing.T) {
	testneeds.Long(t)
	const rows = 200_000 // more than the sample
	var columns []data
	for i, value := range []func(row int) int64{
		func(row int) int64 { return int64(row) * 7919 % 100_003 },
		func(row int) int64 { return int64(row / 3) },
		func(row int) int64 { return int64(row/5000) * 7919 % 100_003 },
		func(row int) int64 { return int64(row*7919) % 20 },
		func(row int) int64 { return int64(row) * 7919 % 100_003 },
		func(row int) int64 { return int64(row) * 7919 % 100_003 },
	} {
		d := make1(fmt.Sprint("c", i), column.Int, rows, 2, 0, 1)
		for row := range rows {
			d.keys[row] = column.IntKey(value(row))
		}
		columns = append(columns, d)
	}
	src := newTable(columns...)
	for _, word := range []int{0, 32, 64} {
		path, r := build(t, src, Options{Word: word, Columns: map[string]Settings{
			"c4": {Bins: 50, Binning: column.Quantile}, "c5": {Bins: 50, Encoding: column.Interval},
		}})
		check(t, path, src)
		for i, want := range []struct{ bins, vectors int }{{64, 1}, {64, 64}, {40, 40}, {20, 1}, {50, 50}, {50, 26}} {
			if got := r.Columns[i]; got.Bins != want.bins || got.Vectors != want.vectors || (got.Encoding == column.None) != (want.vectors == 1) {
				t.Errorf("%d bits: column %d has %d bins, %d vectors and encoding %v, want %v", word, i, got.Bins, got.Vectors, got.Encoding, want)
			}
		}
	}
}
