package cost

import "math"

// NonNegative returns the non-negative costs with the least squares of relative errors:
// seconds[i] should be the sum of rows[i] times the costs. An outlier that took far too long
// changes little, because its relative error is at most 1. The method is coordinate descent:
// it minimises over one cost at a time. The sum is convex and falls with every step.
func NonNegative(rows [][]float64, seconds []float64) []float64 {
	if len(rows) == 0 {
		return nil
	}
	k := len(rows[0])
	// With rows divided by their seconds, the sum of squares is cᵀ·square·c − 2·sum·c + n.
	square, sum := make([][]float64, k), make([]float64, k)
	for j := range square {
		square[j] = make([]float64, k)
	}
	for i, row := range rows {
		t := max(seconds[i], 1e-9)
		for j, x := range row {
			sum[j] += x / t
			for l, y := range row {
				square[j][l] += x / t * (y / t)
			}
		}
	}
	costs := make([]float64, k)
	for range 20_000 {
		moved := false
		for j, c := range costs {
			if square[j][j] > 0 {
				costs[j] = max(0, c+(sum[j]-dot(square[j], costs))/square[j][j])
				moved = moved || math.Abs(costs[j]-c) > 1e-12*c
			}
		}
		if !moved {
			break
		}
	}
	return costs
}
