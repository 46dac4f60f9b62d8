package binning

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"heddle/engine/table/column"
	"pgregory.net/rapid"
)

var kinds = []column.Binning{column.Auto, column.Distinct, column.Width, column.Quantile, column.Lloyd}

// sampleOf is the exact distribution of keys.
func sampleOf(keys []uint64) Sample {
	s := Sample{All: true}
	sorted := slices.Sorted(slices.Values(keys))
	for i, k := range sorted {
		if i == 0 || k != sorted[i-1] {
			s.Keys, s.Rows = append(s.Keys, k), append(s.Rows, 0)
		}
		s.Rows[len(s.Rows)-1]++
	}
	return s
}

func ints(values ...int64) (keys []uint64) {
	for _, v := range values {
		keys = append(keys, column.IntKey(v))
	}
	return keys
}

func floats(values ...float64) (keys []uint64) {
	for _, v := range values {
		keys = append(keys, column.FloatKey(v))
	}
	return keys
}

func singles(values ...float64) (keys []uint64) {
	for _, v := range values {
		keys = append(keys, column.Float32Key(float32(v)))
	}
	return keys
}

func repeat(key uint64, n int) []uint64 { return slices.Repeat([]uint64{key}, n) }

// columns are distributions at which a binning can fail.
func columns() map[string]struct {
	t    column.Type
	keys []uint64
} {
	r := rand.New(rand.NewPCG(1, 2))
	var normal, uniform, skew []uint64
	for range 3000 {
		normal = append(normal, column.FloatKey(r.NormFloat64()))
		uniform = append(uniform, column.IntKey(r.Int64N(1e6)-5e5))
		skew = append(skew, column.IntKey(int64(math.Exp(r.ExpFloat64()*4))))
	}
	inf := math.Inf(1)
	return map[string]struct {
		t    column.Type
		keys []uint64
	}{
		"none":           {column.Int, nil},
		"constant":       {column.Int, repeat(column.IntKey(5), 100)},
		"one row":        {column.Float, floats(-0.5)},
		"two values":     {column.Int, append(repeat(column.IntKey(-7), 3), ints(9)...)},
		"bool":           {column.Bool, []uint64{0, 1, 1, 1, 0}},
		"extremes":       {column.Int, ints(math.MinInt64, math.MaxInt64)},
		"all over":       {column.Timestamp, ints(math.MinInt64, math.MinInt64+1, -1, 0, 1, math.MaxInt64-1, math.MaxInt64)},
		"infinities":     {column.Float, floats(-inf, inf)},
		"with infinity":  {column.Float, floats(-inf, -inf, 1, 2, 3, 4, 5, 6, inf)},
		"with NaN":       {column.Float, floats(-inf, 1, 2, 3, 4, 5, 6, inf, math.NaN(), math.NaN())},
		"only special":   {column.Float, floats(-inf, inf, inf, math.NaN())},
		"only NaN":       {column.Float32, singles(math.NaN())},
		"special single": {column.Float32, singles(-inf, inf, math.NaN())},
		"singles":        {column.Float32, singles(-inf, -math.MaxFloat32, -1, 0, 0.1, 0.5, 7, math.MaxFloat32, inf, math.NaN())},
		"one and two":    {column.Float, floats(-inf, 7, inf)},
		"widest floats":  {column.Float, floats(-math.MaxFloat64, -1, 0, 1, 2, 3, math.MaxFloat64)},
		"least floats":   {column.Float, floats(0, 5e-324, 1e-323, 1.5e-323, 2e-323, 1)},
		"neighbours":     {column.Float, floats(1, math.Nextafter(1, 2), math.Nextafter(1, 3))},
		"normal":         {column.Float, normal},
		"uniform":        {column.Int, uniform},
		"skew":           {column.Int, skew},
		"heavy middle":   {column.Int, append(repeat(column.IntKey(0), 100000), uniform...)},
		"heavy ends":     {column.Int, append(append(repeat(column.IntKey(-1e9), 5000), repeat(column.IntKey(1e9), 5000)...), uniform...)},
		"dictionary":     {column.String, []uint64{0, 0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 9}},
		"beyond doubles": {column.Int, ints(1<<62, 1<<62+1, 1<<62+2, 1<<62+3, 1<<62+4, 1<<62+100)},
	}
}

