package predicatetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
)

// Column is a column of a table to be made.
type Column struct {
	Name     string
	Type     column.Type
	Scale    uint8 // scale of the keys of a Float
	Encoding column.Encoding
	Coding   Coding
	Values   []any // value of each row, as Eval takes it
	// Bin gives the bin of the i-th of n distinct values, ascending from 0 without a
	// gap; nil is a bin a value.
	Bin func(i, n int) int
}

// Coding is how a column codes its keys. A type with a dictionary has Plain.
type Coding uint8

const (
	Plain Coding = iota // differences to the least key
	Units               // in units of their greatest common divisor
	Ranks               // ranks among the keys of the column
)

// Table makes a table of columns that are all as long as the first. Its words have 32 or
// 64 bits.
func Table(tb testing.TB, word int, columns ...Column) (*plantest.Table, []column.Column) {
	tb.Helper()
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0].Values)
	}
	t := plantest.NewTable(uint32(rows), word)
	var out []column.Column
	for _, c := range columns {
		out = append(out, c.add(tb, t))
	}
	if err := t.Validate(); err != nil {
		tb.Fatal(err)
	}
	return t, out
}

// add appends the column to t.
func (c *Column) add(tb testing.TB, t *plantest.Table) column.Column {
	tb.Helper()
	out := column.Column{Name: c.Name, Type: c.Type, Scale: c.Scale, Binning: column.Distinct, Encoding: c.Encoding, Vector: uint32(len(t.Vectors))}
	if c.Type == column.String {
		words := map[string]bool{"": true, "~~": true} // some that no row has
		for _, v := range c.Values {
			if v != nil {
				words[v.(string)] = true
			}
		}
		out.Dictionary = slices.Sorted(maps.Keys(words))
	}
	keys := make([]uint64, len(c.Values))
	distinct := map[uint64]bool{}
	for i, v := range c.Values {
		if v != nil {
			keys[i] = key(v, &out)
			distinct[keys[i]] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(distinct))
	if len(sorted) > 0 {
		out.Base = sorted[0]
	}
	switch coding := c.Coding; {
	case out.Type.HasDictionary() || len(sorted) == 0:
	case coding == Units:
		for _, k := range sorted {
			for a, b := out.Unit, k-out.Base; ; a, b = b, a%b {
				if out.Unit = a; b == 0 {
					break
				}
			}
		}
	case coding == Ranks:
		out.Base, out.Ranks = 0, sorted
	}
	code := func(key uint64) uint64 {
		if out.Ranks != nil {
			return uint64(slices.Index(out.Ranks, key))
		}
		return (key - out.Base) / max(out.Unit, 1)
	}
	bin := map[uint64]int{} // bin of a key
	for i, k := range sorted {
		b := i
		if c.Bin != nil {
			b = c.Bin(i, len(sorted))
		}
		if bin[k] = b; b == len(out.Bins) {
			out.Bins = append(out.Bins, column.Bin{Lo: code(k)})
		}
		out.Bins[b].Hi = code(k)
	}
	of := make([]int, len(keys)) // the bin of each row, that behind the last for missing ones
	valued := make([]uint64, wah.Bitset(uint64(t.Rows)))
	codes := make([]uint64, len(keys))
	for i, v := range c.Values {
		if v == nil {
			of[i] = len(out.Bins)
			out.Missing++
			continue
		}
		of[i], codes[i] = bin[keys[i]], code(keys[i])
		out.Bins[of[i]].Rows++
		valued[i/64] |= 1 << (i % 64)
	}
	t.AddTiles(tb, codes, valued)
	n := len(out.Bins)
	for v := range out.Vectors() {
		set := make([]uint64, wah.Bitset(uint64(t.Rows)))
		for row, b := range of {
			if has(c.Encoding, n, v, b) {
				set[row/64] |= 1 << (row % 64)
			}
		}
		t.AddVector(set)
	}
	return out
}

// has reports whether vector v of n bins contains bin b; number n is the bin of missing values.
func has(e column.Encoding, n, v, b int) bool {
	switch {
	case v == e.Vectors(n) || b == n:
		return v == e.Vectors(n) && b == n
	case e == column.Equality:
		return b == v
	case e == column.None:
		return true
	case e == column.Range:
		return b <= v
	}
	return v <= b && b < v+column.Span(n)
}

func key(v any, c *column.Column) uint64 {
	switch v := v.(type) {
	case int64:
		return column.IntKey(v)
	case float64:
		if c.Scale > 0 {
			k, ok := column.ScaledKey(v, c.Scale)
			if !ok {
				panic(fmt.Sprintf("%v has more than %d digits behind the point", v, c.Scale))
			}
			return k
		}
		return column.FloatKey(v)
	case time.Time:
		return column.IntKey(v.UnixMicro())
	case bool:
		if v {
			return 1
		}
		return 0
	}
	i, _ := slices.BinarySearch(c.Dictionary, v.(string))
	return uint64(i)
}
