package lists

import (
	"context"
	"fmt"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// paperHS16 is the throughput of HS16 on GOV at a threshold of 1 M, in queries per
// second (Ao et al. 2011, section 6.1).
const paperHS16 = 91382

// logExhibit measures the query log end to end: every layout, algorithm and backend.
func (s *bench) logExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "log", Title: "Conjunctive queries end to end, terms in, docIDs in host memory out",
		Says: "HS16 answers 91,382 queries/s on GOV at a threshold of 1 M, on a GTX 480 (Ao et al. 2011, section 6.1).",
		Ours: "Batches are as each backend likes them best. Of peak: bytes that the kernels ask for, in the time they take, of the measured copy bandwidth.",
		Data: harness.AllOrders, Rows: "layout/algorithm",
		Run: func(ctx context.Context) error {
			for _, layout := range s.Opt.Layouts {
				for _, who := range s.Contestants {
					if err := s.logLayout(ctx, who, layout); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// logLayout measures all algorithms on one layout, in turns with the other library.
func (s *bench) logLayout(ctx context.Context, who harness.Contestant, layout workload.Layout) error {
	var setups []harness.Setup
	for _, a := range s.Opt.Algorithms {
		setups = append(setups, s.Setup(who, workload.DefaultEncoding(layout), a))
	}
	costs, err := s.Measure(ctx, who, setups)
	if err != nil || len(costs) == 0 {
		return err
	}
	if err := s.WantPeer(ctx); err != nil {
		return err
	}
	x, err := s.Index(ctx, who, s.Opt.Threads, workload.DefaultEncoding(layout), harness.Busy)
	if err != nil {
		return err
	}
	s.Logf("%s on %s: %d queries, %d MB resident", layout, who, costs[0].Queries, x.Memory()>>20)
	var peers []measure.Turn
	if s.Peer != nil {
		// enough for some tenths of a second, but not more than the contestant answers
		n := min(costs[0].Queries, s.Opt.QueryCount("cpu")*4)
		got := make([]uint64, n)
		if err := s.Peer.Run(ctx, n, func(q int, docs []uint32) { got[q] = workload.Digest(docs) }); err != nil {
			return err
		}
		if err := s.Check.Check(harness.PeerName, got); err != nil {
			return err
		}
		peers = append(peers, measure.Turn{Queries: n, Run: func() error { return s.Peer.Run(ctx, n, func(int, []uint32) {}) }})
	}
	rate, err := s.Throughput(ctx, x, costs, peers...)
	if err != nil {
		return err
	}
	if costs, err = s.Measure(ctx, who, setups, harness.Alone, harness.Profiled, harness.Counting); err != nil {
		return err
	}
	if rate.Runs > 0 {
		s.Put(harness.Reading{Panel: s.Panel(who), Series: "queries/s", At: harness.PeerName + " beside " + layout.String(),
			Row: rate.Into(measure.Row{Row: harness.PeerName + " beside " + layout.String(), Metric: "throughput", Unit: "queries/s"})})
	}
	for _, c := range costs {
		s.putLog(who, c, rate)
	}
	return nil
}

// putLog records the figures of one setup.
func (s *bench) putLog(who harness.Contestant, c *harness.Cost, peer measure.Summary) {
	put := func(series string, v measure.Summary, row measure.Row) {
		row.Row = c.Name()
		if row.Metric == "response" {
			row.Row = fmt.Sprintf("%s threshold %d K", c.Name(), c.Threshold>>10)
		}
		r := harness.Reading{Panel: s.Panel(who), Series: series, At: c.Name(), Row: v.Into(row)}
		if row.Metric == "throughput" && s.W.Set.Order == workload.Clustered && c.Name() == "raw/hs16" {
			r.Paper = paperHS16
		}
		s.Put(who.On(r))
	}
	throughput := measure.Row{Metric: "throughput", Unit: "queries/s"}
	if peer.Runs > 0 {
		throughput.Baseline, throughput.Ratio = harness.PeerName, c.Rate.Median/peer.Median
	}
	put("queries/s", c.Rate, throughput)
	put("a batch, ms", c.Response, measure.Row{Metric: "response", Unit: "ms"})
	kernel := c.Times.Kernel().Seconds()
	if kernel == 0 {
		return
	}
	for _, m := range []struct {
		series, metric string
		ms             float64
		bytes          uint64
		peak           float64
	}{
		{"kernels, ms", "kernel", kernel * 1e3, c.Moved, c.PeakFraction()},
		{"decoding, ms", "decoding", c.Times.Decode.Seconds() * 1e3, 0, 0},
		{"search, ms", "search", c.Times.Probe.Seconds() * 1e3, 0, 0},
		{"gathering, ms", "gathering", c.Times.Compact.Seconds() * 1e3, 0, 0},
		{"upload, ms", "upload", c.Times.Upload.Seconds() * 1e3, c.Times.BytesUp, 0},
		{"download, ms", "download", c.Times.Download.Seconds() * 1e3, c.Times.BytesDown, 0},
	} {
		put(m.series, measure.Single(m.ms), measure.Row{Metric: m.metric, Unit: "ms", Bytes: m.bytes, PeakFraction: m.peak})
	}
	put("kernels, queries/s", measure.Single(float64(c.Queries)/kernel), measure.Row{Metric: "kernel throughput", Unit: "queries/s"})
}
