package lists

import (
	"context"
	"fmt"
	"math"
	"sync"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// lengthClasses are the classes of Table 1, in docIDs.
var lengthClasses = [...][2]uint32{{0, 100_000}, {100_000, 200_000}, {200_000, 400_000}, {400_000, 600_000}, {600_000, 800_000}, {800_000, 1_000_000}}

// Table 1: contraction ratio and coefficient of determination by length class, on GOVR,
// GOV and GOVPR.
var (
	paperContraction = [...][6]float64{
		workload.Uniform:   {0.1227, 0.0030, 0.0019, 0.0012, 0.0008, 0.0006},
		workload.Clustered: {0.2198, 0.0375, 0.0306, 0.0186, 0.0069, 0.0060},
		workload.Reordered: {0.2496, 0.0751, 0.0618, 0.0565, 0.0388, 0.0308}}
	paperDetermination = [...][6]float64{
		workload.Uniform:   {0.9870, 0.9999, 0.9999, 0.9999, 0.9999, 0.9999},
		workload.Clustered: {0.9613, 0.9991, 0.9995, 0.9997, 0.9999, 0.9999},
		workload.Reordered: {0.9573, 0.9952, 0.9966, 0.9972, 0.9985, 0.9990}}
)

// aoTable1 measures how linear lists are.
func (s *bench) aoTable1() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table1", Title: "Contraction ratio and R² by length of list", Source: "Ao et al. 2011, Table 1",
		Says:   "Lists of documents numbered at random are more linear; the more linear, the narrower the safe range.",
		Ours:   "Uniform stands for GOVR, clustered for GOV, reordered for GOVPR: a better clustering than PageRank makes, so less linear.",
		Orders: harness.AllOrders, Rows: "docIDs in the list",
		Run: func(ctx context.Context) error {
			ratio, squared, err := linearity(ctx, s.W)
			if err != nil {
				return err
			}
			for i, class := range lengthClasses {
				for _, m := range []struct {
					panel string
					mean  float64
					paper float64
				}{{"contraction ratio", ratio[i], paperContraction[s.W.Order][i]}, {"R²", squared[i], paperDetermination[s.W.Order][i]}} {
					if math.IsNaN(m.mean) { // no list has such a length
						continue
					}
					s.Put(harness.Reading{Panel: m.panel, Series: s.W.Order.String(), At: fmt.Sprintf("[%d K, %d K)", class[0]/1000, class[1]/1000),
						Paper: m.paper, Row: measure.Single(m.mean).Into(measure.Row{Metric: m.panel, Unit: "mean over the lists"})})
				}
			}
			return nil
		},
	}
}

// linearity returns the means of contraction ratio and R² for each length class. An
// empty class has NaN.
func linearity(ctx context.Context, w *workload.Workload) (ratio, squared [len(lengthClasses)]float64, err error) {
	var mu sync.Mutex
	var count [len(lengthClasses)]float64
	err = workload.Each(ctx, len(w.Source.Lists), func(h int) error {
		docs := w.List(plan.Handle(h))
		line := codec.FitLine(docs)
		r, d := float64(line.Left+line.Right)/float64(len(docs)), determination(docs)
		mu.Lock()
		defer mu.Unlock()
		for i, class := range lengthClasses {
			if n := uint32(len(docs)); n >= max(class[0], 2) && n < class[1] { // a line needs two points
				ratio[i] += r
				squared[i] += d
				count[i]++
			}
		}
		return nil
	})
	for i, n := range count {
		ratio[i] /= n
		squared[i] /= n
	}
	return ratio, squared, err
}

// determination is R² of the regression of docIDs on their positions.
func determination(docs []uint32) float64 {
	n := float64(len(docs))
	meanI, meanD := (n-1)/2, 0.0
	for _, d := range docs {
		meanD += float64(d) / n
	}
	var ii, id, dd float64
	for i, d := range docs {
		x, y := float64(i)-meanI, float64(d)-meanD
		ii += x * x
		id += x * y
		dd += y * y
	}
	if ii == 0 || dd == 0 {
		return 1
	}
	return id * id / (ii * dd)
}
