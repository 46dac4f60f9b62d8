package harness

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Setup is one way to answer the queries.
type Setup struct {
	Backend   string
	Threads   int
	Encoding  workload.Encoding
	Algorithm plan.Algorithm
	Threshold uint64 // candidates per batch; 0 is the default of the backend
	Queries   int    // queries of a run; 0: the number of the options
}

// Name names the setup in rows.
func (u Setup) Name() string { return u.Encoding.String() + "/" + u.Algorithm.String() }

// Cost is the measured cost of a setup.
type Cost struct {
	Setup
	info      plan.Info
	Threshold uint64          // threshold in force
	measured  [4]bool         // by access
	Unfit     bool            // its tables do not fit in memory
	Rate      measure.Summary // queries per second, from terms to docIDs on the host
	Response  measure.Summary // milliseconds of one batch without overlap, of parts of the batches
	batches   int             // number of batches without overlap
	Times     plan.Stats      // statistics of one run, with device times
	Moved     uint64          // bytes that kernels request in one run
	peak      float64         // copy bandwidth of the device, bytes per second
}

// PeakFraction is the fraction of the copy bandwidth that the kernels use.
func (c *Cost) PeakFraction() float64 {
	seconds := c.Times.Kernel().Seconds()
	if seconds == 0 || c.peak == 0 {
		return 0
	}
	return float64(c.Moved) / seconds / c.peak
}

// Measure returns the costs of setups on a contestant. It measures each kind of cost
// once: Busy the throughput, Alone the response time, Profiled the device times and
// Counting the bytes. Pure Go has no device times and bytes. The result omits setups
// whose tables do not fit in memory and algorithms that the contestant lacks.
func (s *LogBench) Measure(ctx context.Context, who Contestant, setups []Setup, wanted ...Access) ([]*Cost, error) {
	var costs []*Cost
	for _, u := range setups {
		if !who.Runs(u.Algorithm) {
			continue
		}
		c := s.Costs[u]
		if c == nil {
			c = &Cost{Setup: u, info: who.Info}
			c.Queries = cmp.Or(u.Queries, s.Opt.QueryCountAt(who.Info.Type, u.Threshold))
			s.Costs[u] = c
		}
		costs = append(costs, c)
	}
	for _, a := range wanted {
		if who.Name == "host" && a >= Profiled {
			continue
		}
		for i := 0; i < len(costs); {
			j := i + 1 // setups i to j-1 share an index
			for j < len(costs) && costs[j].Encoding == costs[i].Encoding && costs[j].Threads == costs[i].Threads {
				j++
			}
			if err := s.measureAll(ctx, who, costs[i:j], a); err != nil {
				return nil, err
			}
			i = j
		}
	}
	return slices.DeleteFunc(costs, func(c *Cost) bool { return c.Unfit }), nil
}

