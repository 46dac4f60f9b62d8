package schedule

import (
	"context"
	"math"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
)

// Table I: upper ends of the length classes, their lengthNames, and the share of GOV's lists
// in percent.
var (
	lengthEnds   = [...]uint32{1000, 5000, 10_000, 50_000, 100_000, math.MaxUint32}
	lengthNames  = [...]string{"1 to 1 K", "to 5 K", "to 10 K", "to 50 K", "to 100 K", "more"}
	lengthShares = [...]float64{64.32, 19.35, 5.93, 7.93, 1.52, 0.95}
)

func (s *wuBench) table1() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-table1", Title: "Length distribution of lists", Source: "Wu et al. 2010, Table I",
		Says: "Of 1.25 M pages of GOV. Baidu's lists have similar characteristics.",
		Ours: "1.05 M documents. The generator has Zipf's law for the number of documents of a term: more lists of 1 K to 5 K documents than GOV, and about half as many longer than 10 K. " +
			"The lists that queries name are fitted to Table 4 of Ao et al. 2011, so this concerns lists without queries. The shares of postings, and of the lists that queries name, are not in the paper.",
		Found: `The shares of lists up to 10 K documents are {{to (ours (rows "" "lists" "1 to 1 K|to 5 K|to 10 K"))}} times GOV's, of longer lists {{to (ours (rows "" "lists" "to 50 K|to 100 K|more"))}} times.`,
		Data:  harness.GovOrder, Rows: "length",
		Run: func(ctx context.Context) error {
			var lists, postings, asked [len(lengthEnds)]float64
			var terms float64
			for _, l := range s.W.Source.Lists {
				lists[lengthClass(l.Len)]++
				postings[lengthClass(l.Len)] += float64(l.Len)
			}
			for _, q := range s.W.Queries {
				for _, h := range q {
					asked[lengthClass(s.W.Source.Lists[h].Len)]++
				}
				terms += float64(len(q))
			}
			for i, name := range lengthNames {
				for _, c := range []struct {
					series         string
					share, of, gov float64
				}{
					{"lists", lists[i], float64(len(s.W.Source.Lists)), lengthShares[i]},
					{"postings", postings[i], float64(s.W.Postings()), 0},
					{"lists of queries", asked[i], terms, 0},
				} {
					s.Put(harness.Reading{Panel: s.W.Name(), Series: c.series, At: name, Paper: c.gov,
						Row: measure.Single(100 * c.share / c.of).Into(measure.Row{Metric: "share of " + c.series, Unit: "%"})})
				}
			}
			return nil
		},
	}
}

// lengthClass is the class of Table I of a list with n docIDs.
func lengthClass(n uint32) (i int) {
	for n > lengthEnds[i] {
		i++
	}
	return i
}

// wuBench reproduces the measurements of Wu et al., Efficient lists intersection by
// CPU-GPU cooperative computing, IPDPSW 2010.
type wuBench struct {
	*harness.LogBench
	single map[harness.Setup][]float64 // milliseconds of each query alone
}

// exhibits returns the exhibits of Wu et al. about scheduling. Package lists has the rest.
func (s *wuBench) exhibits() []harness.Exhibit {
	return []harness.Exhibit{s.table1(), s.figure3(), s.figure4(), s.figure7(), s.table2(), s.figure9(), s.figure10(), s.table3()}
}

// newWu returns a bench on the workloads of q.
func newWu(q *harness.LogBench) *wuBench {
	s := &wuBench{LogBench: q}
	s.OnForget(func() error { s.single = make(map[harness.Setup][]float64); return nil })
	s.single = make(map[harness.Setup][]float64)
	return s
}
