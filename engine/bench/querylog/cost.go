package querylog

import (
	"context"
	"errors"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"slices"
	"sync"
	"time"
)

// setup is one way of answering the queries.
type Setup struct {
	Backend   string
	Threads   int
	Encoding  workload.Encoding
	Algorithm plan.Algorithm
	Threshold uint64 // candidates a batch; 0 is what the backend likes best
}

// name is how rows name it.
func (u Setup) Name() string { return u.Encoding.String() + "/" + u.Algorithm.String() }

// cost is what was measured of a setup.
type Cost struct {
	Setup
	info      plan.Info
	Queries   int             // a run
	Threshold uint64          // in force
	measured  [4]bool         // by access
	Unfit     bool            // its tables do not fit in memory
	Rate      measure.Summary // queries a second, terms in, docIDs on the host
	Response  measure.Summary // of a batch alone, in milliseconds
	Times     plan.Stats      // of one run, with device times
	Moved     uint64          // bytes that kernels ask for in one run
	peak      float64         // copy bandwidth of the device, bytes a second
}

// peakFraction is the share of the copy bandwidth that the kernels used.
func (c *Cost) PeakFraction() float64 {
	seconds := c.Times.Kernel().Seconds()
	if seconds == 0 || c.peak == 0 {
		return 0
	}
	return float64(c.Moved) / seconds / c.peak
}

// measure gives the costs of setups on a contestant, measured once each, with
// what is wanted: busy measures throughput, alone response times, profiled times
// and counting bytes, which pure Go has none of. Setups whose tables do not fit
// are left out of the answer; so are algorithms that the contestant lacks.
func (s *Bench) Measure(ctx context.Context, who harness.Contestant, setups []Setup, wanted ...harness.Access) ([]*Cost, error) {
	var costs []*Cost
	for _, u := range setups {
		if !who.Runs(u.Algorithm) {
			continue
		}
		c := s.Costs[u]
		if c == nil {
			c = &Cost{Setup: u, info: who.Info, Queries: s.Opt.QueryCountAt(who.Info.Type, u.Threshold)}
			s.Costs[u] = c
		}
		costs = append(costs, c)
	}
	for _, a := range wanted {
		if who.Name == "host" && a >= harness.Profiled {
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

// measureAll measures one thing of setups that share an index.
func (s *Bench) measureAll(ctx context.Context, who harness.Contestant, costs []*Cost, a harness.Access) error {
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
	if a == harness.Busy {
		_, err := s.Throughput(ctx, x, due)
		return err
	}
	for _, c := range due {
		switch opt, qs := c.options(), s.Queries[:c.Queries]; a {
		case harness.Alone:
			c.Response, err = response(ctx, x, qs, opt, c.inForce(x))
		case harness.Profiled:
			c.peak = s.Peak(ctx, who)
			c.Times, err = total(ctx, x, qs, opt)
		case harness.Counting:
			var sum plan.Stats
			sum, err = total(ctx, x, qs, opt)
			c.Moved = sum.BytesMoved
		}
		if c.Unfit = errors.Is(err, plan.ErrOutOfMemory); err != nil && !c.Unfit {
			return err
		}
		c.measured[a] = true
	}
	return nil
}

func (c *Cost) options() harness.MatchOptions {
	return harness.MatchOptions{Algorithm: c.Algorithm, Candidates: c.Setup.Threshold}
}

// inForce is the threshold that closes the setup's batches.
func (c *Cost) inForce(x *harness.Index) uint64 {
	c.Threshold = c.Setup.Threshold
	if c.Threshold == 0 {
		c.Threshold = x.Threshold()
	}
	return c.Threshold
}

// throughput checks the answers of each setup, and then times them in turns with
// each other and with another, if there is one, whose rate it returns.
func (s *Bench) Throughput(ctx context.Context, x *harness.Index, costs []*Cost, another ...measure.Turn) (rate measure.Summary, err error) {
	var turns []measure.Turn
	var due []*Cost
	for _, c := range costs {
		qs := s.Queries[:c.Queries]
		got := make([]uint64, len(qs))
		err := x.Match(ctx, qs, c.options(), func(first int, r *plan.Results) error {
			workload.Digests(got[first:first+len(r.Offsets)-1], r)
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
		turns = append(turns, measure.Turn{Queries: len(qs), Run: func() error {
			return x.Match(ctx, qs, c.options(), func(int, *plan.Results) error { return nil })
		}})
	}
	rates, err := measure.InTurns(append(turns, another...), s.Opt.Runs)
	if err != nil {
		return rate, err
	}
	for i, c := range due {
		c.inForce(x)
		c.Rate, c.measured[harness.Busy] = rates[i], true
	}
	if len(another) > 0 {
		rate = rates[len(due)]
	}
	return rate, nil
}

// response is the time from terms to docIDs of a batch, in milliseconds, on an
// index of one worker: nothing else runs. What the engine leaves over when it
// cuts queries into batches of threshold candidates does not count.
func response(ctx context.Context, x *harness.Index, qs []harness.Query, opt harness.MatchOptions, threshold uint64) (measure.Summary, error) {
	var whole, all []float64
	last := time.Now()
	err := x.Match(ctx, qs, opt, func(_ int, r *plan.Results) error {
		now := time.Now()
		all = append(all, now.Sub(last).Seconds()*1e3)
		if r.Stats.Candidates >= threshold/2 {
			whole = append(whole, all[len(all)-1])
		}
		last = now
		return nil
	})
	if len(whole) == 0 {
		whole = all // fewer queries than one batch takes
	}
	return measure.Summarize(whole), err
}

// total sums the statistics of all batches of a run, after a run that warms up;
// Wall is that of the whole run.
func total(ctx context.Context, x *harness.Index, qs []harness.Query, opt harness.MatchOptions) (plan.Stats, error) {
	var sum plan.Stats
	for range 2 {
		sum = plan.Stats{}
		var mu sync.Mutex
		began := time.Now()
		err := x.Match(ctx, qs, opt, func(_ int, r *plan.Results) error {
			mu.Lock()
			defer mu.Unlock()
			sum.Add(r.Stats)
			return nil
		})
		if err != nil {
			return sum, err
		}
		sum.Wall = time.Since(began)
	}
	return sum, nil
}

// setup is that of a contestant with all its threads and the threshold of the
// options.
func (s *Bench) Setup(who harness.Contestant, e workload.Encoding, a plan.Algorithm) Setup {
	return Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: e, Algorithm: a, Threshold: s.Opt.Threshold}
}
