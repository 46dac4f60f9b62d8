package lists

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// entry is a column of Table 3 or a row of Table 7.
type entry struct {
	name      string
	encoding  workload.Encoding
	algorithm plan.Algorithm
	speedup   columns // Table 3
	rate      columns // Table 7, queries per second
	response  columns // Table 7, milliseconds per batch
}

// columns are the figures of Tables 3 and 7 by collection. The paper has none of the last two.
type columns [7]float64

var columnNames = []string{"GOV", "GOVPR", "GOVR", "BD", "BDR", "GOV2", "GOV2R"}

func (c columns) of(d workload.DataSet) float64 { return c[slices.Index(columnNames, d.Name)] }

// byColumn selects the collections of Tables 3 and 7 in their order.
func byColumn(o *harness.Options) []workload.DataSet {
	all := harness.OrderedSets(o)
	slices.SortFunc(all, func(a, b workload.DataSet) int {
		return slices.Index(columnNames, a.Name) - slices.Index(columnNames, b.Name)
	})
	return all
}

// plainEntries are the entries for plain lists, a few of them if short.
func plainEntries(o *harness.Options) []entry {
	raw := workload.DefaultEncoding(workload.LayoutRaw)
	entries := []entry{
		{name: "IS", encoding: raw, algorithm: plan.IS, speedup: columns{8.69, 7.67, 9.48, 2.16, 5.64}},
		{name: "BS", encoding: raw, algorithm: plan.BS, speedup: columns{14.59, 14.81, 14.29, 9.86, 8.70}},
		{name: "LR", encoding: raw, algorithm: plan.LR, speedup: columns{16.22, 15.86, 16.19, 9.98, 9.42}},
		{name: "HS32", encoding: raw, algorithm: plan.HS32, speedup: columns{22.14, 22.45, 20.96, 14.19, 12.35}},
		{name: "HS16", encoding: raw, algorithm: plan.HS16, speedup: columns{23.29, 23.54, 22.01, 14.67, 12.96}},
		{name: "auto on plain lists", encoding: raw, algorithm: plan.Auto},
	}
	return harness.Pick(o, entries, entries[4:])
}

// compressedEntries are the entries whose codecs backends decode: the probes of the
// papers, and auto on the same lists. A short run has few of them.
func compressedEntries(o *harness.Options) (all []entry) {
	line := func(id codec.ID) workload.Encoding { return workload.DefaultEncoding(workload.Layout(id)) }
	for _, e := range []entry{
		{"ParaPFD (0.2)", workload.Encoding{Layout: workload.Layout(codec.ParaPFor), Exceptions: 0.2}, plan.BS,
			columns{4.05, 4.10, 3.97, 2.65, 2.43}, columns{15879, 16069, 15587, 58937, 53952}, columns{7.66, 7.57, 7.81, 4.71, 5.15}},
		{"ParaPFD (0.0)", workload.Encoding{Layout: workload.Layout(codec.ParaPFor), Exceptions: 0}, plan.BS,
			columns{5.86, 5.94, 5.77, 3.87, 3.53}, columns{22998, 23302, 22639, 86000, 78338}, columns{5.29, 5.22, 5.38, 3.23, 3.55}},
		{"LRC.ParaPFor", workload.Encoding{Layout: workload.Layout(codec.LRCPFor)}, plan.LR,
			columns{10.79, 10.68, 10.97, 7.22, 7.24}, columns{42336, 41905, 43034, 160570, 160898}, columns{2.88, 2.90, 2.83, 1.73, 1.73}},
		{"LRCSeg", line(codec.LRCSeg), plan.LR,
			columns{10.79, 10.67, 10.98, 7.24, 7.22}, columns{42347, 41862, 43078, 160958, 160338}, columns{2.88, 2.91, 2.83, 1.73, 1.73}},
		{"SegLRC", line(codec.SegLRC), plan.LR,
			columns{12.07, 11.74, 12.42, 7.42, 7.93}, columns{47335, 46054, 48078, 164903, 176134}, columns{2.57, 2.64, 2.50, 1.68, 1.58}},
		{"HS256.LRC", line(codec.HSLRC256), plan.HS256,
			columns{14.26, 14.10, 14.21, 8.60, 8.80}, columns{55955, 55315, 55735, 191120, 195520}, columns{2.18, 2.20, 2.18, 1.45, 1.42}},
		{"HS128.LRC", line(codec.HSLRC128), plan.HS128, columns{14.38, 14.22, 14.24, 8.78, 8.81}, columns{}, columns{}},
		{"auto on ParaPFD", line(codec.ParaPFor), plan.Auto, columns{}, columns{}, columns{}},
		{"auto on HS256.LRC", line(codec.HSLRC256), plan.Auto, columns{}, columns{}, columns{}},
	} {
		few := e.name == "ParaPFD (0.2)" || e.name == "HS256.LRC" || e.name == "auto on HS256.LRC"
		if slices.Contains(codec.IDs(), codec.ID(e.encoding.Layout)) && (few || !o.Short) {
			all = append(all, e)
		}
	}
	return all
}

