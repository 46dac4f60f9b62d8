package plantest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// rankBM25 holds ranking by every variant of BM25 against the plainest BM25 in
// floating point: for every document, for every term, the formula.
func (su *suite) rankBM25(t *testing.T) {
	r := rng(t)
	s := newRanked(r, uint32(su.pick(2000, 600)), 0, lengths[0].one)
	for i := range 16 {
		n := 1 + r.IntN(int(s.Docs)>>(i%8))
		if i == 5 {
			n = int(s.Docs) // a term that is in every document
		}
		docs := uniform(s.Docs, n, r)
		s.rank(t, su.Codecs[i%len(su.Codecs)], docs, s.draw(r, n, frequencies[1+i%2].one))
	}
	type query struct {
		lists   []plan.Handle
		weights []float64 // of the query
	}
	var queries []query
	for i := range su.pick(30, 8) {
		var q query
		for h := range uint32(len(s.Lists)) {
			if r.IntN(8) <= i%4 {
				q.lists, q.weights = append(q.lists, h), append(q.weights, 1+float64(i%3)*5*r.Float64())
			}
		}
		queries = append(queries, q)
	}
	queries = append(queries, query{[]plan.Handle{5}, []float64{1}})
	st := su.load(t, &s.source)
	for _, variant := range bm25.Variants() {
		for _, p := range []bm25.Params{{K1: 0.9, B: 0.4}, {K1: 1.2, B: 0.75}, {K1: 0, B: 0}, {K1: 3, B: 1}} {
			p.Variant = variant
			t.Run(p.String(), func(t *testing.T) {
				q := plan.RankBatch{Norm: p.Norm(s.average())}
				var scales []bm25.Scale
				for _, x := range queries {
					var weights []float64
					for i, h := range x.lists {
						weights = append(weights, x.weights[i]*p.Weight(uint64(s.Docs), uint64(s.Lists[h].Len)))
					}
					fixed, scale := bm25.Fix(nil, weights)
					var terms []plan.Term
					for i, h := range x.lists {
						terms = append(terms, plan.Term{List: h, Weight: fixed[i]})
					}
					q.Add(&s.Source, terms...)
					scales = append(scales, scale)
				}
				var out plan.TopK
				for _, q.Mode = range []plan.Mode{plan.Or, plan.And} {
					all := make([]map[uint32]float64, len(queries))
					for i, x := range queries {
						all[i] = s.plainBM25(p, q.Mode, x.lists, x.weights)
					}
					for _, q.K = range []int{1, 10, 1000} {
						if err := st.Rank(t.Context(), &q, &out); err != nil {
							t.Fatal(err)
						}
						for i, x := range queries {
							docs, sums := out.Query(i)
							scores := make([]float64, len(sums))
							for j := range sums {
								scores[j] = scales[i].Score(sums[j])
							}
							if err := CheckScores(docs, scores, q.K, all[i], Tolerance(len(x.lists), scales[i].Score(1))); err != nil {
								t.Fatalf("%v, k = %d, query %d of lists %v: %v", q.Mode, q.K, i, x.lists, err)
							}
						}
					}
				}
			})
		}
	}
}

// rankUlps ranks documents that have the same score in real numbers, but not in
// floating point, where it depends on the order of additions: each has five
// frequencies in another order, for terms of the same weight. In integers they tie.
func (su *suite) rankUlps(t *testing.T) {
	s := newRanked(nil, 240, 0, func(*rand.Rand) uint32 { return 15 })
	var docs []uint32
	freqs := make([][]uint32, 5)
	for d := range s.Docs / 2 { // the permutations of 1 to 5
		docs = append(docs, 2*d+1)
		left := []uint32{1, 2, 3, 4, 5}
		for i, n := 0, d; i < 5; i++ {
			at := int(n) % len(left)
			n /= uint32(len(left))
			freqs[i] = append(freqs[i], left[at])
			left = slices.Delete(left, at, at+1)
		}
	}
	lists := make([]plan.Handle, 5)
	for i := range lists {
		lists[i] = s.rank(t, su.Codecs[i%len(su.Codecs)], docs, freqs[i])
	}
	p := bm25.Default()
	all := s.plainBM25(p, plan.Or, lists, []float64{1, 1, 1, 1, 1})
	least, most := slices.Min(slices.Collect(maps.Values(all))), slices.Max(slices.Collect(maps.Values(all)))
	if len(all) != len(docs) || least == most || most-least > 1e-15*most {
		t.Fatalf("%d documents with scores from %v to %v", len(all), least, most)
	}
	w := p.Weight(uint64(s.Docs), uint64(len(docs)))
	fixed, _ := bm25.Fix(nil, []float64{w, w, w, w, w})
	q := plan.RankBatch{Norm: p.Norm(s.average())}
	var terms []plan.Term
	for i, h := range lists {
		terms = append(terms, plan.Term{List: h, Weight: fixed[i]})
	}
	q.Add(&s.Source, terms...)
	st := su.load(t, &s.source)
	su.verifyRanks(t, st, s, &q, 1, 10, 1000)
	q.K = 50
	var out plan.TopK
	if err := st.Rank(t.Context(), &q, &out); err != nil {
		t.Fatal(err)
	}
	got, scores := out.Query(0)
	if !slices.Equal(got, docs[:50]) || slices.Min(scores) != slices.Max(scores) {
		t.Errorf("documents %d with scores %d", got, scores)
	}
}

