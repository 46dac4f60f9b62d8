package workload

import (
	"cmp"
	"context"
	"slices"

	"heddle/engine/plan"
)

// Stage is a cell of Table 4 of Ao et al. 2011: the size of the intersection of the
// first x lists of a query, and its ratio to the next list.
type Stage struct {
	Ratio      float64 // mean of |l1 ∩ ... ∩ lx| / |l(x+1)|, in percent
	Candidates float64 // mean of |l1 ∩ ... ∩ lx|, in thousands
}

// Stages holds the stages 1 to k-1 of queries with k terms, at [k-2][x-1].
type Stages [5][]Stage

// PaperStages is Table 4: queries of 2 to 6 terms on GOV.
var PaperStages = Stages{
	{{13.6, 8.6}},
	{{23.1, 8.7}, {0.97, 2.0}},
	{{28.6, 8.4}, {1.76, 1.6}, {0.22, 0.8}},
	{{32.0, 8.0}, {2.38, 1.5}, {0.35, 0.6}, {0.087, 0.5}},
	{{34.4, 8.0}, {2.82, 1.5}, {0.50, 0.6}, {0.13, 0.4}, {0.054, 0.4}},
}

// StageTolerance is the largest relative difference of the whole workload from the
// paper. Candidates may also differ by half of the last digit that the paper prints.
const StageTolerance = 0.15

// Stages measures the first n queries of the workload by intersecting their lists. It
// skips queries with more than six terms.
func (w *Workload) Stages(ctx context.Context, n int) (Stages, error) {
	n = min(n, len(w.Queries))
	perQuery := make([][]Stage, n)
	err := Each(ctx, n, func(i int) error {
		lists := w.Sorted(w.Queries[i])
		if len(lists) > len(PaperStages)+1 {
			return nil
		}
		left := lists[0]
		var buf []uint32
		for _, next := range lists[1:] {
			perQuery[i] = append(perQuery[i], Stage{
				Ratio:      100 * float64(len(left)) / float64(max(len(next), 1)),
				Candidates: float64(len(left)) / 1000})
			buf = Intersect(buf[:0], left, next)
			left = buf
		}
		return nil
	})
	if err != nil {
		return Stages{}, err
	}
	var sum Stages
	var count [len(sum)]float64
	for k := range sum {
		sum[k] = make([]Stage, k+1)
	}
	for _, stages := range perQuery {
		if len(stages) == 0 {
			continue
		}
		k := len(stages) - 1
		count[k]++
		for x, s := range stages {
			sum[k][x].Ratio += s.Ratio
			sum[k][x].Candidates += s.Candidates
		}
	}
	for k := range sum {
		for x := range sum[k] {
			sum[k][x].Ratio /= max(count[k], 1)
			sum[k][x].Candidates /= max(count[k], 1)
		}
	}
	return sum, nil
}

// Sorted returns the lists of a query, shortest first.
func (w *Workload) Sorted(q []plan.Handle) [][]uint32 {
	lists := make([][]uint32, len(q))
	for i, h := range q {
		lists[i] = w.List(h)
	}
	slices.SortFunc(lists, func(a, b []uint32) int { return cmp.Compare(len(a), len(b)) })
	return lists
}