// aboutSets describes the columns of Tables 3 and 7.
const aboutSets = "LRC.ParaPFor is LRC of the paper, with a width a segment and, as in Algorithm 1, no exceptions; LRC in rows of earlier runs has one width for a list. The lists and queries of a collection have 16 equal parts, its themes. Each collection takes as many themes as have 240 million postings in all, or fewer (--themes); table collections says how many ran. The paper has all lists of each. The lists and queries of Baidu are not published. BD has the lists and queries of GOV on more documents, but its queries ask for rarer terms: their shortest lists have 3,777 docIDs on average, as Table 7 implies (throughput times response time at a threshold of 1 M). The paper has no GOV2 and GOV2R here."

// paperThreshold is the threshold of Tables 3 and 7.
const paperThreshold = 1 << 20

// fewer is the number of queries for Tables 3 and 7, unless the options give it: a fifth of
// the usual one, for seven collections.
func (s *bench) fewer(who harness.Contestant) int {
	n := s.Opt.QueryCount(who.Info.Type)
	if s.Opt.Queries > 0 || s.Opt.Short {
		return n
	}
	return n / 5
}

// eachEntry measures entries on every contestant at the paper's threshold, and calls put for
// the entries that the contestant runs.
func (s *bench) eachEntry(ctx context.Context, entries []entry, put func(who harness.Contestant, e entry, c *harness.Cost), wanted ...harness.Access) error {
	for _, who := range s.Contestants {
		var setups []harness.Setup
		for _, e := range entries {
			setups = append(setups, harness.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e.encoding, Algorithm: e.algorithm, Threshold: paperThreshold, Queries: s.fewer(who)})
		}
		if _, err := s.Measure(ctx, who, setups, wanted...); err != nil {
			return err
		}
		for i, u := range setups {
			if c := s.Costs[u]; c != nil && !c.Unfit {
				put(who, entries[i], c)
			}
		}
	}
	return nil
}

const (
	onOneThread  = " on one thread"
	skipListName = "skiplist" + onOneThread
)