// plainBM25 scores every document that matches: the oracle. It shares nothing with
// package bm25.
func (s *ranked) plainBM25(p bm25.Params, mode plan.Mode, lists []plan.Handle, weights []float64) map[uint32]float64 {
	scores, average := map[uint32]float64{}, s.average()
	for d := range s.Docs {
		score, has := 0.0, 0
		for i, h := range lists {
			at, found := slices.BinarySearch(s.docs[h], d)
			if !found {
				continue
			}
			n, df := float64(s.Docs), float64(len(s.docs[h]))
			tf, length := float64(s.freqs[h][at]), float64(s.Lengths[d])
			part := tf / (tf + p.K1*(1-p.B+p.B*length/average))
			switch p.Variant.String() {
			case "lucene":
				part *= math.Log(1 + (n-df+0.5)/(df+0.5))
			case "robertson":
				part *= math.Max(0, math.Log((n-df+0.5)/(df+0.5)))
			case "atire":
				part *= (p.K1 + 1) * math.Log(n/df)
			case "pisa":
				part *= (p.K1 + 1) * math.Max(1e-6, math.Log((n-df+0.5)/(df+0.5)))
			default:
				panic("plantest: no formula of " + p.String())
			}
			score += weights[i] * part
			has++
		}
		if has > 0 && (mode == plan.Or || has == len(lists)) {
			scores[d] = score
		}
	}
	return scores
}

// Tolerance gives how far a document's score may be from BM25 in floating point,
// with one unit of the integer sums worth unit, for a query of so many terms:
//
//   - Base and Slope of plan.Norm are within 2^-25 and one part in 2^32, what they
//     give for a document is cut to 2^-24. All of it is part of a divisor that is at
//     least 1 (a frequency), so shares are right to one part in 2^23.
//   - Shares are cut to 2^-32 of a weight. Weights add up to less than 2^32 units, so
//     all terms together lose less than one unit, and as much again where 64-bit
//     sums are cut to 32 bits before they are divided.
//   - A weight is rounded to the unit, or up to 1: a unit a term at most. A
//     contribution is rounded up: another one.
//
// Floating point itself, at one part in 2^50, does not count. Norms are below 2^32,
// where plan.Norm ends.
func Tolerance(terms int, unit float64) func(score float64) float64 {
	return func(score float64) float64 { return score/(1<<23) + float64(2*terms+2)*unit }
}

// CheckScores says what is wrong with the best k documents of all, which maps
// every document that matches to its score in floating point. Every score must
// be within the tolerance of the document's; no document that is left out may beat
// the last one by more than the tolerance; the order must be descending by score,
// ascending by docID, and in floating point not wrong by more than the tolerance.
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
			return fmt.Errorf("place %d: document %d once more", i, d)
		case math.Abs(scores[i]-want) > tolerance(want):
			return fmt.Errorf("place %d: document %d has score %v, want %v", i, d, scores[i], want)
		case i > 0 && cmp.Or(cmp.Compare(scores[i], scores[i-1]), cmp.Compare(docs[i-1], d)) >= 0:
			return fmt.Errorf("place %d: document %d with score %v behind document %d with %v", i, d, scores[i], docs[i-1], scores[i-1])
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
