package query

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// ranked is the part of a Batch for ranked queries.
type ranked struct {
	ranks   plan.RankBatch // the queries, each with its known terms
	source  *plan.Source   // lists of the queries
	missing []bool         // whether a term of the query is in no document
	scales  []bm25.Scale   // by query: scale of its scores

	weights []float64 // weights of Batch.terms
	dfs     []uint64  // document frequencies that replace the ones of Batch.terms; 0: not replaced
	asked   []asked
	real    []float64
	fixed   []uint32
	list    []plan.Term
	places  []int // by term of list: asked.place

	pass, rest  plan.RankBatch // for AllElseAny: all queries under plan.And, and some queries again under plan.Or
	top, again  plan.TopK
	stats       plan.Stats
	expressions expressions
	totals      totals
	again1      []int32   // query i is ranking again1[i]-1 of again, unless that is negative
	scores      []float64 // scores of all rankings
	offsets     []uint32  // offsets[i] is where the scores of query i begin; one entry more than queries
}

// asked is a term of a query.
type asked struct {
	term   string
	handle plan.Handle // unknown: no document of the index has the term
	weight float64
	df     uint64 // document frequency for the score; 0: its own
	place  int    // in Batch.terms, of a query with groups, which joins no terms
}

const unknown = math.MaxUint32

func (b *Batch) resetRanked() {
	for _, r := range []*plan.RankBatch{&b.ranks, &b.pass, &b.rest} {
		r.Reset()
		r.K, r.Norm, r.Accumulators = b.kind.K, b.kind.Norm, b.kind.Accumulators
	}
	b.missing, b.scales = b.missing[:0], b.scales[:0]
	b.match.Reset()
	b.match.CountOnly, b.match.Part, b.match.Algorithm = false, false, plan.Auto
	b.expressions.reset()
}

func (b *Batch) adoptRanked(one *Batch) {
	b.source = one.source
	b.ranks.AddOrdered(one.ranks.Query(0))
	b.missing, b.scales = append(b.missing, one.missing[0]), append(b.scales, one.scales[0])
	b.adoptExpr(one)
}

// addRanked resolves the terms of q, weighs them and appends the query. It returns the
// number of postings.
func (b *Batch) addRanked(x *Index, q *Query, s *Settings) (uint64, error) {
	e, err := x.weigh(b, q)
	if err != nil {
		return 0, err
	}
	var f set
	var other *set
	if e != nil {
		if f, err = x.compile(b, e); err != nil {
			return 0, err
		}
		if other, err = x.elseAny(b, q, e); err != nil {
			return 0, err
		}
		if err = x.scored(b, e); err != nil {
			return 0, err
		}
		x.optional(b, f)
	} else if x.hasFields() {
		f, other = b.termSets(x)
	}
	bested := e != nil && b.bested()
	if x.hasFields() || bested {
		b.rankFields(x, s, f, other)
	}
	x.join(b, bested)
	b.source = x.Source
	b.real, b.list, b.places = b.real[:0], b.list[:0], b.places[:0]
	missing, postings := false, uint64(0)
	phrases, err := b.weighPhrases(x, s)
	if err != nil {
		return 0, err
	}
	var last *asked // whose weight is the last of b.real
	for i := range b.asked {
		t := &b.asked[i]
		length := uint32(0)
		if t.handle != unknown {
			length = x.Source.Lists[t.handle].Len
		}
		weight, ok, err := s.weight(x, t, length)
		if err != nil {
			return 0, err
		}
		missing = missing || length == 0 || !ok
		postings += uint64(length)
		switch {
		case !ok || t.weight == 0: // a similar word of as many edits as characters has the weight 0
		case !bested && last != nil && last.term == t.term: // with another document frequency
			b.real[len(b.real)-1] += weight
		default:
			last = t
			// A term of other shards alone counts in the scale too.
			b.real, b.list, b.places = append(b.real, weight), append(b.list, plan.Term{List: t.handle}), append(b.places, t.place)
		}
	}
	words := len(b.real)
	for _, p := range phrases {
		b.real = append(b.real, p.weight)
	}
	var scale bm25.Scale
	b.fixed, scale = bm25.Fix(b.fixed[:0], b.real)
	if bested {
		weights := make([]plan.Term, len(b.terms)+len(b.scoredPhrases))
		for i, t := range b.list {
			if t.List != unknown && x.Source.Lists[t.List].Len > 0 {
				weights[b.places[i]] = plan.Term{List: t.List, Weight: b.fixed[i]}
			}
		}
		for i, p := range phrases {
			if p.number >= 0 {
				weights[len(b.terms)+p.of] = plan.Term{List: b.phrased.base + plan.Handle(p.number), Weight: b.fixed[words+i]}
			}
		}
		b.addGroups(weights, s.Options.Dismax.Tie)
		b.list, phrases = b.list[:0], nil
	}
	for i, p := range phrases {
		if b.phrased != nil && p.number >= 0 {
			b.phrased.scored = append(b.phrased.scored, weightedPhrase{p.number, b.fixed[words+i]})
			postings += b.phrased.load(x.Source)
		}
	}
	n := 0
	for i, t := range b.list {
		if t.List != unknown && x.Source.Lists[t.List].Len > 0 {
			b.list[n] = plan.Term{List: t.List, Weight: b.fixed[i]}
			n++
		}
	}
	if e != nil || x.hasFields() {
		missing = false
		if err := b.addRankedExpr(x, f, b.list[:n]); err != nil {
			return 0, err
		}
	} else {
		if missing && b.kind.Match == querylang.AllTerms {
			n, postings = 0, 0
		}
		b.ranks.Add(x.Source, b.list[:n]...)
		b.expressions.of = append(b.expressions.of, 0)
	}
	b.missing = append(b.missing, missing)
	// With impacts the term-frequency component is impact / 2^Impacts.
	b.scales = append(b.scales, scale-bm25.Scale(b.kind.Norm.Impacts))
	return postings, nil
}

// weigh reads the query and checks its weights.
func (x *Index) weigh(b *Batch, q *Query) (*querylang.Expr, error) {
	switch {
	case q.Text != "" && q.Weights != nil:
		return nil, invalidf("weights of terms for a query that is a text")
	case q.Weights != nil && len(q.Weights) != len(q.Terms):
		return nil, invalidf("%d weights for %d terms", len(q.Weights), len(q.Terms))
	}
	for i, weight := range q.Weights {
		if !(weight > 0) || math.IsInf(weight, 1) {
			return nil, invalidf("weight %v of term %s is not positive and finite", weight, syntax.Quote(q.Terms[i]))
		}
	}
	return x.read(b, q)
}

// join looks terms up and, unless each is apart, adds the weights of equal terms of equal document frequencies.
func (x *Index) join(b *Batch, apart bool) {
	b.asked = b.asked[:0]
	for i, t := range b.terms {
		h, ok := x.Dictionary.Lookup(t)
		if !ok {
			h = unknown
		}
		b.asked = append(b.asked, asked{t, h, b.weights[i], b.dfs[i], i})
	}
	if apart {
		return
	}
	slices.SortStableFunc(b.asked, func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.handle, b.handle), strings.Compare(a.term, b.term), cmp.Compare(a.df, b.df))
	})
	n := 0
	for _, t := range b.asked {
		if n > 0 && b.asked[n-1].term == t.term && b.asked[n-1].df == t.df {
			b.asked[n-1].weight += t.weight
			continue
		}
		b.asked[n] = t
		n++
	}
	b.asked = b.asked[:n]
}
