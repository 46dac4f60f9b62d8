package ranktest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// rankings give each document of a universe a wanted score, 1 to 2^24-1. They are
// hard for a backend that keeps a limited number of candidates or drops documents
// below a threshold.
var rankings = []struct {
	name  string
	score func(r *rand.Rand, doc, docs uint32) uint32
}{
	// Each document is better than all before it, so early candidates are useless.
	{"ascending", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d }},
	{"descending", func(_ *rand.Rand, d, docs uint32) uint32 { return docs - d }},
	// All scores tie, so docIDs decide.
	{"equal", func(*rand.Rand, uint32, uint32) uint32 { return 1 << 23 }},
	{"ones", func(*rand.Rand, uint32, uint32) uint32 { return 1 }},
	// Place k lies among ties, beside scores that differ by one unit.
	{"two values", func(_ *rand.Rand, d, _ uint32) uint32 { return 1<<23 + d%2 }},
	{"three values", func(r *rand.Rand, _, _ uint32) uint32 { return 1<<23 + r.Uint32N(3) }},
	{"late unit", func(_ *rand.Rand, d, docs uint32) uint32 { // the last five are better by one unit
		if d >= docs-5 {
			return 1<<23 + 1
		}
		return 1 << 23
	}},
	{"fewer than ten above ties", func(_ *rand.Rand, d, docs uint32) uint32 {
		if d%(docs/7) == 3 {
			return 1<<23 + d
		}
		return 1 << 23
	}},
	// The score rises with the range of documents, or within each range.
	{"steps", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d/4096 }},
	{"saw", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d%4096 }},
	{"late ascent", func(_ *rand.Rand, d, docs uint32) uint32 {
		return 1 + max(d, docs/10*9)
	}},
	// A sample of the documents misleads: the best documents lie in the last eighth of
	// every 2048, or in one place.
	{"hidden", func(_ *rand.Rand, d, _ uint32) uint32 {
		if d%2048 >= 2048-256 {
			return 1<<20 + d
		}
		return 1 + d%16
	}},
	{"one place", func(_ *rand.Rand, d, docs uint32) uint32 {
		if d >= docs/8*3 && d < docs/8*3+2500 {
			return 1<<20 + d%50
		}
		return 1 + d%16
	}},
	// Scores differ in one byte.
	{"high byte", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(255)<<16 }},
	{"middle byte", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(256)<<8 }},
	{"random", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(1<<24-1) }},
}

// rankings ranks all documents by wanted scores. A score is the sum of impacts in
// two lists, its lower 16 bits and its upper 8 bits. A list lacks the documents
// whose part is 0.
func (su *suite) rankings(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(70_000, 13_000)), 16, nil)
	q := &plan.RankBatch{Norm: s.Norm(0, 0)}
	wanted := make([][]uint32, len(rankings))
	for i, ranking := range rankings {
		var lowDocs, low, highDocs, high []uint32
		for d := range s.Docs {
			score := ranking.score(r, d, s.Docs)
			wanted[i] = append(wanted[i], score)
			if score&0xFFFF > 0 {
				lowDocs, low = append(lowDocs, d), append(low, score&0xFFFF)
			}
			if score>>16 > 0 {
				highDocs, high = append(highDocs, d), append(high, score>>16<<8)
			}
		}
		s.AddRanked(t, su.Codecs[i%len(su.Codecs)], lowDocs, low)
		s.AddRanked(t, su.Codecs[(i+1)%len(su.Codecs)], highDocs, high)
	}
	for i := range rankings {
		h := plan.Handle(2 * i)
		q.Add(&s.Source, plan.Term{List: h, Weight: 1 << 16}, plan.Term{List: h + 1, Weight: 1 << 24})
	}
	st := su.Load(t, s)
	alone := []int{1, 10, 1000, plan.MaxK}
	together := alone
	if su.Small {
		together = alone[1:3] // the first and the last k take turns in batches of one query
	}
	all := rankAny(s, q)
	for _, q.Mode = range []plan.Mode{plan.Or, plan.And} {
		if q.Mode == plan.And {
			every(q, all)
		}
		for i, ranking := range rankings {
			t.Run(fmt.Sprintf("%v %s", q.Mode, ranking.name), func(t *testing.T) {
				for _, x := range all[i] {
					if x.Score != wanted[i][x.Doc] {
						t.Fatalf("document %d has score %d, not %d", x.Doc, x.Score, wanted[i][x.Doc])
					}
				}
				one := plan.RankBatch{Mode: q.Mode, Norm: q.Norm}
				one.Add(&s.Source, q.Query(i)...)
				ks := alone
				if su.Small {
					ks = alone[i%2*3:][:1]
				}
				su.verifyMode(t, st, s, &one, all[i:i+1], ks...)
			})
		}
		su.verifyMode(t, st, s, q, all, together...) // all queries in one batch
	}
}
