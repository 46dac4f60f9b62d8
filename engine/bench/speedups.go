package bench

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// entry is a column of Table 3 or a row of Table 7.
type entry struct {
	name      string
	encoding  encoding
	algorithm plan.Algorithm
	speedup   [3]float64 // Table 3 on GOVR, GOV and GOVPR
	rate      [3]float64 // Table 7, queries a second
	response  [3]float64 // Table 7, milliseconds a batch
}

// plainEntries are those of plain lists. A short run has few of them.
func (o *Options) plainEntries() []entry {
	raw := plainly(LayoutRaw)
	entries := []entry{
		{name: "IS", encoding: raw, algorithm: plan.IS, speedup: [3]float64{9.48, 8.69, 7.67}},
		{name: "BS", encoding: raw, algorithm: plan.BS, speedup: [3]float64{14.29, 14.59, 14.81}},
		{name: "LR", encoding: raw, algorithm: plan.LR, speedup: [3]float64{16.19, 16.22, 15.86}},
		{name: "HS32", encoding: raw, algorithm: plan.HS32, speedup: [3]float64{20.96, 22.14, 22.45}},
		{name: "HS16", encoding: raw, algorithm: plan.HS16, speedup: [3]float64{22.01, 23.29, 23.54}},
		{name: "auto on plain lists", encoding: raw, algorithm: plan.Auto},
	}
	return pick(o, entries, entries[4:])
}

// compressedEntries are those whose codecs backends run: the probes of the
// papers, and what Auto makes of the same lists. A short run has few of them.
func (o *Options) compressedEntries() (all []entry) {
	line := func(id codec.ID) encoding { return plainly(Layout(id)) }
	for _, e := range []entry{
		{"ParaPFD (0.2)", encoding{Layout(codec.ParaPFor), 0.2}, plan.BS, [3]float64{3.97, 4.05, 4.10}, [3]float64{15587, 15879, 16069}, [3]float64{7.81, 7.66, 7.57}},
		{"ParaPFD (0.0)", encoding{Layout(codec.ParaPFor), 0}, plan.BS, [3]float64{5.77, 5.86, 5.94}, [3]float64{22639, 22998, 23302}, [3]float64{5.38, 5.29, 5.22}},
		{"LRC", line(codec.LRC), plan.LR, [3]float64{10.97, 10.79, 10.68}, [3]float64{43034, 42336, 41905}, [3]float64{2.83, 2.88, 2.90}},
		{"LRCSeg", line(codec.LRCSeg), plan.LR, [3]float64{10.98, 10.79, 10.67}, [3]float64{43078, 42347, 41862}, [3]float64{2.83, 2.88, 2.91}},
		{"SegLRC", line(codec.SegLRC), plan.LR, [3]float64{12.42, 12.07, 11.74}, [3]float64{48078, 47335, 46054}, [3]float64{2.50, 2.57, 2.64}},
		{"HS256.LRC", line(codec.HSLRC256), plan.HS256, [3]float64{14.21, 14.26, 14.10}, [3]float64{55735, 55955, 55315}, [3]float64{2.18, 2.18, 2.20}},
		{"HS128.LRC", line(codec.HSLRC128), plan.HS128, [3]float64{14.24, 14.38, 14.22}, [3]float64{}, [3]float64{}},
		{"auto on ParaPFD", line(codec.ParaPFor), plan.Auto, [3]float64{}, [3]float64{}, [3]float64{}},
		{"auto on HS256.LRC", line(codec.HSLRC256), plan.Auto, [3]float64{}, [3]float64{}, [3]float64{}},
	} {
		few := e.name == "ParaPFD (0.2)" || e.name == "HS256.LRC" || e.name == "auto on HS256.LRC"
		if slices.Contains(codec.IDs(), codec.ID(e.encoding.layout)) && (few || !o.Short) {
			all = append(all, e)
		}
	}
	return all
}

// paperThreshold is that of Tables 3 and 7.
const paperThreshold = 1 << 20

// entryCosts measures entries at the threshold of the paper, in their order; nil
// for what the contestant does not run.
func (s *session) entryCosts(ctx context.Context, who contestant, entries []entry, wanted ...access) ([]*cost, error) {
	var setups []setup
	for _, e := range entries {
		setups = append(setups, setup{who.name, s.opt.Threads, e.encoding, e.algorithm, paperThreshold})
	}
	if _, err := s.measure(ctx, who, setups, wanted...); err != nil {
		return nil, err
	}
	costs := make([]*cost, len(entries))
	for i, u := range setups {
		if c := s.costs[u]; c != nil && !c.unfit {
			costs[i] = c
		}
	}
	return costs, nil
}

const skipListName = "skiplist on one thread"

