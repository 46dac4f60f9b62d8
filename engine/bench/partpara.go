package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
)

// batching is what was measured of batches that follow each other: of a fixed
// number of queries, a query to a work-group (PART), or closed by a threshold,
// an element to a work-item (PARA).
type batching struct {
	responses []float64  // milliseconds a batch
	rate      summary    // queries a second
	times     plan.Stats // of all batches, with device times; zero on the host
}

// method is PART or PARA, with a mean number of queries a batch or the threshold that
// closes it.
type method struct {
	backend   string
	algorithm plan.Algorithm
	part      bool
	queries   int
	threshold uint64 // candidates, of PARA; in place of queries where it is not 0
}

// batchRun is a method that is measured in one way.
type batchRun struct {
	method
	access access // alone or profiled
}

func (m method) String() string {
	if m.part {
		return "PART"
	}
	return "PARA"
}

// batchQueries is how many queries the batches of Baidu's figures are cut from.
func (s *session) batchQueries(who contestant) int {
	return min(s.opt.queries(who.info.Type), paperQueries)
}

// cut gives the ends of the batches of a method.
func (s *session) cut(m method, n int) (ends []int) {
	loads := make([]uint64, n)
	var total uint64
	for i := range loads {
		shortest := uint32(math.MaxUint32)
		for _, h := range s.w.Queries[i%len(s.w.Queries)] {
			shortest = min(shortest, s.w.Source.Lists[h].Len)
		}
		loads[i] = uint64(shortest)
		total += loads[i]
	}
	threshold, load, first := cmp.Or(m.threshold, total/uint64(n)*uint64(m.queries)), uint64(0), 0
	for i := range loads {
		if load += loads[i]; m.part && i+1-first == m.queries || !m.part && load >= threshold || i+1 == n {
			ends, first, load = append(ends, i+1), i+1, 0
		}
	}
	return ends
}

