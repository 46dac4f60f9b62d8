package hdb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/file/container/containertest"
	"heddle/engine/table/column"
)

// sample is a table in plain form, the oracle of the tests.
type sample struct {
	rows    uint32
	word    int
	meta    Meta
	columns []plain
}

// plain is a column with the key of every row. Bins and counts are made of them.
type plain struct {
	column.Column
	keys    []uint64
	missing []bool // nil: none
	bins    []int  // bin of each row; a row without a value has a number that no bin has
}

// add appends a column with about the given number of bins, all with equally many
// distinct keys. The column gives name, type, encoding and dictionary; and the unit, or ranks
// without keys; add sets the rest.
func (s *sample) add(c column.Column, bins int, keys []uint64, missing []bool) {
	rows := map[uint64]uint32{}
	for r, k := range keys {
		if missing != nil && missing[r] {
			c.Missing++
		} else {
			rows[k]++
		}
	}
	var distinct []uint64
	for k := range rows {
		distinct = append(distinct, k)
	}
	slices.Sort(distinct)
	switch {
	case c.Ranks != nil:
		c.Ranks = distinct
	case len(distinct) > 0:
		c.Base = distinct[0]
	}
	bin := map[uint64]int{} // bin of each key
	for group := range slices.Chunk(distinct, max((len(distinct)+bins-1)/bins, 1)) {
		b := column.Bin{Lo: codeOf(&c, group[0]), Hi: codeOf(&c, group[len(group)-1])}
		for _, k := range group {
			b.Rows += rows[k]
			bin[k] = len(c.Bins)
		}
		c.Bins = append(c.Bins, b)
	}
	if c.Binning == column.Auto {
		c.Binning = column.Quantile
	}
	p := plain{c, keys, missing, make([]int, len(keys))}
	for r, k := range keys {
		if p.bins[r] = bin[k]; missing != nil && missing[r] {
			p.bins[r] = -1
		}
	}
	s.columns = append(s.columns, p)
}

// code is the code of a row, 0 where it has no value.
func (p *plain) code(row int) uint64 {
	if p.missing != nil && p.missing[row] {
		return 0
	}
	return codeOf(&p.Column, p.keys[row])
}

// codeOf is the code of a key.
func codeOf(c *column.Column, key uint64) uint64 {
	if c.Ranks != nil {
		return uint64(slices.Index(c.Ranks, key))
	}
	return (key - c.Base) / max(c.Unit, 1)
}

// has reports whether a row is in vector v of the column, by the definition in package column.
func (p *plain) has(v, row int) bool {
	bin, last := p.bins[row], v == p.Encoding.Vectors(len(p.Bins))
	switch {
	case bin < 0 || last:
		return bin < 0 && last
	case p.Encoding == column.Range:
		return bin <= v
	case p.Encoding == column.Interval:
		return bin >= v && bin < v+column.Span(len(p.Bins))
	}
	return bin == v
}

// vectorOf compresses vector v.
func vectorOf[W wah.Word](p *plain, v int, rows uint32) []W {
	var b wah.Builder[W]
	for row := range int(rows) {
		if p.has(v, row) {
			b.Add(uint64(row))
		}
	}
	return b.AppendTo(nil, uint64(rows))
}

// write feeds the sample to a Writer, codes in pieces of several lengths.
func (s *sample) write(w *Writer) error {
	for i := range s.columns {
		p := &s.columns[i]
		c, err := w.Column(p.Column)
		if err != nil {
			return err
		}
		codes := make([]uint64, s.rows)
		for row := range codes {
			codes[row] = p.code(row)
		}
		for n, missing := 1, p.missing; len(codes) > 0; n = n*3 + 1 {
			n = min(n, len(codes))
			if err := c.Codes(codes[:n], missing[:min(n, len(missing))]); err != nil {
				return err
			}
			codes, missing = codes[n:], missing[min(n, len(missing)):]
		}
		for v := range p.Vectors() {
			if s.word == 64 {
				err = c.Vector64(vectorOf[uint64](p, v, s.rows))
			} else {
				err = c.Vector32(vectorOf[uint32](p, v, s.rows))
			}
			if err != nil {
				return err
			}
		}
	}
	return w.Commit()
}

