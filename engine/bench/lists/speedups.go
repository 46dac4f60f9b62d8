package lists

import (
	"context"
	"slices"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/querylog"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// entry is a column of Table 3 or a row of Table 7.
type entry struct {
	name      string
	encoding  workload.Encoding
	algorithm plan.Algorithm
	speedup   [4]float64 // Table 3, on GOVR, GOV and GOVPR, by order
	rate      [4]float64 // Table 7, queries per second
	response  [4]float64 // Table 7, milliseconds per batch
}

// plainEntries are the entries for plain lists, a few of them if short.
func plainEntries(o *harness.Options) []entry {
	raw := workload.DefaultEncoding(workload.LayoutRaw)
	entries := []entry{
		{name: "IS", encoding: raw, algorithm: plan.IS, speedup: [4]float64{9.48, 8.69, 7.67}},
		{name: "BS", encoding: raw, algorithm: plan.BS, speedup: [4]float64{14.29, 14.59, 14.81}},
		{name: "LR", encoding: raw, algorithm: plan.LR, speedup: [4]float64{16.19, 16.22, 15.86}},
		{name: "HS32", encoding: raw, algorithm: plan.HS32, speedup: [4]float64{20.96, 22.14, 22.45}},
		{name: "HS16", encoding: raw, algorithm: plan.HS16, speedup: [4]float64{22.01, 23.29, 23.54}},
		{name: "auto on plain lists", encoding: raw, algorithm: plan.Auto},
	}
	return harness.Pick(o, entries, entries[4:])
}

// compressedEntries are the entries whose codecs backends decode: the probes of the
// papers, and auto on the same lists. A short run has few of them.
func compressedEntries(o *harness.Options) (all []entry) {
	line := func(id codec.ID) workload.Encoding { return workload.DefaultEncoding(workload.Layout(id)) }
	for _, e := range []entry{
		{"ParaPFD (0.2)", workload.Encoding{Layout: workload.Layout(codec.ParaPFor), Exceptions: 0.2}, plan.BS, [4]float64{3.97, 4.05, 4.10}, [4]float64{15587, 15879, 16069}, [4]float64{7.81, 7.66, 7.57}},
		{"ParaPFD (0.0)", workload.Encoding{Layout: workload.Layout(codec.ParaPFor), Exceptions: 0}, plan.BS, [4]float64{5.77, 5.86, 5.94}, [4]float64{22639, 22998, 23302}, [4]float64{5.38, 5.29, 5.22}},
		{"LRC", line(codec.LRC), plan.LR, [4]float64{10.97, 10.79, 10.68}, [4]float64{43034, 42336, 41905}, [4]float64{2.83, 2.88, 2.90}},
		{"LRCSeg", line(codec.LRCSeg), plan.LR, [4]float64{10.98, 10.79, 10.67}, [4]float64{43078, 42347, 41862}, [4]float64{2.83, 2.88, 2.91}},
		{"SegLRC", line(codec.SegLRC), plan.LR, [4]float64{12.42, 12.07, 11.74}, [4]float64{48078, 47335, 46054}, [4]float64{2.50, 2.57, 2.64}},
		{"HS256.LRC", line(codec.HSLRC256), plan.HS256, [4]float64{14.21, 14.26, 14.10}, [4]float64{55735, 55955, 55315}, [4]float64{2.18, 2.18, 2.20}},
		{"HS128.LRC", line(codec.HSLRC128), plan.HS128, [4]float64{14.24, 14.38, 14.22}, [4]float64{}, [4]float64{}},
		{"auto on ParaPFD", line(codec.ParaPFor), plan.Auto, [4]float64{}, [4]float64{}, [4]float64{}},
		{"auto on HS256.LRC", line(codec.HSLRC256), plan.Auto, [4]float64{}, [4]float64{}, [4]float64{}},
	} {
		few := e.name == "ParaPFD (0.2)" || e.name == "HS256.LRC" || e.name == "auto on HS256.LRC"
		if slices.Contains(codec.IDs(), codec.ID(e.encoding.Layout)) && (few || !o.Short) {
			all = append(all, e)
		}
	}
	return all
}

// noBaidu explains the columns that Tables 3 and 7 lack in the record.
const noBaidu = "BD and BDR are missing: neither the lengths of their lists nor Baidu's queries are published. The record has the clustered order, which stands for GOV; uniform and pagerank stand for GOVR and GOVPR (--orders)."

// paperThreshold is the threshold of Tables 3 and 7.
const paperThreshold = 1 << 20

// eachEntry measures entries on every contestant at the paper's threshold, and calls put for
// the entries that the contestant runs.
func (s *bench) eachEntry(ctx context.Context, entries []entry, put func(who harness.Contestant, e entry, c *querylog.Cost), wanted ...harness.Access) error {
	for _, who := range s.Contestants {
		var setups []querylog.Setup
		for _, e := range entries {
			setups = append(setups, querylog.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e.encoding, Algorithm: e.algorithm, Threshold: paperThreshold})
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

const skipListName = "skiplist on one thread"

func (s *bench) aoTable3() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table3", Title: "Speedup over a skip list on one thread", Source: "Ao et al. 2011, Table 3",
		Says:   "HS16 is fastest on plain lists, HS128.LRC on compressed ones, on every data set. GTX 480 against an AMD Phenom II.",
		Ours:   "Both at a threshold of 1 M. The baseline is our skip list in pure Go, on plain lists. Pure Go itself is on all threads. " + noBaidu,
		Found:  "On the H200 the algorithms are 264 to 397 times as fast as the skip list, and hash segmentation leads on plain lists, as in the paper. The figures beside pure Go on 16 cores are those of the paper's GPU.",
		Orders: harness.AllOrders, Rows: "algorithm",
		Run: func(ctx context.Context) error {
			host := slices.IndexFunc(s.Contestants, func(c harness.Contestant) bool { return c.Name == "host" && c.Runs(plan.SkipList) })
			if host < 0 {
				s.Logf("ao-table3 left out: its baseline runs on the host")
				return nil
			}
			base := querylog.Setup{Backend: "host", Threads: 1, Encoding: workload.DefaultEncoding(workload.LayoutRaw), Algorithm: plan.SkipList, Threshold: paperThreshold}
			if _, err := s.Measure(ctx, s.Contestants[host], []querylog.Setup{base}, harness.Busy); err != nil {
				return err
			}
			baseline := s.Costs[base].Rate
			s.Put(s.Contestants[host].On(harness.Reading{Panel: "baseline", Series: s.W.Order.String(), At: skipListName,
				Row: baseline.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})}))
			entries := append(plainEntries(&s.Opt), compressedEntries(&s.Opt)...)
			return s.eachEntry(ctx, entries, func(who harness.Contestant, e entry, c *querylog.Cost) {
				s.Put(who.On(harness.Reading{Panel: "speedup, " + who.String(), Series: s.W.Order.String(), At: e.name, Paper: e.speedup[s.W.Order],
					Row: c.Rate.Times(1 / baseline.Median).Into(measure.Row{Metric: "speedup", Unit: "times the throughput of the " + skipListName})}))
			}, harness.Busy)
		},
	}
}

