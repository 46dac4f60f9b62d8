package part

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMerger merges the answers of several shards to several queries, with scores of which many are equal, and without.
func TestMerger(t *testing.T) {
	type hit struct {
		number uint64
		score  float64
	}
	r := rand.New(rand.NewPCG(2, 3))
	for _, scores := range []bool{false, true} {
		const shards, queries = 4, 30
		answers, want := make([]*Answer, shards), make([][]hit, queries)
		for i := range answers {
			a := &Answer{}
			for q := range queries {
				var hits []hit
				for d := range uint64(r.IntN(6)) {
					one := hit{number: shards*d + uint64(i)}
					if scores {
						one.score = float64(1 + r.IntN(3))
					}
					hits = append(hits, one)
				}
				slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(y.score, x.score) })
				for _, h := range hits {
					a.Docs = append(a.Docs, uint32(h.number/shards))
					if scores {
						a.Scores = append(a.Scores, h.score)
					}
				}
				a.Ends = append(a.Ends, uint64(len(a.Docs)))
				want[q] = append(want[q], hits...)
			}
			answers[i] = a
		}
		m := NewMerger(answers, func(answer int, at uint64) uint64 { return shards*uint64(answers[answer].Docs[at]) + uint64(answer) })
		for q := range queries {
			slices.SortFunc(want[q], func(x, y hit) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.number, y.number)) })
			if n := m.Query(q); n != uint64(len(want[q])) {
				t.Fatalf("query %d has %d documents, want %d", q, n, len(want[q]))
			}
			for _, w := range want[q] {
				if answer, at, number, score := m.Next(); number != w.number || score != w.score || answers[answer].Docs[at] != uint32(number/shards) {
					t.Fatalf("query %d: document %d of score %v, want %v", q, number, score, w)
				}
			}
		}
	}
}
