// Package significance tests whether two systems differ, from their values on the same queries.
package significance

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// PairedT returns the two-sided p-value of Student's paired t-test, 0 to 1. differences has one
// entry per query. The result is 1 if all differences are 0, and NaN with fewer than two
// differences.
func PairedT(differences []float64) float64 {
	n := float64(len(differences))
	if n < 2 {
		return math.NaN()
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	if mean == 0 {
		return 1
	}
	t := mean / (deviation / math.Sqrt(n))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(-math.Abs(t))
}

const (
	exactQueries = 14    // up to here Randomisation tries all signs
	samples      = 10000 // assignments of signs that Randomisation draws otherwise
)

// Randomisation returns the two-sided p-value of Fisher's randomisation test, above 0 and at
// most 1: the fraction of assignments of signs to the differences whose sum is at least as far
// from 0 as the sum of differences. Up to 14 differences it tries all assignments. Otherwise it
// draws 10,000 from a fixed seed and counts the observed one as well, so that equal input gives
// equal output.
func Randomisation(differences []float64) float64 {
	observed, scale := 0.0, 0.0
	for _, d := range differences {
		observed += d
		scale += math.Abs(d)
	}
	least := math.Abs(observed) - 1e-12*scale // sums in another order round otherwise
	extreme := func(signs func(i int) bool) int {
		sum := 0.0
		for i, d := range differences {
			if signs(i) {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= least {
			return 1
		}
		return 0
	}
	count := 0
	if n := len(differences); n <= exactQueries {
		for signs := range 1 << n {
			count += extreme(func(i int) bool { return signs>>i&1 == 1 })
		}
		return float64(count) / float64(int(1)<<n)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var word uint64
	for range samples {
		count += extreme(func(i int) bool {
			if i%64 == 0 {
				word = random.Uint64()
			}
			return word>>(i%64)&1 == 1
		})
	}
	return float64(count+1) / (samples + 1)
}

// Holm corrects p-values of several comparisons in place by the step-down rule of Holm (1979).
// Rejecting the corrected values below a level keeps the probability of any false rejection
// below the level.
func Holm(p []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	greatest := 0.0
	for i, at := range order {
		greatest = max(greatest, min(1, float64(len(p)-i)*p[at]))
		p[at] = greatest
	}
}