// build writes the sample to a file of the test.
func (s *sample) build(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hdb")
	w, err := Create(path, s.rows, s.word, s.meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	containertest.WantFolder(t, filepath.Dir(path), "x.hdb")
	return path
}

// failer is the common part of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// check compares an open file with the sample.
func (s *sample) check(t failer, f *File) {
	t.Helper()
	table := f.Table()
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	if f.Rows() != s.rows || table.Rows != s.rows || f.Word() != s.word || table.Word() != s.word || f.Meta() != s.meta {
		t.Fatalf("%d rows, words of %d bits, %+v", f.Rows(), f.Word(), f.Meta())
	}
	if len(f.Columns()) != len(s.columns) || len(table.Columns) != len(s.columns) {
		t.Fatalf("%d columns, want %d", len(f.Columns()), len(s.columns))
	}
	vector := uint32(0)
	for i, got := range f.Columns() {
		p := &s.columns[i]
		want := p.Column
		want.Vector, got.Bins, want.Bins = vector, append([]column.Bin{}, got.Bins...), append([]column.Bin{}, want.Bins...)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("column %d is %+v, want %+v", i, got, want)
		}
		s.checkCodes(t, f, i)
		for v := range got.Vectors() {
			bits := make([]uint64, wah.Bitset(uint64(s.rows)))
			var err error
			if s.word == 64 {
				err = wah.Decompress(bits, table.Vector64(vector), uint64(s.rows))
			} else {
				err = wah.Decompress(bits, table.Vector32(vector), uint64(s.rows))
			}
			if err != nil {
				t.Fatalf("vector %d: %v", vector, err)
			}
			for row := range int(s.rows) {
				if bits[row/64]>>(row%64)&1 == 1 != p.has(v, row) {
					t.Fatalf("column %q, vector %d, row %d is wrong", got.Name, v, row)
				}
			}
			vector++
		}
	}
	if int(vector) != len(table.Vectors) {
		t.Fatalf("%d vectors, want %d", len(table.Vectors), vector)
	}
}

// checkCodes compares the stored values of column i.
func (s *sample) checkCodes(t failer, f *File, i int) {
	t.Helper()
	codes, err := f.Table().Codes(uint32(i))
	if err != nil || codes.Rows != s.rows {
		t.Fatalf("column %d: %d codes, %v", i, codes.Rows, err)
	}
	p := &s.columns[i]
	for row := range s.rows {
		code, ok := codes.At(row)
		if missing := p.missing != nil && p.missing[row]; ok == missing || ok && code != p.code(int(row)) {
			t.Fatalf("column %d, row %d has code %d (%v), want %d", i, row, code, ok, p.code(int(row)))
		}
	}
}

func mustOpen(t testing.TB, path string) *File {
	t.Helper()
	return containertest.Open(t, path, Open)
}

// generators are the named shapes of columns: the key of each row, as many keys below 64
// as there are bits.
var generators = map[string]func(row, rows int) uint64{
	"all zero":    func(int, int) uint64 { return 0 },
	"all one":     func(int, int) uint64 { return 1 },
	"alternating": func(row, _ int) uint64 { return uint64(row % 2) },
	"long fill": func(row, rows int) uint64 {
		if row == rows-1 {
			return 1
		}
		return 0
	},
	"literal only": func(row, _ int) uint64 { return uint64(row*row%7) * 3 },
	"ascending":    func(row, _ int) uint64 { return uint64(row) },
	"runs":         func(row, _ int) uint64 { return uint64(row / 100 % 5) },
	"one outlier": func(row, rows int) uint64 {
		if row == rows/2 {
			return 1 << 31
		}
		return uint64(row % 10)
	},
	"wide":   func(row, _ int) uint64 { return uint64(row%9) << 60 },
	"limits": func(row, _ int) uint64 { return []uint64{0, math.MaxUint32, 1 << 32, math.MaxUint64}[row%4] },
	"random": func(row, _ int) uint64 { return rand.New(rand.NewPCG(1, uint64(row))).Uint64N(1000) },
}

// shapes is a table with a column of every generator, of all encodings by turns, every
// third with missing values.
func shapes(rows, word, bins int) *sample {
	s := &sample{rows: uint32(rows), word: word, meta: Meta{Creator: "heddle", Source: "shapes"}}
	names := make([]string, 0, len(generators))
	for name := range generators {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		keys := make([]uint64, rows)
		var missing []bool
		if i%3 == 2 {
			missing = make([]bool, rows)
		}
		for row := range keys {
			keys[row] = generators[name](row, rows)
			if missing != nil {
				missing[row] = row%5 == 3 || row/200%3 == 1
			}
		}
		c := column.Column{Name: name, Type: column.Int, Encoding: column.Encoding(i % 3)}
		if name == "random" {
			c.Type = column.String
			for k := range 1000 {
				c.Dictionary = append(c.Dictionary, fmt.Sprintf("entry %04d", k))
			}
		}
		s.add(c, bins, keys, missing)
	}
	return s
}