// batches measures a method, once: the batches of the first n queries, one after the
// other. Responses and times are those of the last run; device times are there where a is
// profiled.
func (s *session) batches(ctx context.Context, who contestant, m method, n int, a access) (*batching, error) {
	key := batchRun{m, a}
	if b := s.batched[key]; b != nil {
		return b, nil
	}
	x, err := s.index(ctx, who, s.opt.Threads, plainly(LayoutRaw), a)
	if err != nil {
		return nil, err
	}
	ends, b := s.cut(m, n), new(batching)
	opt := engine.SearchOptions{Algorithm: m.algorithm, Part: m.part, BatchCandidates: math.MaxUint64}
	got := make([]uint64, n)
	var rates []float64
	runs := s.opt.Runs
	if a == profiled {
		runs = 1
	}
	for run := range 1 + runs { // the first one warms up and is checked
		b.responses, b.times = b.responses[:0], plan.Stats{}
		all, first := time.Now(), 0
		for _, end := range ends {
			began := time.Now()
			err := x.SearchBatches(ctx, s.queries[first:end], opt, func(i int, r *plan.Results) error {
				b.times.Add(r.Stats)
				if run == 0 {
					digests(got[first+i:first+i+len(r.Offsets)-1], r)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			b.responses = append(b.responses, time.Since(began).Seconds()*1e3)
			first = end
		}
		b.times.Wall = time.Since(all)
		if run > 0 {
			rates = append(rates, float64(n)/b.times.Wall.Seconds())
		} else if err := s.check.check(fmt.Sprintf("%s, %s on %s", m, m.algorithm, who), got); err != nil {
			return nil, err
		}
	}
	b.rate = summarize(rates)
	s.batched[key] = b
	return b, nil
}

// paperQueries is the size of the query set of Baidu.
const paperQueries = 33337

// methods are PART and PARA with a mean number of queries a batch.
func methods(who contestant, queries int) []method {
	m := method{backend: who.name, algorithm: plan.BS, queries: queries}
	part := m
	part.part = true
	return []method{part, m}
}

// batchSizes are the x axis of Figures 5 and 6; 513 is that of PARA on Baidu's
// queries with B = 256.
func (o *Options) batchSizes() []int {
	return pick(o, []int{64, 128, 256, 513, 1024, 2048, 4096}, []int{16, 32})
}

const aboutBatches = "Clustered GOV-like lists and queries in place of Baidu's. Binary search on plain lists, one batch after the other. PART takes a fixed number of queries a batch, PARA as many as reach the same mean load. Pure Go as PART gives a query to one thread."

func wuFigure5() exhibit {
	e := batchFigure("wu-fig5", "Response time of PART and PARA by batch size", "Wu et al. 2010, Figure 5", func(b *batching) Row {
		return summarize(append([]float64(nil), b.responses...)).into(Row{Metric: "response", Unit: "ms"})
	})
	e.chart.y = "median response time of a batch, ms"
	e.says = "A dramatic gap between PART and PARA, for the imbalance of load in PART."
	return e
}

func wuFigure6() exhibit {
	e := batchFigure("wu-fig6", "Throughput of PART and PARA by batch size", "Wu et al. 2010, Figure 6", func(b *batching) Row {
		return b.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
	})
	e.says = "PARA is well ahead; beyond 513 queries a batch PART still rises and PARA slows down."
	return e
}

func batchFigure(name, title, source string, value func(b *batching) Row) exhibit {
	return exhibit{
		name: name, title: title, source: source, ours: aboutBatches,
		orders: govOrder, rows: "queries a batch",
		chart: chart{kind: lineChart, x: "mean queries a batch", logX: true},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				for _, q := range s.opt.batchSizes() {
					if q > s.batchQueries(who)/2 {
						break
					}
					for _, m := range methods(who, q) {
						b, err := s.batches(ctx, who, m, s.batchQueries(who), alone)
						if err != nil {
							return err
						}
						if err := s.put(who.on(reading{panel: s.panel(who), series: m.String(), at: fmt.Sprint(q), x: float64(q), Row: value(b)})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

// shownBatches is how many batches Figure 7 shows.
const shownBatches = 60

func wuFigure7() exhibit {
	return exhibit{
		name: "wu-fig7", title: "Response time from batch to batch", source: "Wu et al. 2010, Figure 7",
		says:   "Steady in PARA, whose batches have the same load; PART fluctuates violently.",
		ours:   aboutBatches + " 513 queries a batch, 64 on a CPU, fewer in a short run.",
		orders: govOrder, rows: "batch",
		chart: chart{kind: lineChart, x: "number of the batch", y: "response time, ms"},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				q := 513
				if who.info.Type != "gpu" {
					q = pick(&s.opt, []int{64}, []int{16})[0]
				}
				for _, m := range methods(who, q) {
					b, err := s.batches(ctx, who, m, s.batchQueries(who), alone)
					if err != nil {
						return err
					}
					for i, ms := range b.responses[:min(shownBatches, len(b.responses))] {
						if err := s.put(who.on(reading{panel: s.panel(who), series: m.String(), at: fmt.Sprint(i + 1), x: float64(i + 1),
							Row: single(ms).into(Row{Metric: "response", Unit: "ms"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

func wuFigure8() exhibit {
	return exhibit{
		name: "wu-fig8", title: "Shares of transfers, kernels and CPU in the time of a batch", source: "Wu et al. 2010, Figure 8",
		says:   "Kernels have a larger share in PARA than in PART, whose transfers take more.",
		ours:   aboutBatches + " 256 queries a batch. Device times by the device's clock; the rest is CPU. Pure Go has no such parts.",
		orders: govOrder, rows: "method",
		chart: chart{kind: stackChart, y: "% of the time"},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				if who.name == "host" {
					continue
				}
				for _, m := range methods(who, 256) {
					b, err := s.batches(ctx, who, m, s.batchQueries(who), profiled)
					if err != nil {
						return err
					}
					wall := b.times.Wall.Seconds()
					transfer := 100 * (b.times.Upload + b.times.Download).Seconds() / wall
					kernel := 100 * b.times.Kernel().Seconds() / wall
					for _, part := range []struct {
						name  string
						share float64
					}{{"transfers", transfer}, {"kernels", kernel}, {"CPU", max(0, 100-transfer-kernel)}} {
						if err := s.put(who.on(reading{panel: s.panel(who), series: part.name, at: m.String(),
							Row: single(part.share).into(Row{Metric: "share of " + part.name, Unit: "%"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