// Every binning of every column ascends, covers all and keeps to the number of bins.
func TestChoose(t *testing.T) {
	for name, c := range columns() {
		t.Run(name, func(t *testing.T) {
			s := sampleOf(c.keys)
			for _, kind := range kinds {
				for _, n := range []int{1, 2, 3, 7, 64, MaxBins} {
					checkChoose(t, c.t, kind, n, s)
				}
			}
		})
	}
}

func checkChoose(t rapid.TB, typ column.Type, kind column.Binning, n int, s Sample) []uint64 {
	t.Helper()
	done, upper, err := Choose(typ, kind, n, s)
	if err != nil {
		t.Fatalf("%d bins by %d: %v", n, kind, err)
	}
	if done == column.Auto || kind != column.Auto && done != kind {
		t.Fatalf("binning %d was done as %d", kind, done)
	}
	if len(s.Keys) == 0 {
		if len(upper) > 0 {
			t.Fatalf("%d bins of nothing", len(upper))
		}
		return nil
	}
	limit := n
	if done == column.Distinct {
		limit = len(s.Keys)
	}
	if len(upper) == 0 || len(upper) > limit {
		t.Fatalf("%d bins by %d: %d", n, kind, len(upper))
	}
	for i, key := range upper {
		if i > 0 && key <= upper[i-1] {
			t.Fatalf("%d bins by %d: %x behind %x", n, kind, key, upper[i-1])
		}
		if _, ok := slices.BinarySearch(s.Keys, key); !ok && done != column.Width {
			t.Fatalf("%d bins by %d: %x is not a value", n, kind, key)
		}
	}
	if upper[len(upper)-1] != s.Keys[len(s.Keys)-1] {
		t.Fatalf("%d bins by %d end at %x, the values at %x", n, kind, upper[len(upper)-1], s.Keys[len(s.Keys)-1])
	}
	if (len(s.Keys) <= n && done != column.Width || done == column.Distinct) && len(upper) != len(s.Keys) {
		t.Fatalf("%d bins by %d: %d for %d values", n, kind, len(upper), len(s.Keys))
	}
	return upper
}

func TestRandomSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]column.Type{column.Int, column.Float}).Draw(t, "type")
		var keys []uint64
		if typ == column.Int {
			keys = ints(rapid.SliceOf(rapid.Int64()).Draw(t, "values")...)
		} else {
			for _, v := range rapid.SliceOf(rapid.Float64()).Draw(t, "values") {
				if v == v {
					keys = append(keys, column.FloatKey(v))
				}
			}
		}
		s := sampleOf(keys)
		for i := range s.Rows {
			s.Rows[i] = rapid.Uint64Range(0, 1<<32).Draw(t, "rows")
		}
		checkChoose(t, typ, rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(1, 40).Draw(t, "bins"), s)
	})
}

// rowsOf is how many rows each bin has.
func rowsOf(upper []uint64, s Sample) []uint64 {
	rows := make([]uint64, len(upper))
	for i, key := range s.Keys {
		rows[sort.Search(len(upper), func(b int) bool { return upper[b] >= key })] += s.Rows[i]
	}
	return rows
}

