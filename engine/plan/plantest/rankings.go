package plantest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
)

// A ranking gives the documents of a universe wished scores, below 2^24 and at
// least 1: cases that are hard on whoever keeps a limited number of candidates,
// or cuts documents by a threshold.
var rankings = []struct {
	name  string
	score func(r *rand.Rand, doc, docs uint32) uint32
}{
	// Every later document is better than all before: whatever is kept first is of
	// no use in the end.
	{"ascending", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d }},
	{"descending", func(_ *rand.Rand, d, docs uint32) uint32 { return docs - d }},
	// Ties everywhere: docIDs decide.
	{"equal", func(*rand.Rand, uint32, uint32) uint32 { return 1 << 23 }},
	{"ones", func(*rand.Rand, uint32, uint32) uint32 { return 1 }},
	// Ties across k, and scores within one unit of each other on both sides of it.
	{"two values", func(_ *rand.Rand, d, _ uint32) uint32 { return 1<<23 + d%2 }},
	{"three values", func(r *rand.Rand, _, _ uint32) uint32 { return 1<<23 + r.Uint32N(3) }},
	{"late unit", func(_ *rand.Rand, d, docs uint32) uint32 { // all equal, but the last by one unit
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
	// Plateaus of a range of documents each, later ones higher; and saw teeth.
	{"steps", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d/4096 }},
	{"saw", func(_ *rand.Rand, d, _ uint32) uint32 { return 1 + d%4096 }},
	{"late ascent", func(_ *rand.Rand, d, docs uint32) uint32 {
		return 1 + max(d, docs/10*9)
	}},
	// What some ranges of documents tell of the others is wrong: the best documents
	// lie in the last eighth of every 2048, or in one place alone.
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
	// One byte of the score differs, each in turn.
	{"high byte", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(255)<<16 }},
	{"middle byte", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(256)<<8 }},
	{"random", func(r *rand.Rand, _, _ uint32) uint32 { return 1 + r.Uint32N(1<<24-1) }},
}

// rankings ranks all documents by wished scores. Two lists of impacts make a
// score, the lower 16 bits and the upper 8; a document is not in the list of a
// half that is 0.
func (su *suite) rankings(t *testing.T) {
	r := rng(t)
	s := newRanked(r, uint32(su.pick(70_000, 20_000)), 16, nil)
	q := &plan.RankBatch{Norm: s.norm(0, 0)}
	wishes := make([][]uint32, len(rankings))
	for i, ranking := range rankings {
		var lowDocs, low, highDocs, high []uint32
		for d := range s.Docs {
			wish := ranking.score(r, d, s.Docs)
			wishes[i] = append(wishes[i], wish)
			if wish&0xFFFF > 0 {
				lowDocs, low = append(lowDocs, d), append(low, wish&0xFFFF)
			}
			if wish>>16 > 0 {
				highDocs, high = append(highDocs, d), append(high, wish>>16<<8)
			}
		}
		s.rank(t, su.Codecs[i%len(su.Codecs)], lowDocs, low)
		s.rank(t, su.Codecs[(i+1)%len(su.Codecs)], highDocs, high)
	}
	for i := range rankings {
		h := plan.Handle(2 * i)
		q.Add(&s.Source, plan.Term{List: h, Weight: 1 << 16}, plan.Term{List: h + 1, Weight: 1 << 24})
	}
	st := su.load(t, &s.source)
	ks := []int{1, 10, 1000, plan.MaxK}
	all := s.rankAny(q)
	for _, q.Mode = range []plan.Mode{plan.Or, plan.And} {
		if q.Mode == plan.And {
			every(q, all)
		}
		for i, ranking := range rankings {
			t.Run(fmt.Sprintf("%v %s", q.Mode, ranking.name), func(t *testing.T) {
				for _, x := range all[i] {
					if x.score != wishes[i][x.doc] {
						t.Fatalf("document %d has score %d, not %d", x.doc, x.score, wishes[i][x.doc])
					}
				}
				alone := plan.RankBatch{Mode: q.Mode, Norm: q.Norm}
				alone.Add(&s.Source, q.Query(i)...)
				su.verifyMode(t, st, s, &alone, all[i:i+1], ks...)
			})
		}
		su.verifyMode(t, st, s, q, all, ks...) // every query with a threshold of its own
	}
}
