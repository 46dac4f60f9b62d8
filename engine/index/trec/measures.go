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
	// Measures names the measures, as ParseMeasures reads them. The default is
	// DefaultMeasures.
	Measures []string
	// Cutoffs are the ranks k of P, recall and ndcg_cut, ascending. The default is
	// DefaultCutoffs.
	Cutoffs []int
	// Level is the least relevance of a relevant document, for all measures except
	// nDCG. The default is 1.
	Level int
	// Complete averages over all queries of the qrels; a query without results counts
	// as 0. The default is the queries in both files.
	Complete bool
}

// DefaultCutoffs are the cutoffs of trec_eval.
func DefaultCutoffs() []int { return []int{5, 10, 15, 20, 30, 100, 200, 500, 1000} }

// DefaultMeasures are the measures of an evaluation that names none.
func DefaultMeasures() []string {
	return []string{"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "recip_rank", "P", "recall", "ndcg_cut"}
}

// Measures are the measures of one query or of all queries. For all queries, counts are
// sums, gm_map is a geometric mean, and the remaining measures are means over Queries.
type Measures struct {
	Query   string // "all" for all queries
	Queries int    // number of queries
	values  []float64
}

// Report is the result of an evaluation.
type Report struct {
	Queries []Measures // by ascending name of the query
	All     Measures

	Missing  []string // queries of the qrels that are not in the run, ascending
	Unjudged []string // queries of the run that are not in the qrels, ascending; never counted

	columns []column
	runID   string
}

// Value is a measure under its name in trec_eval, or under the name that asked for it.
type Value struct {
	Name  string
	Value float64
	Count bool   // a whole number
	Text  string // runid has a text and no value
}

// Values lists m, of r, in the order of trec_eval. runid, num_q, gm_map and gm_bpref have
// values for all queries alone.
func (r *Report) Values(m *Measures) (values []Value) {
	for i, c := range r.columns {
		if m == &r.All || !c.allOnly {
			v := Value{Name: c.label, Value: m.values[i], Count: c.count}
			if c.name == runID {
				v.Text = r.runID
			}
			values = append(values, v)
		}
	}
	return values
}

// Evaluate computes measures under the definitions of trec_eval 10: a document without a
// judgement is not relevant; ranks beyond the retrieved documents hold nothing relevant;
// the gain of a document in nDCG is its relevance where that is positive, discounted by
// log2(rank+1); the ideal order is all judged documents by relevance. With Complete,
// num_rel of all queries counts documents with a relevance above 0, whatever Level is.
// It fails if no query counts.
func Evaluate(run Run, qrels Qrels, opt Options) (*Report, error) {
	if opt.Cutoffs == nil {
		opt.Cutoffs = DefaultCutoffs()
	}
	for i, k := range opt.Cutoffs {
		if k < 1 || i > 0 && k <= opt.Cutoffs[i-1] {
			return nil, fmt.Errorf("trec: cutoffs %v, want ascending ones from 1", opt.Cutoffs)
		}
	}
	if opt.Measures == nil {
		opt.Measures = DefaultMeasures()
	}
	r := &Report{runID: run.ID}
	var err error
	if r.columns, err = parseMeasures(opt.Measures, opt.Cutoffs); err != nil {
		return nil, err
	}
	level := max(opt.Level, 1)
	for _, query := range slices.Sorted(maps.Keys(qrels)) {
		found, ok := run.Queries[query]
		if !ok {
			r.Missing = append(r.Missing, query)
		}
		if ok || opt.Complete {
			r.Queries = append(r.Queries, r.measure(query, judge(found, qrels[query], level)))
		}
	}
	for _, query := range slices.Sorted(maps.Keys(run.Queries)) {
		if _, ok := qrels[query]; !ok {
			r.Unjudged = append(r.Unjudged, query)
		}
	}
	if len(r.Queries) == 0 {
		return nil, errors.New("no query has both results and judgements")
	}
	r.All = r.aggregate()
	if i := slices.IndexFunc(r.columns, func(c column) bool { return c.label == "num_rel" }); i >= 0 && opt.Complete {
		r.All.values[i] = float64(qrels.relevant())
	}
	return r, nil
}

// relevant counts documents with a relevance above 0.
func (q Qrels) relevant() (n int) {
	for _, judged := range q {
		for _, relevance := range judged {
			if relevance > 0 {
				n++
			}
		}
	}
	return n
}

func (r *Report) measure(query string, j *judgement) Measures {
	m := Measures{Query: query, Queries: 1}
	for _, c := range r.columns {
		m.values = append(m.values, c.of(j, c.parameter))
	}
	return m
}

// aggregate sums over the queries in their order, then divides, as trec_eval does.
func (r *Report) aggregate() Measures {
	all := Measures{Query: "all", Queries: len(r.Queries), values: make([]float64, len(r.columns))}
	n := float64(len(r.Queries))
	for i, c := range r.columns {
		for _, m := range r.Queries {
			all.values[i] += m.values[i]
		}
		switch {
		case c.geometric:
			all.values[i] = math.Exp(all.values[i] / n)
		case !c.count:
			all.values[i] /= n
		}
	}
	return all
}

// judgement is the outcome of one query.
type judgement struct {
	relevance []int     // by rank: relevance of the retrieved document, or unpooled or pooled
	hits      []int     // number of relevant documents before each rank, and in all
	relevant  int       // relevant documents of the qrels
	rejected  int       // documents that were judged and are not relevant
	ideal     []float64 // relevances above 0 of the qrels, descending
	level     int
}

// Documents without a judgement.
const (
	unpooled = -1 // not in the qrels
	pooled   = -2 // in the qrels with a negative relevance
)

func judge(found []Retrieved, judged map[string]int, level int) *judgement {
	j := &judgement{level: level, hits: make([]int, len(found)+1)}
	for i, d := range found {
		relevance, ok := judged[d.Doc]
		if !ok {
			relevance = unpooled
		} else if relevance < 0 {
			relevance = pooled
		}
		j.relevance = append(j.relevance, relevance)
		j.hits[i+1] = j.hits[i]
		if relevance >= level {
			j.hits[i+1]++
		}
	}
	for _, relevance := range judged {
		switch {
		case relevance >= level:
			j.relevant++
		case relevance >= 0:
			j.rejected++
		}
		if relevance > 0 {
			j.ideal = append(j.ideal, float64(relevance))
		}
	}
	slices.SortFunc(j.ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	return j
}

// found is the number of relevant documents among the first k ranks.
func (j *judgement) found(k int) float64 { return float64(j.hits[min(k, len(j.relevance))]) }

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
