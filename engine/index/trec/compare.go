package trec

import (
	"errors"
	"maps"
	"math"
	"slices"

	"heddle/engine/index/trec/significance"
)

// Comparison is one measure of several runs over the same queries.
type Comparison struct {
	Measure string
	Runs    []Compared // comparisons in the order of the runs
}

// Compared is the measure of one run, and its difference to the first run.
type Compared struct {
	Value      float64
	Difference float64 // Value minus the value of the first run; 0 for the first run
	// T and Randomisation are two-sided p-values of the paired t-test and of Fisher's
	// randomisation test against the first run, corrected by Holm over the runs. They are NaN
	// for the first run, for T with fewer than two queries, and for counts and geometric means.
	T, Randomisation float64
}

// Compare measures several runs over the same queries: the queries of the qrels that all runs
// have, or all queries of the qrels with Options.Complete. It returns the comparisons in the
// order of trec_eval, and the number of queries. It fails if no query counts.
func Compare(runs []Run, qrels Qrels, opt Options) ([]Comparison, int, error) {
	if len(runs) < 2 {
		return nil, 0, errors.New("trec: a comparison of fewer than two runs")
	}
	if !opt.Complete {
		qrels = maps.Clone(qrels)
		maps.DeleteFunc(qrels, func(query string, _ map[string]int) bool {
			return slices.ContainsFunc(runs, func(r Run) bool { _, ok := r.Queries[query]; return !ok })
		})
		if len(qrels) == 0 {
			return nil, 0, errors.New("no query has results in all runs and judgements")
		}
	}
	reports := make([]*Report, len(runs))
	for i, run := range runs {
		var err error
		if reports[i], err = Evaluate(run, qrels, opt); err != nil {
			return nil, 0, err
		}
	}
	var list []Comparison
	for at, c := range reports[0].columns {
		if c.name != runID {
			list = append(list, compare(reports, at))
		}
	}
	return list, len(reports[0].Queries), nil
}

// compare compares the column at of all reports.
func compare(reports []*Report, at int) Comparison {
	column := reports[0].columns[at]
	c := Comparison{Measure: column.label}
	var ts, randoms []float64
	for _, r := range reports {
		value := r.All.values[at]
		c.Runs = append(c.Runs, Compared{Value: value, Difference: value - reports[0].All.values[at], T: math.NaN(), Randomisation: math.NaN()})
		if r == reports[0] || column.count || column.geometric {
			continue
		}
		differences := make([]float64, len(r.Queries))
		for q := range differences {
			differences[q] = r.Queries[q].values[at] - reports[0].Queries[q].values[at]
		}
		ts = append(ts, significance.PairedT(differences))
		randoms = append(randoms, significance.Randomisation(differences))
	}
	significance.Holm(ts)
	significance.Holm(randoms)
	for i := range ts {
		c.Runs[i+1].T, c.Runs[i+1].Randomisation = ts[i], randoms[i]
	}
	return c
}
