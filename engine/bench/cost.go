package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
)

// setup is one way of answering the queries.
type setup struct {
	backend   string
	threads   int
	encoding  encoding
	algorithm plan.Algorithm
	threshold uint64 // candidates a batch; 0 is what the backend likes best
}

// name is how rows name it.
func (u setup) name() string { return u.encoding.String() + "/" + u.algorithm.String() }

// cost is what was measured of a setup.
type cost struct {
	setup
	info      plan.Info
	queries   int        // a run
	threshold uint64     // in force
	measured  [4]bool    // by access
	unfit     bool       // its tables do not fit in memory
	rate      summary    // queries a second, terms in, docIDs on the host
	response  summary    // of a batch alone, in milliseconds
	times     plan.Stats // of one run, with device times
	moved     uint64     // bytes that kernels ask for in one run
	peak      float64    // copy bandwidth of the device, bytes a second
}

// peakFraction is the share of the copy bandwidth that the kernels used.
func (c *cost) peakFraction() float64 {
	seconds := c.times.Kernel().Seconds()
	if seconds == 0 || c.peak == 0 {
		return 0
	}
	return float64(c.moved) / seconds / c.peak
}

// measure gives the costs of setups on a contestant, measured once each, with
// what is wanted: busy measures throughput, alone response times, profiled times
// and counting bytes, which pure Go has none of. Setups whose tables do not fit
// are left out of the answer; so are algorithms that the contestant lacks.
func (s *session) measure(ctx context.Context, who contestant, setups []setup, wanted ...access) ([]*cost, error) {
	var costs []*cost
	for _, u := range setups {
		if !who.runs(u.algorithm) {
			continue
		}
		c := s.costs[u]
		if c == nil {
			c = &cost{setup: u, info: who.info, queries: s.opt.queriesAt(who.info.Type, u.threshold)}
			s.costs[u] = c
		}
		costs = append(costs, c)
	}
	for _, a := range wanted {
		if who.name == "host" && a >= profiled {
			continue
		}
		for i := 0; i < len(costs); {
			j := i + 1 // setups i to j-1 share an index
			for j < len(costs) && costs[j].encoding == costs[i].encoding && costs[j].threads == costs[i].threads {
				j++
			}
			if err := s.measureAll(ctx, who, costs[i:j], a); err != nil {
				return nil, err
			}
			i = j
		}
	}
	return slices.DeleteFunc(costs, func(c *cost) bool { return c.unfit }), nil
}

// measureAll measures one thing of setups that share an index.
func (s *session) measureAll(ctx context.Context, who contestant, costs []*cost, a access) error {
	var due []*cost
	for _, c := range costs {
		if !c.measured[a] && !c.unfit {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return nil
	}
	x, err := s.index(ctx, who, due[0].threads, due[0].encoding, a)
	if err != nil {
		return err
	}
	if a == busy {
		_, err := s.throughput(ctx, x, due)
		return err
	}
	for _, c := range due {
		switch opt, qs := c.options(), s.queries[:c.queries]; a {
		case alone:
			c.response, err = response(ctx, x, qs, opt, c.inForce(x))
		case profiled:
			if c.peak, err = s.peak(ctx, x); err == nil {
				c.times, err = total(ctx, x, qs, opt)
			}
		case counting:
			var sum plan.Stats
			sum, err = total(ctx, x, qs, opt)
			c.moved = sum.BytesMoved
		}
		if c.unfit = errors.Is(err, plan.ErrOutOfMemory); err != nil && !c.unfit {
			return err
		}
		c.measured[a] = true
	}
	return nil
}

func (c *cost) options() engine.SearchOptions {
	return engine.SearchOptions{Algorithm: c.algorithm, BatchCandidates: c.setup.threshold}
}

// inForce is the threshold that closes the setup's batches.
func (c *cost) inForce(x *engine.Index) uint64 {
	c.threshold = c.setup.threshold
	if c.threshold == 0 {
		c.threshold = x.BatchCandidates()
	}
	return c.threshold
}

// throughput checks the answers of each setup, and then times them in turns with
// each other and with another, if there is one, whose rate it returns.
func (s *session) throughput(ctx context.Context, x *engine.Index, costs []*cost, another ...turn) (rate summary, err error) {
	var turns []turn
	var due []*cost
	for _, c := range costs {
		qs := s.queries[:c.queries]
		got := make([]uint64, len(qs))
		err := x.SearchBatches(ctx, qs, c.options(), func(first int, r *plan.Results) error {
			digests(got[first:first+len(r.Offsets)-1], r)
			return nil
		})
		if c.unfit = errors.Is(err, plan.ErrOutOfMemory); c.unfit {
			s.logf("%s left out: %v", c.name(), err)
			continue
		}
		if err == nil {
			err = s.check.check(c.name()+" on "+c.info.Device, got)
		}
		if err != nil {
			return rate, err
		}
		due = append(due, c)
		turns = append(turns, turn{len(qs), func() error {
			return x.SearchBatches(ctx, qs, c.options(), func(int, *plan.Results) error { return nil })
		}})
	}
	rates, err := inTurns(append(turns, another...), s.opt.Runs)
	if err != nil {
		return rate, err
	}
	for i, c := range due {
		c.inForce(x)
		c.rate, c.measured[busy] = rates[i], true
	}
	if len(another) > 0 {
		rate = rates[len(due)]
	}
	return rate, nil
}

// turn is one timed run of one contestant.
type turn struct {
	queries int
	run     func() error
}

// inTurns runs everybody once, then everybody again, so that a machine that gets
// slower does so for all. It returns queries a second.
func inTurns(turns []turn, runs int) ([]summary, error) {
	rates := make([][]float64, len(turns))
	for range runs {
		for i, t := range turns {
			began := time.Now()
			if err := t.run(); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], float64(t.queries)/time.Since(began).Seconds())
		}
	}
	out := make([]summary, len(turns))
	for i := range rates {
		out[i] = summarize(rates[i])
	}
	return out, nil
}

// response is the time from terms to docIDs of a batch, in milliseconds, on an
// index of one worker: nothing else runs. What the engine leaves over when it
// cuts queries into batches of threshold candidates does not count.
func response(ctx context.Context, x *engine.Index, qs []engine.Query, opt engine.SearchOptions, threshold uint64) (summary, error) {
	var whole, all []float64
	last := time.Now()
	err := x.SearchBatches(ctx, qs, opt, func(_ int, r *plan.Results) error {
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
	return summarize(whole), err
}

// total sums the statistics of all batches of a run, after a run that warms up;
// Wall is that of the whole run.
func total(ctx context.Context, x *engine.Index, qs []engine.Query, opt engine.SearchOptions) (plan.Stats, error) {
	var sum plan.Stats
	for range 2 {
		sum = plan.Stats{}
		var mu sync.Mutex
		began := time.Now()
		err := x.SearchBatches(ctx, qs, opt, func(_ int, r *plan.Results) error {
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
