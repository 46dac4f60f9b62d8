package cost

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNonNegative checks the conditions of Karush, Kuhn and Tucker for the minimum: the slope
// is zero for a positive cost, and not negative for a cost of zero.
func TestNonNegative(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 10, 200} {
		var rows [][]float64
		var seconds []float64
		for range n {
			x, y := math.Exp(12*r.Float64()), math.Exp(12*r.Float64())
			rows = append(rows, []float64{1, x, y, 0})
			seconds = append(seconds, (2e-5+1e-9*x-1e-10*y)*math.Exp(0.2*r.NormFloat64())+1e-6)
			if seconds[len(seconds)-1] < 0 {
				seconds[len(seconds)-1] = 1e-6
			}
		}
		costs := NonNegative(rows, seconds)
		for j, c := range costs {
			slope, size := 0.0, 0.0
			for i, row := range rows {
				slope += (dot(row, costs) - seconds[i]) / seconds[i] * row[j] / seconds[i]
				size += row[j] / seconds[i]
			}
			if c < 0 || slope < -1e-6*size || c > 0 && slope > 1e-6*size {
				t.Errorf("%d rows: cost %d is %v, the slope %v of %v", n, j, c, slope, size)
			}
		}
	}
	if NonNegative(nil, nil) != nil {
		t.Error("costs of nothing")
	}
}

// TestNonNegativeOutliers has one of twenty rows take a thousand times as long.
func TestNonNegativeOutliers(t *testing.T) {
	var rows [][]float64
	var seconds []float64
	for i := range 200 {
		x := float64(i * i)
		rows, seconds = append(rows, []float64{1, x}), append(seconds, 1e-5+1e-9*x)
		if i%20 == 7 {
			seconds[i] *= 1000
		}
	}
	for j, c := range NonNegative(rows, seconds) {
		if want := []float64{1e-5, 1e-9}[j]; !near(c, want, 0.05) {
			t.Errorf("cost %d is %v, want %v", j, c, want)
		}
	}
}
