package trec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Options of an evaluation.
type Options struct {
	// Cutoffs are the ranks k of P@k, recall@k and nDCG@k, ascending; nil means
	// DefaultCutoffs.
	Cutoffs []int
	// Level is the least relevance that makes a document relevant, for all measures
	// but nDCG; 0 means 1.
	Level int
	// Complete averages over all queries of the qrels: one that is not in the run
	// found nothing. Otherwise such queries do not count.
	Complete bool
}

// DefaultCutoffs are the cutoffs of trec_eval.
func DefaultCutoffs() []int { return []int{5, 10, 15, 20, 30, 100, 200, 500, 1000} }

// Measures are the measures of one query or of all queries. For all queries, counts are
// sums, and the remaining measures are means over Queries.
type Measures struct {
	Query   string // "all" for the means
	Queries int    // 1, or how many the means are of

	Retrieved         int
	Relevant          int
	RelevantRetrieved int

	MAP float64 // average precision
	MRR float64 // 1 / rank of the first relevant document

	// By cutoff. Where no document is relevant, all but P are 0.
	P, Recall, NDCG []float64
}

// Report is the result of an evaluation.
type Report struct {
	Cutoffs []int
	Queries []Measures // by ascending name of the query
	All     Measures

	Missing  []string // queries of the qrels that are not in the run, ascending
	Unjudged []string // queries of the run that are not in the qrels, ascending; never counted
}

// Value is a measure under the name that trec_eval gives it.
type Value struct {
	Name  string
	Value float64
	Count bool // a whole number
}

// Values lists m, of r, in the order of trec_eval; num_q for the means alone.
func (r *Report) Values(m *Measures) (values []Value) {
	if m == &r.All {
		values = append(values, Value{"num_q", float64(m.Queries), true})
	}
	values = append(values,
		Value{"num_ret", float64(m.Retrieved), true},
		Value{"num_rel", float64(m.Relevant), true},
		Value{"num_rel_ret", float64(m.RelevantRetrieved), true},
		Value{"map", m.MAP, false},
		Value{"recip_rank", m.MRR, false})
	for _, by := range []struct {
		name string
		of   []float64
	}{{"P", m.P}, {"recall", m.Recall}, {"ndcg_cut", m.NDCG}} {
		for i, k := range r.Cutoffs {
			values = append(values, Value{fmt.Sprintf("%s_%d", by.name, k), by.of[i], false})
		}
	}
	return values
}

// Evaluate computes the measures of trec_eval under the same definitions: a document
// without a judgement is not relevant; ranks beyond the retrieved documents hold nothing
// relevant; the gain of a document in nDCG is its relevance where that is positive,
// discounted by log2(rank+1); the ideal order is all judged documents by relevance. It
// fails if no query counts.
//
// With Complete and a Level above 1 one number differs: num_rel of all queries in
// trec_eval counts documents with a relevance above 0.
func Evaluate(run Run, qrels Qrels, opt Options) (*Report, error) {
	r := &Report{Cutoffs: opt.Cutoffs}
	if r.Cutoffs == nil {
		r.Cutoffs = DefaultCutoffs()
	}
	for i, k := range r.Cutoffs {
		if k < 1 || i > 0 && k <= r.Cutoffs[i-1] {
			return nil, fmt.Errorf("trec: cutoffs %v, want ascending ones from 1", r.Cutoffs)
		}
	}
	level := max(opt.Level, 1)
	for _, query := range slices.Sorted(maps.Keys(qrels)) {
		found, ok := run[query]
		if !ok {
			r.Missing = append(r.Missing, query)
		}
		if ok || opt.Complete {
			r.Queries = append(r.Queries, measure(query, found, qrels[query], r.Cutoffs, level))
		}
	}
	for _, query := range slices.Sorted(maps.Keys(run)) {
		if _, ok := qrels[query]; !ok {
			r.Unjudged = append(r.Unjudged, query)
		}
	}
	if len(r.Queries) == 0 {
		return nil, errors.New("trec: no query has both results and judgements")
	}
	r.All = mean(r.Queries, len(r.Cutoffs))
	return r, nil
}

// measure evaluates one query.
func measure(query string, found []Retrieved, judged map[string]int, cutoffs []int, level int) Measures {
	m := Measures{Query: query, Queries: 1, Retrieved: len(found)}
	gains := make([]float64, len(found)) // by rank
	hits := make([]int, len(found)+1)    // relevant documents before a rank
	for i, d := range found {
		relevance := judged[d.Doc]
		gains[i] = float64(max(relevance, 0))
		hits[i+1] = hits[i]
		if relevance < level {
			continue
		}
		hits[i+1]++
		m.MAP += float64(hits[i+1]) / float64(i+1)
		if hits[i+1] == 1 {
			m.MRR = 1 / float64(i+1)
		}
	}
	m.RelevantRetrieved = hits[len(found)]

	var ideal []float64
	for _, relevance := range judged {
		if relevance >= level {
			m.Relevant++
		}
		if relevance > 0 {
			ideal = append(ideal, float64(relevance))
		}
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	m.MAP = ratio(m.MAP, float64(m.Relevant))
	for _, k := range cutoffs {
		hits := float64(hits[min(k, len(found))])
		m.P = append(m.P, hits/float64(k))
		m.Recall = append(m.Recall, ratio(hits, float64(m.Relevant)))
		m.NDCG = append(m.NDCG, ratio(discounted(gains, k), discounted(ideal, k)))
	}
	return m
}

// discounted is the discounted cumulative gain of the first k ranks.
func discounted(gains []float64, k int) (sum float64) {
	for i, g := range gains[:min(k, len(gains))] {
		sum += g / math.Log2(float64(i+2))
	}
	return sum
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// mean averages over queries, in their order: sums first, as trec_eval does.
func mean(queries []Measures, cutoffs int) Measures {
	all := Measures{Query: "all", Queries: len(queries),
		P: make([]float64, cutoffs), Recall: make([]float64, cutoffs), NDCG: make([]float64, cutoffs)}
	for _, m := range queries {
		all.Retrieved += m.Retrieved
		all.Relevant += m.Relevant
		all.RelevantRetrieved += m.RelevantRetrieved
		all.MAP += m.MAP
		all.MRR += m.MRR
		for i := range cutoffs {
			all.P[i] += m.P[i]
			all.Recall[i] += m.Recall[i]
			all.NDCG[i] += m.NDCG[i]
		}
	}
	n := float64(len(queries))
	all.MAP /= n
	all.MRR /= n
	for i := range cutoffs {
		all.P[i] /= n
		all.Recall[i] /= n
		all.NDCG[i] /= n
	}
	return all
}