func (s *bench) aoTable3() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table3", Title: "Speedup over a skip list on one thread", Source: "Ao et al. 2011, Table 3",
		Says:  "HS16 is fastest on plain lists, HS128.LRC on compressed ones, on every data set. GTX 480 against an AMD Phenom II.",
		Ours:  "Both at a threshold of 1 M. The baseline is our skip list in pure Go, on plain lists. It has 0.52 to 0.80 of the rate that the paper's throughput over its speedup gives for the skip list of a Phenom II: a profile has all of its time in the search, about 30 ns a candidate, and neither 4 or 8 nodes a node of the next level nor comparisons without branches were faster. Other algorithms on one thread stand beside it: bsloop is binary search without our searches side by side. Pure Go itself is on all threads. " + aboutSets,
		Found: `The skip list answers {{to (rows "baseline" "" "skiplist*")}} queries/s on one thread. The device is {{to (rows "@opencl speedup*" "" "")}} times as fast, {{to (ours (rows "@opencl speedup*" "" ""))}} times the paper's speedups; pure Go on all threads {{to (rows "@host speedup*" "" "IS|BS|LR|HS*|ParaPFD*|LRC|LRC.ParaPFor|LRCSeg|SegLRC")}} times with the paper's algorithms and {{to (rows "@host speedup*" "" "auto*")}} times with its own choice. End to end HS16 has {{to (over (rows "@opencl speedup*" "" "HS16") (rows "@opencl speedup*" "" "BS"))}} times the rate of BS on the device and {{to (over (rows "@host speedup*" "" "HS16") (rows "@host speedup*" "" "BS"))}} times in pure Go (paper {{to (over (paper (rows "@opencl speedup*" "" "HS16")) (paper (rows "@opencl speedup*" "" "BS")))}}); HS128.LRC has {{to (over (rows "@opencl speedup*" "" "HS128.LRC") (rows "@opencl speedup*" "" "ParaPFD (0.2)"))}} and {{to (over (rows "@host speedup*" "" "HS128.LRC") (rows "@host speedup*" "" "ParaPFD (0.2)"))}} times the rate of ParaPFD (0.2) (paper {{to (over (paper (rows "@opencl speedup*" "" "HS128.LRC")) (paper (rows "@opencl speedup*" "" "ParaPFD (0.2)")))}}).`,
		Data:  byColumn, Rows: "algorithm",
		Run: func(ctx context.Context) error {
			host, err := harness.PureGo(1)
			if err != nil {
				return err
			}
			base := harness.Setup{Backend: host.Name, Threads: 1, Encoding: workload.DefaultEncoding(workload.LayoutRaw), Algorithm: plan.SkipList, Threshold: paperThreshold, Queries: s.fewer(host)}
			setups := []harness.Setup{base}
			for _, a := range []plan.Algorithm{plan.BSLoop, plan.BS, plan.SegStep, plan.HS16, plan.Auto} {
				u := base
				u.Algorithm = a
				setups = append(setups, u)
			}
			costs, err := s.Measure(ctx, host, setups, harness.Busy)
			if err != nil {
				return err
			}
			s.describe()
			for _, c := range costs {
				s.Put(host.On(harness.Reading{Panel: "baseline", Series: s.W.Set.Name, At: c.Algorithm.String() + onOneThread,
					Row: c.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})}))
			}
			baseline := s.Costs[base].Rate
			entries := append(plainEntries(&s.Opt), compressedEntries(&s.Opt)...)
			return s.eachEntry(ctx, entries, func(who harness.Contestant, e entry, c *harness.Cost) {
				s.Put(who.On(harness.Reading{Panel: "speedup, " + who.String(), Series: s.W.Set.Name, At: e.name, Paper: e.speedup.of(s.W.Set),
					Row: c.Rate.Times(1 / baseline.Median).Into(measure.Row{Metric: "speedup", Unit: "times the throughput of the " + skipListName})}))
				s.putKernels(who, e, c)
			}, harness.Busy, harness.Profiled)
		},
	}
}

// putKernels puts the rate of the kernels of an entry, by the device's clock.
func (s *bench) putKernels(who harness.Contestant, e entry, c *harness.Cost) {
	if rate := c.KernelRate(); rate > 0 {
		s.Put(who.On(harness.Reading{Panel: "kernels, " + who.String(), Series: s.W.Set.Name, At: e.name,
			Row: measure.Single(rate).Into(measure.Row{Metric: "kernel throughput", Unit: "queries/s"})}))
	}
}

// describe puts the size of the workload. Table 7 implies the lengths of the shortest lists.
func (s *bench) describe() {
	var shortest float64
	for _, q := range s.W.Queries {
		shortest += float64(len(s.W.Sorted(q)[0])) / float64(len(s.W.Queries))
	}
	for _, c := range []struct {
		at    string
		value float64
		paper columns
	}{
		{"documents", float64(s.W.Source.Docs), columns{1053372, 1053372, 1053372, 15749656, 15749656}},
		{"themes of 16", float64(s.W.Themes), columns{}},
		{"postings", float64(s.W.Postings()), columns{}},
		{"distinct queries", float64(len(s.W.Queries)), columns{100_000, 100_000, 100_000, 33_337, 33_337}},
		{"docIDs of the shortest list of a query, mean", shortest, columns{8621, 8621, 8621, 3777, 3777}},
	} {
		s.Put(harness.Reading{Panel: "collections", Series: s.W.Set.Name, At: c.at, Paper: c.paper.of(s.W.Set),
			Row: measure.Single(c.value).Into(measure.Row{Metric: c.at, Unit: "numbers"})})
	}
}