func aoTable3() exhibit {
	return exhibit{
		name: "ao-table3", title: "Speedup over a skip list on one thread", source: "Ao et al. 2011, Table 3",
		says:   "HS16 is fastest on plain lists, HS128.LRC on compressed ones, on every data set. GTX 480 against an AMD Phenom II.",
		ours:   "Both at a threshold of 1 M. The baseline is our skip list in pure Go, on plain lists. Pure Go itself is on all threads.",
		orders: allOrders, rows: "algorithm",
		run: func(ctx context.Context, s *session) error {
			host := slices.IndexFunc(s.contestants, func(c contestant) bool { return c.name == "host" && c.runs(plan.SkipList) })
			if host < 0 {
				s.logf("ao-table3 left out: its baseline runs on the host")
				return nil
			}
			base := setup{"host", 1, plainly(LayoutRaw), plan.SkipList, paperThreshold}
			if _, err := s.measure(ctx, s.contestants[host], []setup{base}, busy); err != nil {
				return err
			}
			baseline := s.costs[base].rate
			if err := s.put(s.contestants[host].on(reading{panel: "baseline", series: s.w.Order.String(), at: skipListName,
				Row: baseline.into(Row{Metric: "throughput", Unit: "queries/s"})})); err != nil {
				return err
			}
			entries := append(s.opt.plainEntries(), s.opt.compressedEntries()...)
			for _, who := range s.contestants {
				costs, err := s.entryCosts(ctx, who, entries, busy)
				if err != nil {
					return err
				}
				for i, c := range costs {
					if c == nil {
						continue
					}
					b := baseline.Median
					v := summary{c.rate.Median / b, c.rate.Min / b, c.rate.Max / b, c.rate.Runs}
					if err := s.put(who.on(reading{panel: "speedup, " + who.String(), series: s.w.Order.String(), at: entries[i].name, paper: entries[i].speedup[s.w.Order],
						Row: v.into(Row{Metric: "speedup", Unit: "times the throughput of the " + skipListName})})); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func aoTable7() exhibit {
	return exhibit{
		name: "ao-table7", title: "Throughput and response time on compressed lists", source: "Ao et al. 2011, Table 7",
		says:   "HS256.LRC is best everywhere; SegLRC is better than LRC and LRCSeg.",
		ours:   "At a threshold of 1 M. ParaPFD is probed by binary search among skip entries and decodes what is hit; line codecs are probed element by element (Algorithm 1). Auto may keep auxiliary tables.",
		orders: allOrders, rows: "lists",
		run: func(ctx context.Context, s *session) error {
			entries := s.opt.compressedEntries()
			for _, who := range s.contestants {
				costs, err := s.entryCosts(ctx, who, entries, busy, alone, profiled, counting)
				if err != nil {
					return err
				}
				for i, c := range costs {
					if c == nil {
						continue
					}
					e, order := entries[i], s.w.Order
					rate := Row{Metric: "throughput", Unit: "queries/s", Bytes: c.moved, PeakFraction: c.peakFraction()}
					if err := s.put(who.on(reading{panel: "throughput, " + who.String(), series: order.String(), at: e.name, paper: e.rate[order], Row: c.rate.into(rate)})); err != nil {
						return err
					}
					if err := s.put(who.on(reading{panel: "response time of a batch, " + who.String(), series: order.String(), at: e.name, paper: e.response[order],
						Row: c.response.into(Row{Metric: "response", Unit: "ms"})})); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// scaledEntries are the two algorithms of Figure 9.
func (o *Options) scaledEntries() (all []entry) {
	all = append(all, entry{name: "HS16", encoding: plainly(LayoutRaw), algorithm: plan.HS16})
	for _, e := range o.compressedEntries() {
		if e.name == "HS256.LRC" {
			all = append(all, e)
		}
	}
	return all
}

func aoFigure9a() exhibit {
	return exhibit{
		name: "ao-fig9a", title: "Speedup as the number of cores increases", source: "Ao et al. 2011, Figure 9 (a)",
		says:   "The speedup is almost proportional to the number of multiprocessors that are not switched off.",
		ours:   "Threads of pure Go: OpenCL cannot switch multiprocessors off, so there is no such figure of a GPU.",
		orders: govOrder, rows: "threads",
		chart: chart{kind: lineChart, x: "threads", logX: true, y: "times the throughput on one thread"},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				if who.name != "host" {
					continue
				}
				for _, e := range s.opt.scaledEntries() {
					var setups []setup
					for n := 1; n < s.opt.Threads; n *= 2 {
						setups = append(setups, setup{who.name, n, e.encoding, e.algorithm, paperThreshold})
					}
					setups = append(setups, setup{who.name, s.opt.Threads, e.encoding, e.algorithm, paperThreshold})
					costs, err := s.measure(ctx, who, setups, busy)
					if err != nil {
						return err
					}
					for _, c := range costs {
						one := costs[0].rate.Median
						v := summary{c.rate.Median / one, c.rate.Min / one, c.rate.Max / one, c.rate.Runs}
						if err := s.put(who.on(reading{panel: s.w.Order.String() + ", pure Go", series: e.name, at: fmt.Sprint(c.threads), x: float64(c.threads),
							Row: v.into(Row{Metric: "speedup", Unit: "times one thread"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

func aoFigure9b() exhibit {
	return exhibit{
		name: "ao-fig9b", title: "Share of device time in the time of a batch", source: "Ao et al. 2011, Figure 9 (b)",
		says:   "The share rises with the threshold; CPU work and transfers always take more than 20 %.",
		ours:   "Kernels by the device's clock, over the time of all batches one after the other.",
		orders: govOrder, rows: "threshold",
		chart: chart{kind: lineChart, x: "threshold, candidates a batch", y: "kernels, % of the time", logX: true},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				if who.name == "host" {
					continue
				}
				for _, e := range s.opt.scaledEntries() {
					var setups []setup
					for _, t := range s.opt.thresholds(who.info.Type) {
						setups = append(setups, setup{who.name, s.opt.Threads, e.encoding, e.algorithm, t})
					}
					costs, err := s.measure(ctx, who, setups, profiled)
					if err != nil {
						return err
					}
					for _, c := range costs {
						kernel := c.times.Kernel().Seconds()
						share := 100 * kernel / max(c.times.Wall.Seconds(), kernel) // rounds of one batch may overlap
						t := float64(c.setup.threshold)
						if err := s.put(who.on(reading{panel: s.panel(who), series: e.name, at: binarily(t), x: t, Row: single(share).into(Row{Metric: "share of kernels", Unit: "%"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
