package build

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

func tempOf(t *testing.T) *temp {
	t.Helper()
	f, err := newTemp(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestBlocks reads blocks of each width of keys back, with and without missing rows.
func TestBlocks(t *testing.T) {
	file := tempOf(t)
	var buf []byte
	var r blockReader
	for width := range 65 {
		least := uint64(1000)
		if width == 64 {
			least = 0
		}
		for _, rows := range []int{1, 7, 8, 9} {
			keys, missing := make([]uint64, rows), make([]bool, rows)
			for i := range keys {
				keys[i] = least + (1<<width-1)>>(i%2*width/2)
			}
			keys[rows/2] = least
			for i := range missing {
				missing[i] = rows > 1 && i == rows-1
			}
			for _, m := range [][]bool{nil, missing} {
				b, err := file.block(&buf, keys, m)
				if err != nil {
					t.Fatal(err)
				}
				if b.size() != len(buf) {
					t.Fatalf("a block of %d bytes has %d", b.size(), len(buf))
				}
				got, without, err := r.read(file, &b)
				if err != nil || !slices.Equal(without, m) {
					t.Fatalf("%d bits: missing %v, want %v; %v", width, without, m, err)
				}
				for i, k := range keys {
					if (m == nil || !m[i]) && got[i] != k {
						t.Fatalf("%d bits, row %d of %d: key %d, want %d", width, i, rows, got[i], k)
					}
				}
			}
		}
	}
}

// TestRuns joins vectors of runs of rows, in memory and in the file: they are the vector of all rows.
func TestRuns(t *testing.T) {
	t.Run("32", testRuns[uint32])
	t.Run("64", testRuns[uint64])
}

func testRuns[W wah.Word](t *testing.T) {
	const rows, runs = 2 * groupRows, 9
	kinds := []func(row uint64) bool{ // by turns: zeros, ones, a mixture
		func(uint64) bool { return false }, func(uint64) bool { return true }, func(row uint64) bool { return row%3 == 0 },
		func(row uint64) bool { return row < groupRows }, func(row uint64) bool { return row >= groupRows },
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		held := new(atomic.Uint64)
		p := &pile[W]{c: &planned{}, file: tempOf(t), held: held, most: 1 << 9, runs: make([]run[W], runs)}
		var all, one wah.Builder[W]
		for i := range runs {
			in := kinds[rng.IntN(len(kinds))]
			for row := range uint64(rows) {
				if in(row) {
					one.Add(row)
					all.Add(uint64(i)*rows + row)
				}
			}
			words := one.AppendTo(nil, rows)
			if err := p.put(i, run[W]{words: words, ends: []uint64{uint64(len(words))}}, new(sorter[W])); err != nil {
				t.Fatal(err)
			}
		}
		got, err := p.vector(nil, 0)
		if want := all.AppendTo(nil, rows*runs); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%x, want %x; %v", got, want, err)
		}
		if held.Load() > p.most {
			t.Errorf("%d bytes are held, the limit is %d", held.Load(), p.most)
		}
		if p.release(); held.Load() != 0 {
			t.Fatalf("%d bytes are held behind the end", held.Load())
		}
	}
}

// TestPartsOf has rows without values at each end.
func TestPartsOf(t *testing.T) {
	for _, c := range []struct {
		counts  []uint32
		missing []bool
		first   []uint64
	}{
		{nil, nil, nil},
		{[]uint32{1, 3}, nil, []uint64{1, 1, 0, 0}},
		{[]uint32{0, 2}, []bool{true, false}, []uint64{1, 0}},
		{[]uint32{2, 0}, []bool{false, true}, []uint64{1, 0}},
		{[]uint32{0}, []bool{true}, nil},
	} {
		present, first := partsOf(c.counts)
		if len(present.Keys) != len(c.counts) || !slices.Equal(present.Missing, c.missing) || !slices.Equal(first.Keys, c.first) || first.Missing != nil {
			t.Errorf("%v: %v and %v", c.counts, present, first)
		}
	}
}

// TestDictionaryLimits: a text has at most MaxStringLen bytes, and memory counts the blocks of texts.
func TestDictionaryLimits(t *testing.T) {
	var d dictionary
	longest := []byte(strings.Repeat("x", hdb.MaxStringLen))
	if _, err := d.number(longest); err != nil {
		t.Error(err)
	}
	if _, err := d.number(append(longest, 'x')); err == nil || !strings.Contains(err.Error(), "a string of 65537 bytes") {
		t.Error(err)
	}
	for i := range 100 {
		if _, err := d.number([]byte(fmt.Sprint(i, string(longest[:1000])))); err != nil {
			t.Fatal(err)
		}
	}
	least := uint64(0)
	for _, b := range d.blocks[:d.used] {
		least += uint64(cap(b))
	}
	if n := d.memory(); least < 165_000 || n < least || n > least+101*entryBytes {
		t.Errorf("memory %d, the blocks have %d bytes", n, least)
	}
}

// TestTextFault ends the texts behind the first that cannot be read.
func TestTextFault(t *testing.T) {
	x := texts{file: tempOf(t), pieces: []piece{{math.MaxInt32, 9}, {math.MaxInt32, 9}}}
	r, n := textReader{texts: &x}, 0
	for n < 9 && r.next() {
		n++
	}
	if n != 1 || r.err == nil {
		t.Errorf("%d texts, error %v", n, r.err)
	}
}

// TestWordRatio chooses 64-bit words up to a size of 105 % of that of 32-bit words, and 32-bit words above it.
func TestWordRatio(t *testing.T) {
	const rows = 8 * groupRows
	for _, c := range []struct{ spaced, word int }{{10, 64}, {60, 32}} {
		columns := []data{make1("a", column.Bool, rows, 2, 0, 1), make1("b", column.Bool, rows, 2, 0, 1)}
		rng := rand.New(rand.NewPCG(1, 2))
		for row := range rows {
			columns[0].keys[row], columns[1].keys[row] = rng.Uint64()&1, 0
		}
		for i := range c.spaced {
			columns[1].keys[i*rows/c.spaced] = 1
		}
		if _, r := build(t, newTable(columns...), Options{}); r.Word != c.word {
			t.Errorf("%d spaced rows: words of %d bits, want %d", c.spaced, r.Word, c.word)
		}
	}
}

// TestScatteredLimit: vectors that have no more than a word for the bits of 256 rows stay.
func TestScatteredLimit(t *testing.T) {
	p := planned{collected: &collected{rows: 100 * 2 * codec.SegmentLen}, upper: []uint64{1, 2, 1 << 40}, auto: true}
	p.Binning, p.Encoding = column.Quantile, column.Equality
	for words, want := range map[uint64]string{299: "vectors have 0.374 bits a row, codes 41", 300: "the rows of a quantile lie in 50 % of all pieces of 128 rows"} {
		if yes, why := p.scattered(words); yes != (words == 300) || why != want {
			t.Errorf("%d words: %t, %q", words, yes, why)
		}
	}
	p.auto = false
	if yes, why := p.scattered(300); yes || why != "asked for" {
		t.Errorf("bins that were asked for: %t, %q", yes, why)
	}
}
