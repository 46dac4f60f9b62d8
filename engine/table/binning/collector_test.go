package binning

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"heddle/engine/table/column"
)

// As long as there are few values, or few rows, the sample is the distribution.
func TestCollectorExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, keys := range map[string][]uint64{
		"none":          nil,
		"one":           {7},
		"zero and ones": {0, math.MaxUint64, 0, 0, math.MaxUint64},
		"few values":    draw(200_000, func() uint64 { return r.Uint64N(3000) << 50 }),
		"at the limit":  draw(exactKeys, func() uint64 { return r.Uint64() }),
		"few rows":      draw(sampleKeys-1, func() uint64 { return r.Uint64() }),
	} {
		var c Collector
		c.Add(keys)
		got, want := c.Sample(), sampleOf(keys)
		if !got.All || !slices.Equal(got.Keys, want.Keys) || !slices.Equal(got.Rows, want.Rows) {
			t.Errorf("%s: %d values of %d, all: %t", name, len(got.Keys), len(want.Keys), got.All)
		}
	}
}

func draw(n int, f func() uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = f()
	}
	return keys
}

// Of many values the sample has the least and the greatest, is bounded, is the same
// however keys come in, and is as the column is.
func TestCollectorSample(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	keys := draw(280_000, func() uint64 {
		if r.IntN(10) == 0 {
			return column.FloatKey(0) // a tenth of the rows
		}
		return column.FloatKey(r.NormFloat64())
	})
	keys[23456], keys[23457] = column.FloatKey(-1e300), column.FloatKey(1e300)
	var a, b Collector
	a.Add(keys)
	for at := 0; at < len(keys); {
		n := min(1+r.IntN(5000), len(keys)-at)
		b.Add(keys[at : at+n])
		at += n
	}
	s := a.Sample()
	if !reflect.DeepEqual(s, b.Sample()) || !reflect.DeepEqual(s, a.Sample()) {
		t.Fatal("another sample of the same keys")
	}
	if s.All || len(s.Keys) > sampleKeys+2 || s.Keys[0] != keys[23456] || s.Keys[len(s.Keys)-1] != keys[23457] {
		t.Fatalf("%d keys, all: %t", len(s.Keys), s.All)
	}
	total := uint64(0)
	for i, rows := range s.Rows {
		total += rows
		if i > 0 && s.Keys[i] <= s.Keys[i-1] {
			t.Fatal("keys do not ascend")
		}
	}
	if total < sampleKeys/2 || total > sampleKeys {
		t.Fatalf("%d rows", total)
	}
	i, _ := slices.BinarySearch(s.Keys, column.FloatKey(0))
	if part := float64(s.Rows[i]) / float64(total); math.Abs(part-0.1) > 0.01 {
		t.Errorf("a tenth of the rows are %v of the sample", part)
	}
	_, upper, err := Choose(column.Float, column.Quantile, 12, s)
	if err != nil {
		t.Fatal(err)
	}
	if b := slices.Index(upper, column.FloatKey(0)); b < 1 || upper[b-1] != column.FloatKey(0)-1 {
		t.Errorf("bin %d has more values than the one of a tenth of the rows", b)
	}
	for b, rows := range rowsOf(upper, sampleOf(keys)) {
		if rows < 5_000 || rows > 36_000 { // the rest before the heavy value
			t.Errorf("bin %d has %d of %d rows", b, rows, len(keys))
		}
	}
}

// TestCollectorSorted: sorted keys are sampled as evenly as unsorted keys.
func TestCollectorSorted(t *testing.T) {
	var c Collector
	keys := make([]uint64, 1<<19)
	for i := range keys {
		keys[i] = uint64(i)
	}
	c.Add(keys)
	_, upper, err := Choose(column.Int, column.Quantile, 4, c.Sample())
	if err != nil || len(upper) != 4 {
		t.Fatal(upper, err)
	}
	for i, key := range upper {
		if want := float64(i+1) * (1 << 17); math.Abs(float64(key)-want) > 2000 {
			t.Errorf("bin %d ends at %d, want %v", i, key, want)
		}
	}
}

func BenchmarkCollector(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, keys := range map[string][]uint64{
		"10values":    draw(1<<16, func() uint64 { return r.Uint64N(10) }),
		"10000values": draw(1<<16, func() uint64 { return r.Uint64N(10000) }),
		"different":   draw(1<<20, r.Uint64),
	} {
		b.Run(name, func(b *testing.B) {
			var c Collector
			c.Add(keys)
			b.SetBytes(int64(8 * len(keys)))
			for b.Loop() {
				c.Add(keys)
			}
		})
	}
}

// TestShare bounds the memory of collectors of wide tables, and keeps the ends and the distribution.
func TestShare(t *testing.T) {
	for columns, want := range map[int]uint64{1: 1 << 20, 64: 1 << 20, 65: 1 << 19, 500: 1 << 17, 10_000: 1 << 15, 1 << 20: 1 << 15} {
		if got := Memory(columns); got != want {
			t.Errorf("%d columns: %d bytes each, want %d", columns, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	var c Collector
	c.Share(10_000)
	const rows = 100_000
	for range rows {
		c.Add([]uint64{r.Uint64N(1 << 20)})
	}
	c.Add([]uint64{1 << 21})
	s := c.Sample()
	total, below := uint64(0), uint64(0)
	for i, k := range s.Keys {
		if total += s.Rows[i]; k < 1<<19 {
			below += s.Rows[i]
		}
	}
	if n := cap(c.drawn)*8 + cap(c.table)*16; n > int(Memory(10_000)) {
		t.Errorf("%d bytes, want %d at most", n, Memory(10_000))
	}
	if s.All || s.Keys[len(s.Keys)-1] != 1<<21 || total < sampleKeys>>6 || total > sampleKeys>>5 || below < total*4/10 || below > total*6/10 {
		t.Errorf("%d rows of %d keys, %d below the middle, last %d", total, len(s.Keys), below, s.Keys[len(s.Keys)-1])
	}
}