// measureAll measures one kind of cost of setups that share an index.
func (s *LogBench) measureAll(ctx context.Context, who Contestant, costs []*Cost, a Access) error {
	var due []*Cost
	for _, c := range costs {
		if !c.measured[a] && !c.Unfit {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return nil
	}
	x, err := s.Index(ctx, who, due[0].Threads, due[0].Encoding, a)
	if err != nil {
		return err
	}
	if a == Busy {
		_, err := s.Throughput(ctx, x, due)
		return err
	}
	for _, c := range due {
		switch opt, qs := c.options(), s.Queries[:c.Queries]; a {
		case Alone:
			c.inForce(x)
			var each []float64
			each, err = responses(ctx, x, qs, opt)
			c.Response, c.batches = measure.Parts(each, measure.ResponseParts), len(each)
		case Profiled:
			c.peak = s.Peak(ctx, who)
			c.Times, err = x.Times(ctx, qs, opt)
		case Counting:
			var sum plan.Stats
			sum, err = x.Times(ctx, qs, opt)
			c.Moved = sum.BytesMoved
		}
		if c.Unfit = errors.Is(err, plan.ErrOutOfMemory); err != nil && !c.Unfit {
			return err
		}
		c.measured[a] = true
	}
	return nil
}

func (c *Cost) options() MatchOptions {
	return MatchOptions{Algorithm: c.Algorithm, Candidates: c.Setup.Threshold}
}

// inForce records the threshold that closes the setup's batches.
func (c *Cost) inForce(x *Index) { c.Threshold = cmp.Or(c.Setup.Threshold, x.Threshold()) }

// Throughput checks the answers of each setup, and then times the setups in turns with
// each other and with at most one further turn, whose rate it returns.
func (s *LogBench) Throughput(ctx context.Context, x *Index, costs []*Cost, another ...measure.Turn) (rate measure.Summary, err error) {
	var turns []measure.Turn
	var due []*Cost
	for _, c := range costs {
		qs := s.Queries[:c.Queries]
		got := make([]uint64, len(qs))
		err := x.Match(ctx, qs, c.options(), func(first int, hits []Hits) error {
			for i, h := range hits {
				got[first+i] = workload.Digest(h.Docs)
			}
			return nil
		})
		if c.Unfit = errors.Is(err, plan.ErrOutOfMemory); c.Unfit {
			s.Logf("%s left out: %v", c.Name(), err)
			continue
		}
		if err == nil {
			err = s.Check.Check(c.Name()+" on "+c.info.Device, got)
		}
		if err != nil {
			return rate, err
		}
		due = append(due, c)
		run := func() error { return x.Match(ctx, qs, c.options(), func(int, []Hits) error { return nil }) }
		for began, again := time.Now(), true; again; again = time.Since(began) < s.Opt.WarmUp {
			if err := run(); err != nil {
				return rate, err
			}
		}
		turns = append(turns, measure.Turn{Queries: len(qs), Run: run})
	}
	rates, err := measure.InTurns(append(turns, another...), s.Opt.Runs)
	if err != nil {
		return rate, err
	}
	for i, c := range due {
		c.inForce(x)
		c.Rate, c.measured[Busy] = rates[i], true
	}
	if len(another) > 0 {
		rate = rates[len(due)]
	}
	return rate, nil
}

// KernelRate is the number of queries a second of kernels, by the device's clock, and 0 without
// such a clock.
func (c *Cost) KernelRate() float64 {
	if t := c.Times.Kernel().Seconds(); t > 0 {
		return float64(c.Queries) / t
	}
	return 0
}

// KernelTime is the time of kernels of a batch in milliseconds.
func (c *Cost) KernelTime() float64 { return c.Times.Kernel().Seconds() * 1e3 / float64(c.batches) }

// responses returns the milliseconds from terms to docIDs of each batch, on an index with
// one worker, after a run that loads the lists. It ignores the last, smaller batch of each
// group of queries.
func responses(ctx context.Context, x *Index, qs []workload.Query, opt MatchOptions) ([]float64, error) {
	if err := x.Match(ctx, qs, opt, func(int, []Hits) error { return nil }); err != nil {
		return nil, err
	}
	var mu sync.Mutex // the next batch may end while the hits of one are delivered
	var whole, all []float64
	last := time.Now()
	err := x.Match(ctx, qs, opt, func(first int, hits []Hits) error {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		all = append(all, now.Sub(last).Seconds()*1e3)
		if first+len(hits) < len(qs) {
			whole = append(whole, all[len(all)-1])
		}
		last = now
		return nil
	})
	if len(whole) == 0 {
		whole = all // fewer queries than one full batch
	}
	return whole, err
}

// Times sums the statistics of all batches of a run, after a run to warm up. Wall is
// the time of the whole run.
func (x *Index) Times(ctx context.Context, qs []workload.Query, opt MatchOptions) (plan.Stats, error) {
	var sum plan.Stats
	for range 2 {
		opt.Stats = &sum
		began := time.Now()
		if err := x.Match(ctx, qs, opt, func(int, []Hits) error { return nil }); err != nil {
			return sum, err
		}
		sum.Wall = time.Since(began)
	}
	return sum, nil
}

// Setup returns the setup of a contestant with all its threads and the threshold of the
// options.
func (s *LogBench) Setup(who Contestant, e workload.Encoding, a plan.Algorithm) Setup {
	return Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e, Algorithm: a, Threshold: s.Opt.Threshold}
}
