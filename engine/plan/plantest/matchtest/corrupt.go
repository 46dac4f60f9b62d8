package matchtest

import (
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
)

// corrupt runs conjunctions over damaged lists. The backend may return an error or
// any answer within bounds. It must not panic, and the store must stay usable.
func (su suite) corrupt(t *testing.T) {
	su.OnDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
		var b plan.MatchBatch
		var out plan.Results
		for _, a := range su.Algorithms {
			for x := range uint32(len(src.Lists)) {
				b.Reset()
				b.Algorithm, b.CountOnly = a, r.IntN(2) == 0
				b.Add(src, x)
				b.Add(src, x, uint32(r.IntN(len(src.Lists))))
				b.Add(src, x, uint32(r.IntN(len(src.Lists))), uint32(r.IntN(len(src.Lists))))
				if err := st.Match(t.Context(), &b, &out); err != nil {
					continue
				}
				if err := bounded(&b, src, &out); err != nil {
					t.Fatalf("%v: %v", a, err)
				}
			}
		}
	})
}
