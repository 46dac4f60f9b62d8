package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
)

const (
	probeRuns  = 15                    // runs of each batch at most; the least time counts
	probeTime  = 10 * time.Millisecond // time of a batch after which two runs suffice
	probeBytes = 32 << 20              // compressed words that one batch reads at most
)

// Measure times some ORs of the table's own vectors, for tens of milliseconds: of few and
// many words, few and many vectors, one and several selections, with a check, and with
// rows as the result. run answers a batch and returns its time. Measure returns the
// samples for cost.Model.FitSelections, or the first error.
func (d *Data) Measure(ctx context.Context, run func(context.Context, *plan.SelectBatch) (time.Duration, error)) ([]cost.Sample, error) {
	var samples []cost.Sample
	for _, s := range d.probes() {
		if _, err := run(ctx, s); err != nil { // the first use may build tables
			return nil, err
		}
		least, spent := time.Duration(math.MaxInt64), time.Duration(0)
		for i := 0; i < probeRuns && (i < 2 || spent < probeTime); i++ {
			took, err := run(ctx, s)
			if err != nil {
				return nil, err
			}
			least, spent = min(least, took), spent+took
		}
		samples = append(samples, cost.Sample{Queries: []cost.Features{{Selection: d.Work(s)}}, Took: least})
	}
	return samples, nil
}

// probe counts the rows of the shortest vector on a store and compares their number.
func (d *Data) probe(ctx context.Context, s plan.TableStore) error {
	shortest := 0
	for v := range d.Table.Vectors {
		if d.Table.Vectors[v].Words < d.Table.Vectors[shortest].Words {
			shortest = v
		}
	}
	if len(d.Table.Vectors) == 0 {
		return nil
	}
	var rows plan.Rows
	if err := s.Select(ctx, union(plan.OutputCounts, 1, uint32(shortest)), &rows); err != nil {
		return err
	}
	if n := d.vectorRows[shortest]; uint64(rows.Counts[0]) != n {
		return fmt.Errorf("probe: vector %d has %d rows, want %d", shortest, rows.Counts[0], n)
	}
	return nil
}

// probes are the batches of Measure.
func (d *Data) probes() []*plan.SelectBatch {
	vectors := make([]uint32, len(d.Table.Vectors))
	for v := range vectors {
		vectors[v] = uint32(v)
	}
	if len(vectors) == 0 {
		return nil
	}
	slices.SortFunc(vectors, func(a, b uint32) int { return cmp.Compare(d.Table.Vectors[a].Words, d.Table.Vectors[b].Words) })
	large := vectors[max(0, len(vectors)-32):]
	for len(large) > 1 && d.Table.VectorBytes(large) > probeBytes {
		large = large[1:]
	}
	small := vectors[:min(len(vectors), 32)]
	all := []*plan.SelectBatch{
		union(plan.OutputCounts, 1, small[0]),
		union(plan.OutputCounts, 8, small[0]),
		union(plan.OutputCounts, 1, small...),
		union(plan.OutputCounts, 1, large[len(large)-1]),
		union(plan.OutputCounts, 1, large[len(large)/2:]...),
		union(plan.OutputCounts, 1, large...),
		union(plan.OutputBits, 1, small[0]),
	}
	return append(all, d.checkProbes()...)
}

// union is a batch of a number of selections, each the OR of the vectors.
func union(output plan.Output, selections int, vectors ...uint32) *plan.SelectBatch {
	s := &plan.SelectBatch{Output: output}
	for range selections {
		s.Any(vectors...)
		s.End()
	}
	return s
}

// checkProbes check all rows, and the rows of the first vector, of the columns whose first vectors are the densest
// and the sparsest. The range is the middle third of the codes, so that few tiles are decided by their bounds.
func (d *Data) checkProbes() (all []*plan.SelectBatch) {
	dense, sparse := -1, -1
	rowsOfWord := func(i int) float64 {
		v := d.Columns[i].Vector
		return float64(d.vectorRows[v]) / float64(d.Table.Vectors[v].Words)
	}
	for i := range d.Columns {
		if d.Columns[i].Vectors() == 0 || d.Table.Rows == 0 {
			continue
		}
		if dense < 0 || rowsOfWord(i) > rowsOfWord(dense) {
			dense = i
		}
		if sparse < 0 || rowsOfWord(i) < rowsOfWord(sparse) {
			sparse = i
		}
	}
	for _, i := range slices.Compact([]int{dense, sparse}) {
		if i >= 0 {
			last := uint64(0) // the greatest code; columns without a value have none
			if bins := d.Columns[i].Bins; len(bins) > 0 {
				last = bins[len(bins)-1].Hi
			}
			for _, push := range []func(s *plan.SelectBatch){
				func(s *plan.SelectBatch) { s.Do(plan.StepAll) },
				func(s *plan.SelectBatch) { s.Any(d.Columns[i].Vector) },
			} {
				s := &plan.SelectBatch{Output: plan.OutputCounts}
				push(s)
				s.Check(uint32(i), plan.CodeRange{Lo: last / 3, Hi: last - last/3})
				s.End()
				all = append(all, s)
			}
		}
	}
	return all
}
