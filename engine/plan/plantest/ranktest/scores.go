package ranktest

import (
	"cmp"
	"fmt"
	"math"
)

// Tolerance returns the largest difference between the score of a document and
// BM25 in floating point, for a query of so many terms. unit is the worth of one
// unit of the integer sums. The difference has these causes:
//
//   - Base and Slope of plan.Norm are right to 2^-25 and to one part in 2^32. The
//     length normaliser is cut to 2^-24. The divisor that contains it is at least 1,
//     because frequencies are. So term-frequency components are right to one part
//     in 2^23.
//   - Term-frequency components are cut to 2^-32 of a weight. Weights add up to less
//     than 2^32 units, so all terms together lose less than one unit. They lose as
//     much again where a sum of 64 bits is cut to 32 bits before the division.
//   - A weight is rounded to a unit, or up to 1: at most one unit for each term.
//   - A contribution is rounded up: at most one more unit for each term.
//
// Floating point itself is right to one part in 2^50. The tolerance holds for length
// normalisers below 2^32, the range of plan.Norm.
func Tolerance(terms int, unit float64) func(score float64) float64 {
	return func(score float64) float64 { return score/(1<<23) + float64(2*terms+2)*unit }
}

// CheckScores reports a mistake in the best k documents of a query. all maps each
// document that matches to its score in floating point. The rules are:
//
//   - Each score is within the tolerance of the score in all.
//   - No document that is left out beats the last document by more than the
//     tolerances of both.
//   - Scores descend; docIDs of equal scores ascend.
func CheckScores(docs []uint32, scores []float64, k int, all map[uint32]float64, tolerance func(float64) float64) error {
	if n := min(k, len(all)); len(docs) != n || len(scores) != n {
		return fmt.Errorf("%d documents with %d scores, want %d of %d", len(docs), len(scores), n, len(all))
	}
	returned := map[uint32]bool{}
	for i, d := range docs {
		want, found := all[d]
		switch {
		case !found:
			return fmt.Errorf("place %d: document %d does not match", i, d)
		case returned[d]:
			return fmt.Errorf("place %d: document %d is repeated", i, d)
		case math.Abs(scores[i]-want) > tolerance(want):
			return fmt.Errorf("place %d: document %d has score %v, want %v", i, d, scores[i], want)
		case i > 0 && cmp.Or(cmp.Compare(scores[i], scores[i-1]), cmp.Compare(docs[i-1], d)) >= 0:
			return fmt.Errorf("place %d: document %d with score %v follows document %d with %v", i, d, scores[i], docs[i-1], scores[i-1])
		}
		returned[d] = true
	}
	for d, score := range all {
		if last := len(docs) - 1; last >= 0 && !returned[d] && score-all[docs[last]] > tolerance(score)+tolerance(all[docs[last]]) {
			return fmt.Errorf("document %d with score %v is not among the best, of which document %d has %v", d, score, docs[last], all[docs[last]])
		}
	}
	return nil
}