func TestWidth(t *testing.T) {
	for name, c := range map[string]struct {
		t          column.Type
		n          int
		keys, want []uint64
	}{
		"a hundred integers":  {column.Int, 4, ints(0, 3, 50, 99), ints(24, 49, 74, 99)},
		"negative ones":       {column.Int, 2, ints(-10, 9), ints(-1, 9)},
		"more bins than room": {column.Int, 7, ints(1, 3), ints(1, 2, 3)},
		"all integers":        {column.Int, 4, ints(math.MinInt64, math.MaxInt64), ints(-1<<62-1, -1, 1<<62-1, math.MaxInt64)},
		"floats by value":     {column.Float, 4, floats(-1, 0, 0.001, 3), floats(0, 1, 2, 3)},
		"infinities":          {column.Float, 4, floats(math.Inf(-1), -1, 3, math.Inf(1)), floats(0, 1, 2, math.Inf(1))},
		"singles by value":    {column.Float32, 4, singles(-1, 0, 0.001, 3, math.NaN()), singles(0, 1, 2, math.NaN())},
		"one finite value":    {column.Float, 4, floats(math.Inf(-1), 7, math.Inf(1)), floats(7, math.Inf(1))},
	} {
		_, upper, err := Choose(c.t, column.Width, c.n, sampleOf(c.keys))
		if err != nil || !slices.Equal(upper, c.want) {
			t.Errorf("%s: %x (%v), want %x", name, upper, err, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	all := columns()
	// No bin of distinct values is more than a value away from its share.
	s := sampleOf(all["normal"].keys)
	for _, n := range []int{2, 10, 100} {
		for b, rows := range rowsOf(checkChoose(t, column.Float, column.Quantile, n, s), s) {
			if share := 3000 / uint64(n); rows+1 < share || rows > share+1 {
				t.Errorf("bin %d of %d has %d rows", b, n, rows)
			}
		}
	}
	// A heavy value has a bin of its own; the remaining values divide the rest.
	s = sampleOf(all["heavy middle"].keys)
	upper := checkChoose(t, column.Int, column.Quantile, 11, s)
	i := slices.Index(upper, column.IntKey(0))
	if len(upper) != 11 || i < 1 || upper[i-1] != s.Keys[slices.Index(s.Keys, column.IntKey(0))-1] {
		t.Errorf("0 is in bin %d of %d, and not alone", i, len(upper))
	}
	s = Sample{Keys: []uint64{1, 2, 3, 4, 5, 6}, Rows: []uint64{1, 100, 1, 1, 100, 1}, All: true}
	if upper := checkChoose(t, column.Int, column.Quantile, 5, s); !slices.Equal(upper, []uint64{1, 2, 4, 5, 6}) {
		t.Errorf("two heavy values: %v", upper)
	}
}

func TestLloyd(t *testing.T) {
	// Three clusters of different sizes: quantiles cut the largest, k-means finds them.
	var values []int64
	for i := range int64(100) {
		values = append(values, i%20, 500+i%30, 500+i%30, 9000+i%7)
	}
	values = values[:len(values)-100]
	s := sampleOf(ints(values...))
	if upper := checkChoose(t, column.Int, column.Quantile, 3, s); slices.Equal(upper, ints(19, 529, 9006)) {
		t.Errorf("quantiles end at %x too", upper)
	}
	if upper := checkChoose(t, column.Int, column.Lloyd, 3, s); !slices.Equal(upper, ints(19, 529, 9006)) {
		t.Errorf("clusters end at %x", upper)
	}
	if done, upper, err := Choose(column.Float, column.Lloyd, 2, sampleOf(floats(math.Inf(-1), 1, 2, 100, math.Inf(1)))); err != nil || done != column.Lloyd || !slices.Equal(upper, floats(2, math.Inf(1))) {
		t.Errorf("with infinities: %x, %v", upper, err)
	}
	// Every value is in the bin of the nearest mean, of a column on which it converges.
	s = sampleOf(columns()["skew"].keys)
	upper := checkChoose(t, column.Int, column.Lloyd, 5, s)
	sums, rows := make([]float64, len(upper)), rowsOf(upper, s)
	bin := func(key uint64) int { return sort.Search(len(upper), func(b int) bool { return upper[b] >= key }) }
	for i, key := range s.Keys {
		sums[bin(key)] += float64(column.KeyInt(key)) * float64(s.Rows[i])
	}
	for _, key := range s.Keys {
		v, b := float64(column.KeyInt(key)), bin(key)
		for c := range upper {
			if math.Abs(v-sums[b]/float64(rows[b])) > math.Abs(v-sums[c]/float64(rows[c]))*(1+1e-9) {
				t.Fatalf("%v is in bin %d, nearer to the mean of bin %d", v, b, c)
			}
		}
	}
}

func TestChooseErrors(t *testing.T) {
	many := Sample{All: true}
	for i := range uint64(MaxBins + 1) {
		many.Keys, many.Rows = append(many.Keys, i), append(many.Rows, 1)
	}
	some := Sample{Keys: []uint64{1, 2}, Rows: []uint64{1, 1}}
	for name, c := range map[string]struct {
		kind column.Binning
		n    int
		s    Sample
	}{
		"no bins":              {column.Width, 0, some},
		"too many bins":        {column.Width, MaxBins + 1, some},
		"too many values":      {column.Distinct, 10, many},
		"values not all known": {column.Distinct, 10, some},
		"unknown":              {column.Lloyd + 1, 10, some},
	} {
		if _, _, err := Choose(column.Int, c.kind, c.n, c.s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if done, _, err := Choose(column.Int, column.Auto, 10, some); err != nil || done != column.Quantile {
		t.Errorf("auto on a sample: %d, %v", done, err)
	}
	if done, _, err := Choose(column.Int, column.Auto, MaxBins, many); err != nil || done != column.Quantile {
		t.Errorf("auto on many values: %d, %v", done, err)
	}
}