func (s *bench) aoTable7() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table7", Title: "Throughput and response time on compressed lists", Source: "Ao et al. 2011, Table 7",
		Says:  "HS256.LRC is best everywhere; SegLRC is better than LRC and LRCSeg.",
		Ours:  "At a threshold of 1 M. " + aboutSets + " ParaPFD is probed by binary search among skip entries and decodes the blocks that are hit; line codecs are probed element by element (Algorithm 1). Auto may keep auxiliary tables. A response time is the median of all batches; its spread is that of the medians of five parts of them.",
		Found: `End to end HS256.LRC has {{to (over (rows "@opencl throughput*" "" "HS256.LRC") (rows "@opencl throughput*" "" "ParaPFD (0.2)"))}} times the rate of ParaPFD (0.2) on the device and {{to (over (rows "@host throughput*" "" "HS256.LRC") (rows "@host throughput*" "" "ParaPFD (0.2)"))}} times in pure Go (paper {{to (over (paper (rows "@opencl throughput*" "" "HS256.LRC")) (paper (rows "@opencl throughput*" "" "ParaPFD (0.2)")))}}). Fastest of the paper's codecs: on the device {{choices (highest "series" (rows "@opencl throughput*" "" "ParaPFD*|LRC|LRC.ParaPFor|LRCSeg|SegLRC|HS256.LRC"))}}; in pure Go {{choices (highest "series" (rows "@host throughput*" "" "ParaPFD*|LRC|LRC.ParaPFor|LRCSeg|SegLRC|HS256.LRC"))}}.`,
		Data:  byColumn, Rows: "lists",
		Run: func(ctx context.Context) error {
			return s.eachEntry(ctx, compressedEntries(&s.Opt), func(who harness.Contestant, e entry, c *harness.Cost) {
				d := s.W.Set
				s.Put(who.On(harness.Reading{Panel: "throughput, " + who.String(), Series: d.Name, At: e.name, Paper: e.rate.of(d), Row: c.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})}))
				s.Put(who.On(harness.Reading{Panel: "response time of a batch, " + who.String(), Series: d.Name, At: e.name, Paper: e.response.of(d),
					Row: c.Response.Into(measure.Row{Metric: "response", Unit: "ms"})}))
				s.putKernels(who, e, c)
			}, harness.Busy, harness.Alone, harness.Profiled)
		},
	}
}

func (s *bench) aoFigure9b() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig9b", Title: "Share of device time in the time of a batch", Source: "Ao et al. 2011, Figure 9 (b)",
		Says:  "The share rises with the threshold; CPU work and transfers always take more than 20 %.",
		Found: `Kernels have {{to (rows "" "HS16" "")}} % of the time with HS16, most at {{places (highest "series" (rows "" "HS16" ""))}}, and {{to (rows "" "HS256.LRC" "")}} % with HS256.LRC, most at {{places (highest "series" (rows "" "HS256.LRC" ""))}}.`,
		Ours:  "Kernels by the device's clock, over the time of all batches one after the other.",
		Data:  harness.GovOrder, Rows: "threshold",
		Chart: chart.Chart{Kind: chart.Lines, X: "threshold, candidates a batch", Y: "kernels, % of the time", LogX: true},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Name == "host" {
					continue
				}
				for _, e := range scaledEntries(&s.Opt) {
					var setups []harness.Setup
					for _, t := range s.Opt.Thresholds(who.Info.Type) {
						setups = append(setups, harness.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e.encoding, Algorithm: e.algorithm, Threshold: t})
					}
					costs, err := s.Measure(ctx, who, setups, harness.Profiled)
					if err != nil {
						return err
					}
					for _, c := range costs {
						kernel := c.Times.Kernel().Seconds()
						share := 100 * kernel / max(c.Times.Wall.Seconds(), kernel) // rounds of one batch may overlap
						t := float64(c.Setup.Threshold)
						s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: e.name, At: measure.Binary(t), X: t, Row: measure.Single(share).Into(measure.Row{Metric: "share of kernels", Unit: "%"})}))
					}
				}
			}
			return nil
		},
	}
}
