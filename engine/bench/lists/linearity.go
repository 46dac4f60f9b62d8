package lists

import (
	"context"
	"fmt"
	"sync"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// lengthClasses are the classes of Table 1, in docIDs.
var lengthClasses = [...][2]uint64{{0, 100_000}, {100_000, 200_000}, {200_000, 400_000}, {400_000, 600_000}, {600_000, 800_000}, {800_000, 1_000_000}}

// Table 1: contraction ratio and coefficient of determination by length class.
var (
	paperContraction = map[string][len(lengthClasses)]float64{
		"GOV":   {0.2198, 0.0375, 0.0306, 0.0186, 0.0069, 0.0060},
		"GOVPR": {0.2496, 0.0751, 0.0618, 0.0565, 0.0388, 0.0308},
		"GOVR":  {0.1227, 0.0030, 0.0019, 0.0012, 0.0008, 0.0006},
		"GOV2":  {0.4294, 0.2460, 0.1516, 0.1217, 0.1296, 0.1076},
		"GOV2R": {0.1025, 0.0033, 0.0023, 0.0016, 0.0013, 0.0011},
		"BD":    {0.3323, 0.1357, 0.0760, 0.0661, 0.0667, 0.0838},
		"BDR":   {0.1113, 0.0033, 0.0022, 0.0017, 0.0014, 0.0009}}
	paperDetermination = map[string][len(lengthClasses)]float64{
		"GOV":   {0.9613, 0.9991, 0.9995, 0.9997, 0.9999, 0.9999},
		"GOVPR": {0.9573, 0.9952, 0.9966, 0.9972, 0.9985, 0.9990},
		"GOVR":  {0.9870, 0.9999, 0.9999, 0.9999, 0.9999, 0.9999},
		"GOV2":  {0.8731, 0.9636, 0.9847, 0.9896, 0.9884, 0.9946},
		"GOV2R": {0.9898, 0.9999, 0.9999, 0.9999, 0.9999, 0.9999},
		"BD":    {0.9271, 0.9746, 0.9943, 0.9957, 0.9973, 0.9955},
		"BDR":   {0.9891, 0.9999, 0.9999, 0.9999, 0.9999, 0.9999}}
)

// aoTable1 measures how linear lists are.
func (s *bench) aoTable1() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table1", Title: "Contraction ratio and R² by length of list", Source: "Ao et al. 2011, Table 1",
		Says: "Lists of documents numbered at random are more linear; the more linear, the narrower the safe range.",
		Ours: "Generated lists of the GOV-like workload in each class, at most 48, with the numbers of documents of the paper. The sites of each crawl (GOV 3,072, GOVPR 800, GOV2 250, BD 1,500) and the trend of GOVPR were fitted to this table, so it shows how well they fit. " +
			"Lists below 100 K are more linear here. In GOVPR the contraction ratio of the longest lists is a third of the paper's.",
		Found: `The contraction ratio is {{to (ours (rows "contraction*" "" "[0 K*"))}} times the paper's for lists below 100 K, for longer ones {{to (ours (rows "contraction*" "GOVPR" "[?00 K*"))}} times on GOVPR and {{to (ours (rows "contraction*" "GOV|GOVR|GOV2|GOV2R|BD|BDR" "[?00 K*"))}} times on the others; R² is {{to (ours (rows "R²" "" ""))}} times the paper's.`,
		Rows:  "docIDs in the list",
		Run: func(ctx context.Context) error {
			for _, d := range harness.DataSets(&s.Opt) {
				for i, class := range lengthClasses {
					lists, err := d.Draw(ctx, s.Opt.Seed, d.Terms(max(s.scaled(class[0]), 2), s.scaled(class[1]), harness.Pick(&s.Opt, 48, 4)))
					if err != nil {
						return err
					}
					ratio, squared, err := linearity(ctx, lists)
					if err != nil {
						return err
					}
					if len(lists) == 0 {
						continue
					}
					for _, m := range []struct {
						panel       string
						mean, paper float64
					}{{"contraction ratio", ratio, paperContraction[d.Name][i]}, {"R²", squared, paperDetermination[d.Name][i]}} {
						s.Put(harness.Reading{Panel: m.panel, Series: d.Name, At: fmt.Sprintf("[%d K, %d K)", class[0]/1000, class[1]/1000),
							Paper: m.paper, Row: measure.Single(m.mean).Into(measure.Row{Metric: m.panel, Unit: "mean over the lists"})})
					}
				}
			}
			return nil
		},
	}
}

// linearity returns the means of contraction ratio and R². A list needs two docIDs.
func linearity(ctx context.Context, lists [][]uint32) (ratio, squared float64, err error) {
	var mu sync.Mutex
	n := 0.0
	err = workload.Each(ctx, len(lists), func(i int) error {
		docs := lists[i]
		if len(docs) < 2 {
			return nil
		}
		line := codec.FitLine(docs)
		r, d := float64(line.Left+line.Right)/float64(len(docs)), determination(docs)
		mu.Lock()
		defer mu.Unlock()
		n, ratio, squared = n+1, ratio+r, squared+d
		return nil
	})
	return ratio / max(n, 1), squared / max(n, 1), err
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
