package engine

import (
	"errors"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/internal/query"
	"heddle/engine/plan/testneeds"
)

// TestRankImpacts: where lists hold impacts, a score is the sum of weight times
// impact, exactly; scoring parameters and statistics are refused.
func TestRankImpacts(t *testing.T) {
	testneeds.OneCaller(t)
	c := rankedCorpus(300)
	for _, bits := range []uint8{8, 16} {
		for _, doc := range c {
			for term, n := range doc {
				doc[term] = min(n*n*37, 1<<bits-1)
			}
		}
		x := c.open(t, bits, backendOptions(t))
		for _, q := range rankedQueries(pick(60, 20)) {
			terms, weights := weighted(t, x, q)
			var want ranking
			for d, doc := range c {
				sum := 0.0
				for i, term := range terms {
					weight := 1.0
					if weights != nil {
						weight = weights[i]
					}
					sum += weight * float64(doc[term])
				}
				if sum > 0 {
					want.Docs, want.Scores = append(want.Docs, uint32(d)), append(want.Scores, sum)
				}
			}
			sameRanking(t, mustRank(t, x, q, rankOptions{K: 25}), best(want, 25))
		}
		scoring := bm25.Default()
		for _, opt := range []rankOptions{{K: 1, Scoring: &scoring}, {K: 1, Statistics: &Statistics{}}} {
			if _, err := x.rank(t.Context(), Query{Text: "t0"}, opt); !errors.Is(err, query.ErrImpacts) {
				t.Errorf("%d bits: %v", bits, err)
			}
		}
	}
}
