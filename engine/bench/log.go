package bench

import (
	"context"
	"fmt"

	"heddle/engine/plan"
)

// paperHS16 is the throughput of HS16 on GOV at a threshold of 1 M, in queries a
// second (Ao et al. 2011, section 6.1).
const paperHS16 = 91382

// logExhibit is the log itself: every layout × algorithm × backend, end to end.
func logExhibit() exhibit {
	return exhibit{
		name: "log", title: "Conjunctive queries end to end, terms in, docIDs in host memory out",
		says:   "HS16 answers 91,382 queries/s on GOV at a threshold of 1 M, on a GTX 480 (Ao et al. 2011, section 6.1).",
		ours:   "Batches are as each backend likes them best. Of peak: bytes that the kernels ask for, in the time they take, of the measured copy bandwidth.",
		orders: allOrders, rows: "layout/algorithm",
		run: func(ctx context.Context, s *session) error {
			for _, layout := range s.opt.Layouts {
				for _, who := range s.contestants {
					if err := s.logLayout(ctx, who, layout); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// logLayout measures all algorithms on one layout, with the peer in turns.
func (s *session) logLayout(ctx context.Context, who contestant, layout Layout) error {
	var setups []setup
	for _, a := range s.opt.Algorithms {
		setups = append(setups, s.setup(who, plainly(layout), a))
	}
	costs, err := s.measure(ctx, who, setups)
	if err != nil || len(costs) == 0 {
		return err
	}
	if err := s.wantPeer(ctx); err != nil {
		return err
	}
	x, err := s.index(ctx, who, s.opt.Threads, plainly(layout), busy)
	if err != nil {
		return err
	}
	s.logf("%s on %s: %d queries, %d MB resident", layout, who, costs[0].queries, x.Memory()>>20)
	var peers []turn
	if s.peer != nil {
		// Enough for a time of tenths of a second, as many as the first contestant has
		// at most.
		n := min(costs[0].queries, s.opt.queries("cpu")*4)
		got := make([]uint64, n)
		if err := s.peer.run(ctx, n, func(q int, docs []uint32) { got[q] = digest(docs) }); err != nil {
			return err
		}
		if err := s.check.check(peerName, got); err != nil {
			return err
		}
		peers = append(peers, turn{n, func() error { return s.peer.run(ctx, n, func(int, []uint32) {}) }})
	}
	rate, err := s.throughput(ctx, x, costs, peers...)
	if err != nil {
		return err
	}
	if costs, err = s.measure(ctx, who, setups, alone, profiled, counting); err != nil {
		return err
	}
	if rate.Runs > 0 {
		if err := s.put(reading{panel: s.panel(who), series: "queries/s", at: peerName + " beside " + layout.String(),
			Row: rate.into(Row{Row: peerName + " beside " + layout.String(), Metric: "throughput", Unit: "queries/s"})}); err != nil {
			return err
		}
	}
	for _, c := range costs {
		if err := s.putLog(who, c, rate); err != nil {
			return err
		}
	}
	return nil
}

// setup is that of a contestant with all its threads and the threshold of the
// options.
func (s *session) setup(who contestant, e encoding, a plan.Algorithm) setup {
	return setup{backend: who.name, threads: s.opt.Threads, encoding: e, algorithm: a, threshold: s.opt.Threshold}
}

// panel names the workload at hand and a contestant.
func (s *session) panel(who contestant) string { return s.w.Order.String() + ", " + who.String() }

// putLog records the figures of one setup.
func (s *session) putLog(who contestant, c *cost, peer summary) error {
	put := func(series string, v summary, row Row) error {
		row.Row = c.name()
		if row.Metric == "response" {
			row.Row = fmt.Sprintf("%s threshold %d K", c.name(), c.threshold>>10)
		}
		r := reading{panel: s.panel(who), series: series, at: c.name(), Row: v.into(row)}
		if row.Metric == "throughput" && s.w.Order == Clustered && c.name() == "raw/hs16" {
			r.paper = paperHS16
		}
		return s.put(who.on(r))
	}
	throughput := Row{Metric: "throughput", Unit: "queries/s"}
	if peer.Runs > 0 {
		throughput.Baseline, throughput.Ratio = peerName, c.rate.Median/peer.Median
	}
	if err := put("queries/s", c.rate, throughput); err != nil {
		return err
	}
	if err := put("a batch, ms", c.response, Row{Metric: "response", Unit: "ms"}); err != nil {
		return err
	}
	kernel := c.times.Kernel().Seconds()
	if kernel == 0 {
		return nil
	}
	for _, m := range []struct {
		series, metric string
		ms             float64
		bytes          uint64
		peak           float64
	}{
		{"kernels, ms", "kernel", kernel * 1e3, c.moved, c.peakFraction()},
		{"upload, ms", "upload", c.times.Upload.Seconds() * 1e3, c.times.BytesUp, 0},
		{"download, ms", "download", c.times.Download.Seconds() * 1e3, c.times.BytesDown, 0},
	} {
		if err := put(m.series, single(m.ms), Row{Metric: m.metric, Unit: "ms", Bytes: m.bytes, PeakFraction: m.peak}); err != nil {
			return err
		}
	}
	return put("kernels, queries/s", single(float64(c.queries)/kernel), Row{Metric: "kernel throughput", Unit: "queries/s"})
}

// single is a figure that was measured one time, or computed.
func single(v float64) summary { return summary{v, v, v, 1} }