func (s *bench) aoTable7() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table7", Title: "Throughput and response time on compressed lists", Source: "Ao et al. 2011, Table 7",
		Says:   "HS256.LRC is best everywhere; SegLRC is better than LRC and LRCSeg.",
		Ours:   "At a threshold of 1 M. " + noBaidu + " ParaPFD is probed by binary search among skip entries and decodes the blocks that are hit; line codecs are probed element by element (Algorithm 1). Auto may keep auxiliary tables. The spread of response times is that of the batches, of which the first one loads the lists.",
		Found:  "On the H200 line codecs are ahead of ParaPFD by a tenth, and the four forms of LRC lie within 3 %. On the host, ParaPFD without exceptions is ahead.",
		Orders: harness.AllOrders, Rows: "lists",
		Run: func(ctx context.Context) error {
			return s.eachEntry(ctx, compressedEntries(&s.Opt), func(who harness.Contestant, e entry, c *querylog.Cost) {
				order := s.W.Order
				rate := measure.Row{Metric: "throughput", Unit: "queries/s", Bytes: c.Moved, PeakFraction: c.PeakFraction()}
				s.Put(who.On(harness.Reading{Panel: "throughput, " + who.String(), Series: order.String(), At: e.name, Paper: e.rate[order], Row: c.Rate.Into(rate)}))
				s.Put(who.On(harness.Reading{Panel: "response time of a batch, " + who.String(), Series: order.String(), At: e.name, Paper: e.response[order],
					Row: c.Response.Into(measure.Row{Metric: "response", Unit: "ms"})}))
			}, harness.Busy, harness.Alone, harness.Profiled, harness.Counting)
		},
	}
}

func (s *bench) aoFigure9b() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig9b", Title: "Share of device time in the time of a batch", Source: "Ao et al. 2011, Figure 9 (b)",
		Says:   "The share rises with the threshold; CPU work and transfers always take more than 20 %.",
		Found:  "The share falls with the threshold on the H200, from a third to a tenth (HS16) and a sixth (HS256.LRC): its kernels gain more from large batches than the transfers of docIDs and the CPU.",
		Ours:   "Kernels by the device's clock, over the time of all batches one after the other.",
		Orders: harness.GovOrder, Rows: "threshold",
		Chart: chart.Chart{Kind: chart.Lines, X: "threshold, candidates a batch", Y: "kernels, % of the time", LogX: true},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Name == "host" {
					continue
				}
				for _, e := range scaledEntries(&s.Opt) {
					var setups []querylog.Setup
					for _, t := range s.Opt.Thresholds(who.Info.Type) {
						setups = append(setups, querylog.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e.encoding, Algorithm: e.algorithm, Threshold: t})
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
