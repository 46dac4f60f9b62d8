package hdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/file/container/containertest"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
)

// TestRoundTrip writes and reads every shape at lengths around groups and segments, and
// columns of each encoding around tiles and the blocks of Verify.
func TestRoundTrip(t *testing.T) {
	for _, word := range []int{32, 64} {
		block := blockGroups * (word - 1)
		for _, rows := range []int{0, 1, word - 2, word - 1, word, 127, 128, 129, bitslice.TileRows - 1, bitslice.TileRows, bitslice.TileRows + 1, block + 1} {
			t.Run(fmt.Sprintf("%d/%d", word, rows), func(t *testing.T) {
				s := shapes(rows, word, 4)
				switch {
				case rows > block: // the one with missing values
					s.columns = s.columns[2:3]
				case rows > 1000:
					s.columns = s.columns[:3]
				}
				s.roundTrip(t)
			})
		}
	}
}

// roundTrip writes the sample and reads it in every way.
func (s *sample) roundTrip(t *testing.T) {
	t.Helper()
	path := s.build(t)
	f := mustOpen(t, path)
	s.check(t, f)
	if err := f.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	trusted, err := OpenTrusted(path)
	if err != nil {
		t.Fatal(err)
	}
	defer trusted.Close()
	s.check(t, trusted)
	if trusted.Checksum() != f.Checksum() {
		t.Error("the checksum changes from open to open")
	}
}

// TestSmallest has tables without rows, columns, bins and values, and columns of 1 to 5
// bins in every encoding.
func TestSmallest(t *testing.T) {
	absent := &sample{rows: 200, word: 32}
	for e := range column.Interval + 1 {
		c := column.Column{Name: e.String(), Type: column.Float, Encoding: e}
		missing := slices.Repeat([]bool{true}, 200)
		absent.add(c, 3, make([]uint64, 200), missing)
	}
	empty := &sample{rows: 1, word: 64}
	empty.add(column.Column{Name: "c", Type: column.String, Dictionary: []string{""}}, 1, []uint64{0}, nil)
	unused := &sample{rows: 1, word: 64}
	unused.add(column.Column{Name: "c", Type: column.String, Dictionary: []string{"\x00", "\xff"}}, 1, []uint64{0}, []bool{true})
	wide := &sample{rows: 2, word: 64}
	wide.add(column.Column{Name: "c", Type: column.Decimal128, Scale: 38, Dictionary: []string{strings.Repeat("\x00", 16), strings.Repeat("\xff", 16)}}, 2, []uint64{0, 1}, nil)
	few := &sample{rows: 100, word: 64}
	keys := make([]uint64, 100)
	for bins := 1; bins <= 5; bins++ {
		for row := range keys {
			keys[row] = math.MaxUint64 - uint64(row%bins)
		}
		for e := range column.Interval + 1 {
			few.add(column.Column{Name: fmt.Sprint(e, bins), Encoding: e}, bins, slices.Clone(keys), nil)
		}
	}
	for name, s := range map[string]*sample{
		"nothing": {word: 32}, "nothing, 64": {word: 64}, "no columns": {rows: 7, word: 64}, "most rows": {rows: math.MaxUint32, word: 32},
		"all missing": absent, "empty string": empty, "unused dictionary": unused, "few bins": few, "wide decimals": wide, "tiny": tiny(), "second": second(),
	} {
		t.Run(name, s.roundTrip)
	}
}

