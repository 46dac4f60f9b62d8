package binning

import (
	"math"
	"math/bits"
	"sort"

	"heddle/engine/table/column"
)

func isFloat(t column.Type) bool { return t == column.Float || t == column.Float32 }

// floatOf is the value of a key of a Float or Float32.
func floatOf(t column.Type, key uint64) float64 {
	if t == column.Float32 {
		return float64(column.KeyFloat32(key))
	}
	return column.KeyFloat(key)
}

// keyOf is the key of a value of a Float or Float32.
func keyOf(t column.Type, v float64) uint64 {
	if t == column.Float32 {
		return column.Float32Key(float32(v))
	}
	return column.FloatKey(v)
}

// width gives bins of equal ranges of values. Infinite values and NaN belong to the outer bins,
// whose ranges are computed from the finite values.
func width(t column.Type, n int, keys []uint64) []uint64 {
	var upper []uint64
	last := keys[len(keys)-1]
	if from, to := finite(t, keys); from < to {
		lo, hi := keys[from], keys[to-1]
		for i := 1; i < n; i++ {
			key := hi
			if isFloat(t) {
				part := float64(i) / float64(n)
				a, b := floatOf(t, lo), floatOf(t, hi)
				key = min(max(keyOf(t, float64(a*(1-part))+float64(b*part)), lo), hi)
			} else { // the first i n-ths of hi-lo+1 values
				high, low := bits.Mul64(hi-lo, uint64(i))
				low, carry := bits.Add64(low, uint64(i), 0)
				values, _ := bits.Div64(high+carry, low, uint64(n))
				if values == 0 {
					continue
				}
				key = lo + values - 1
			}
			if len(upper) == 0 || key > upper[len(upper)-1] {
				upper = append(upper, key)
			}
		}
	} else if n > 1 {
		upper = append(upper, keys[0])
	}
	if len(upper) == 0 || last > upper[len(upper)-1] {
		upper = append(upper, last)
	}
	return upper
}

// finite is the range of keys whose values are neither infinite nor NaN.
func finite(t column.Type, keys []uint64) (from, to int) {
	to = len(keys)
	if !isFloat(t) {
		return 0, to
	}
	if keys[0] == keyOf(t, math.Inf(-1)) {
		from = 1
	}
	for to > from && keys[to-1] >= keyOf(t, math.Inf(1)) {
		to--
	}
	return from, to
}

// maxRounds is where Lloyd's algorithm ends if it has not converged.
const maxRounds = 100

// lloyd gives the bins of k-means in one dimension (Lloyd 1982), by which Nelson et al.
// 2020 bin continuous attributes ("Evaluation methodology"): each value belongs to the
// nearest centre, each centre is the mean of the rows that belong to it. It starts with
// quantiles. Bins that lose all their values are dropped. Infinite values and NaN belong to
// the outer bins, without moving their centres.
func lloyd(t column.Type, n int, s Sample) []uint64 {
	if len(s.Keys) <= n {
		return append([]uint64(nil), s.Keys...)
	}
	from, to := finite(t, s.Keys)
	if from == to { // there is no distance between the values
		return bounds(s, quantile(n, s))
	}
	inner := Sample{Keys: s.Keys[from:to], Rows: s.Rows[from:to], All: s.All}
	x := positions(t, inner.Keys)
	ends := quantile(n, inner) // where bins end
	centres := make([]float64, len(ends))
	for range maxRounds {
		start := 0
		for j, end := range ends {
			sum, rows := 0.0, 0.0
			for i := start; i <= end; i++ {
				w := float64(inner.Rows[i])
				sum += float64(x[i] * w) // rounded: not part of one instruction with the addition
				rows += w
			}
			if rows > 0 { // else it stays where it was
				centres[j] = sum / rows
			} else if start <= end {
				centres[j] = x[end]
			}
			start = end + 1
		}
		moved := false
		for j := range len(ends) - 1 {
			middle := centres[j]/2 + centres[j+1]/2
			end := sort.Search(len(x), func(i int) bool { return x[i] > middle }) - 1
			moved = moved || end != ends[j]
			ends[j] = end
		}
		if !moved {
			break
		}
	}
	var places []int
	for j, end := range ends {
		if end >= 0 && (j == 0 || end > ends[j-1]) {
			places = append(places, end)
		}
	}
	upper := bounds(inner, places)
	upper[len(upper)-1] = s.Keys[len(s.Keys)-1]
	return upper
}

// positions places values between 0 and 1, but for integers, which are as far apart as
// they are.
func positions(t column.Type, keys []uint64) []float64 {
	x := make([]float64, len(keys))
	if !isFloat(t) {
		for i, key := range keys {
			x[i] = float64(key - keys[0])
		}
		return x
	}
	lo, hi, scale := floatOf(t, keys[0]), floatOf(t, keys[len(keys)-1]), 1.0
	if math.IsInf(hi-lo, 1) {
		scale = 0.5
	}
	for i, key := range keys[1:] {
		x[i+1] = (floatOf(t, key)*scale - lo*scale) / (hi*scale - lo*scale)
	}
	return x
}
