package lists

import (
	"context"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

const aboutPairs = "Kernels by the device's clock; pure Go end to end on all threads. The mean gap of the longer list is 16, a third of the shorter one is in both lists. The levels of the paper, and also merge path, hashing, and auto, the choice of each backend."

// splitters are the levels of recursion of the paper, and algorithms to compare them with.
var splitters = []plan.Algorithm{plan.PMF0, plan.PMF1, plan.PMF2, plan.PMF3, plan.PMF4, plan.MergePath, plan.HS16, plan.Auto}

// dingFigure6 measures the time per element of two lists of equal length, by the number
// of splitter levels.
func (s *bench) dingFigure6() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-fig6", Title: "Two plain lists of one length by levels of recursion", Source: "Ding et al. 2009, Figure 6",
		Found: `For lists of 16 M the device takes {{one "@opencl" "pmf0" "16 M"}} ns an element without recursion, {{to (rows "@opencl" "pmf1|pmf2|pmf3|pmf4" "16 M")}} with one to four levels, and {{one "@opencl" "merge" "16 M"}} by merge path; pure Go {{one "@host" "pmf0" "16 M"}}, {{to (rows "@host" "pmf1|pmf2|pmf3|pmf4" "16 M")}} and {{one "@host" "merge" "16 M"}}.`,
		Says:  "Below 4 ns an element of one list for long lists with two or three levels; without recursion much slower.",
		Ours:  aboutPairs,
		Rows:  "docIDs in each list",
		Chart: chart.Chart{Kind: chart.Lines, X: "docIDs in each list", Y: "ns an element of one list", LogX: true, Tens: true, LogY: true},
		Run: func(ctx context.Context) error {
			lengths := harness.Pick(&s.Opt, []int{5000, 20_000, 100_000, 500_000, 2_000_000, 16_000_000}, []int{5000, 50_000})
			return s.eachPair(ctx, lengths, same, splitters, nil, s.putElement(nil))
		},
	}
}

// dingUneven measures a short list against longer ones.
func (s *bench) dingUneven() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-uneven", Title: "A list of 200 K with a longer one by levels of recursion", Source: "Ding et al. 2009, §7.3",
		Found: `On the device {{one "@opencl" "pmf0" "200 K"}} ns an element without recursion for a longer list of 200 K, and {{one "@opencl" "pmf0" "12.8 M"}} for 12.8 M, {{ratio (one "@opencl" "pmf0" "12.8 M") (one "@opencl" "pmf0" "200 K")}} times as long. Fastest of the levels: {{choices (lowest "places" (rows "@opencl" "pmf*" ""))}}.`,
		Says:  "From about 4 to 15 ns an element of the shorter list, as the longer one grows from 200,000 to 12.8 million; three levels appear to be best.",
		Ours:  aboutPairs, Rows: "docIDs in the longer list",
		Run: func(ctx context.Context) error {
			short := harness.Pick(&s.Opt, 200_000, 5000)
			var lengths []int
			for n := short; n <= 64*short; n *= 2 {
				lengths = append(lengths, n)
			}
			return s.eachPair(ctx, harness.Pick(&s.Opt, lengths, []int{short, 16 * short}), func(int) int { return short }, splitters, nil,
				s.putElement(map[int]float64{200_000: 4, 12_800_000: 15}))
		},
	}
}

// putElement returns a function that records the time per element of the shorter list.
// paper has the paper's figures for three levels, by the length of the longer list.
func (s *bench) putElement(paper map[int]float64) func(who harness.Contestant, n int, p *workload.Pair, a plan.Algorithm, t pairTimes) {
	return func(who harness.Contestant, n int, p *workload.Pair, a plan.Algorithm, t pairTimes) {
		v := t.kernels
		if who.Name == "host" {
			v = t.whole
		}
		r := harness.Reading{Panel: who.String(), Series: a.String(), At: measure.Decimal(float64(n)), X: float64(n),
			Row: v.Times(1e9 / float64(len(p.A))).Into(measure.Row{Metric: "time", Unit: "ns an element", Bytes: t.moved, PeakFraction: t.fraction()})}
		if a == plan.PMF3 && who.Info.Type == "gpu" {
			r.Paper = paper[n]
		}
		s.Put(who.On(r))
	}
}