// TestManyBins has 10,000 bins of one row each, in words of both sizes.
func TestManyBins(t *testing.T) {
	const n = 10_000
	for _, word := range []int{32, 64} {
		path := filepath.Join(t.TempDir(), "x.hdb")
		w, err := Create(path, n, word, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		c := column.Column{Name: "c", Binning: column.Distinct}
		codes := make([]uint64, n)
		for i := range uint64(n) {
			codes[i] = 3 * (n - 1 - i)
			c.Bins = append(c.Bins, column.Bin{Lo: 3 * i, Hi: 3 * i, Rows: 1})
		}
		cw, err := w.Column(c)
		if err != nil {
			t.Fatal(err)
		}
		for v := range uint64(n) {
			if word == 64 {
				var b wah.Builder[uint64]
				b.Add(n - 1 - v)
				err = errors.Join(err, cw.Vector64(b.AppendTo(nil, n)))
			} else {
				var b wah.Builder[uint32]
				b.Add(n - 1 - v)
				err = errors.Join(err, cw.Vector32(b.AppendTo(nil, n)))
			}
		}
		if err := errors.Join(err, cw.Codes(codes, nil), w.Commit()); err != nil {
			t.Fatal(err)
		}
		f := mustOpen(t, path)
		if err := errors.Join(f.Verify(context.Background()), f.Table().Validate()); err != nil {
			t.Error(err)
		}
		if got := f.Columns()[0]; !slices.Equal(got.Bins, c.Bins) || len(f.Table().Vectors) != n {
			t.Errorf("%d bins, %d vectors", len(got.Bins), len(f.Table().Vectors))
		}
	}
}

// TestMisaligned opens a file at an odd address of memory.
func TestMisaligned(t *testing.T) {
	for _, s := range []*sample{shapes(300, 32, 4), shapes(300, 64, 4)} {
		want := s.image(t)
		f, err := fromBytes("shifted", append(make([]byte, 1, len(want)+1), want...)[1:], true)
		if err != nil {
			t.Fatal(err)
		}
		s.check(t, f)
	}
}

func TestRapid(t *testing.T) {
	testneeds.Long(t)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := &sample{rows: rapid.Uint32Max(300).Draw(t, "rows"), word: rapid.SampledFrom([]int{32, 64}).Draw(t, "word")}
		for i, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 5, -1), 0, 3, rapid.ID).Draw(t, "names") {
			base := rapid.Uint64().Draw(t, "base")
			keys, missing := make([]uint64, s.rows), make([]bool, s.rows)
			width := rapid.IntRange(0, 64).Draw(t, "width")
			for row := range keys {
				keys[row] = base ^ rapid.Uint64().Draw(t, "key")>>(64-width)
				missing[row] = i%2 == 1 && rapid.Bool().Draw(t, "missing")
			}
			c := column.Column{
				Name: name, Type: rapid.SampledFrom([]column.Type{column.Int, column.Float, column.Timestamp, column.TimestampNS, column.Uint, column.Decimal}).Draw(t, "type"),
				Encoding: rapid.SampledFrom([]column.Encoding{column.Equality, column.Range, column.Interval}).Draw(t, "encoding"),
				Binning:  rapid.SampledFrom([]column.Binning{column.Distinct, column.Width, column.Quantile, column.Lloyd}).Draw(t, "binning"),
			}
			c.Scale = rapid.Uint8Range(0, c.Type.MaxScale()).Draw(t, "scale")
			if c.Type == column.Float && c.Scale > 0 {
				for row := range keys {
					keys[row] = column.IntKey(int64(keys[row]%2e15) - 1e15)
				}
			}
			s.add(c, rapid.IntRange(1, 20).Draw(t, "bins"), keys, missing)
		}
		path := filepath.Join(dir, "x.hdb")
		w, err := Create(path, s.rows, s.word, s.meta)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.write(w); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s.check(t, f)
		if err := f.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentReaders(t *testing.T) {
	s := shapes(300, 32, 4)
	f := mustOpen(t, s.build(t))
	containertest.Concurrent(t, f, func() { s.check(t, f) })
}

func TestClose(t *testing.T) {
	f, err := Open(tiny().build(t))
	if err != nil {
		t.Fatal(err)
	}
	containertest.Close(t, f)
}

func TestVerifyCancelled(t *testing.T) {
	containertest.VerifyCancelled(t, mustOpen(t, tiny().build(t)))
}
