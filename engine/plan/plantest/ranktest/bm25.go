package ranktest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// bm25 compares every variant of BM25 with plainBM25, which works in floating
// point.
func (su *suite) bm25(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(2000, 600)), 0, plantest.LengthKinds[0].One)
	for i := range 16 {
		n := 1 + r.IntN(int(s.Docs)>>(i%8))
		if i == 5 {
			n = int(s.Docs) // a term of every document
		}
		docs := plantest.Uniform(s.Docs, n, r)
		s.AddRanked(t, su.Codecs[i%len(su.Codecs)], docs, s.Draw(r, n, plantest.FrequencyKinds[1+i%2].One))
	}
	type query struct {
		lists   []plan.Handle
		weights []float64 // weight of each term of the query
	}
	var queries []query
	for i := range su.Pick(30, 8) {
		var q query
		for h := range uint32(len(s.Lists)) {
			if r.IntN(8) <= i%4 {
				q.lists, q.weights = append(q.lists, h), append(q.weights, 1+float64(i%3)*5*r.Float64())
			}
		}
		queries = append(queries, q)
	}
	queries = append(queries, query{[]plan.Handle{5}, []float64{1}})
	st := su.Load(t, s)
	for _, variant := range bm25.Variants() {
		for _, p := range []bm25.Params{{K1: 0.9, B: 0.4}, {K1: 1.2, B: 0.75}, {K1: 0, B: 0}, {K1: 3, B: 1}} {
			p.Variant = variant
			t.Run(p.String(), func(t *testing.T) {
				q := plan.RankBatch{Norm: p.Norm(s.AverageLength())}
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
						all[i] = plainBM25(s, p, q.Mode, x.lists, x.weights)
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

// ties ranks documents whose scores are equal, but differ in floating point, where
// the order of additions matters. The documents have the same five frequencies in
// different order, for terms of the same weight.
func (su *suite) ties(t *testing.T) {
	s := plantest.NewRanked(nil, 240, 0, func(*rand.Rand) uint32 { return 15 })
	var docs []uint32
	freqs := make([][]uint32, 5)
	for d := range s.Docs / 2 { // all permutations of 1 to 5
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
		lists[i] = s.AddRanked(t, su.Codecs[i%len(su.Codecs)], docs, freqs[i])
	}
	p := bm25.Default()
	all := plainBM25(s, p, plan.Or, lists, []float64{1, 1, 1, 1, 1})
	least, most := slices.Min(slices.Collect(maps.Values(all))), slices.Max(slices.Collect(maps.Values(all)))
	if len(all) != len(docs) || least == most || most-least > 1e-15*most {
		t.Fatalf("%d documents with scores from %v to %v", len(all), least, most)
	}
	w := p.Weight(uint64(s.Docs), uint64(len(docs)))
	fixed, _ := bm25.Fix(nil, []float64{w, w, w, w, w})
	q := plan.RankBatch{Norm: p.Norm(s.AverageLength())}
	var terms []plan.Term
	for i, h := range lists {
		terms = append(terms, plan.Term{List: h, Weight: fixed[i]})
	}
	q.Add(&s.Source, terms...)
	st := su.Load(t, s)
	su.verify(t, st, s, &q, 1, 10, 1000)
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

// plainBM25 scores every document that matches, by the definition of BM25. It shares
// no code with package bm25.
func plainBM25(s *plantest.Source, p bm25.Params, mode plan.Mode, lists []plan.Handle, weights []float64) map[uint32]float64 {
	scores, average := map[uint32]float64{}, s.AverageLength()
	for d := range s.Docs {
		score, has := 0.0, 0
		for i, h := range lists {
			at, found := slices.BinarySearch(s.Plain.Docs[h], d)
			if !found {
				continue
			}
			n, df := float64(s.Docs), float64(len(s.Plain.Docs[h]))
			tf, length := float64(s.Plain.Freqs[h][at]), float64(s.Lengths[d])
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
				panic("ranktest: unknown variant of BM25: " + p.String())
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
