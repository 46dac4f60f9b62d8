package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// setup is one way to rank queries.
type setup struct {
	backend      string
	threads      int
	accumulators plan.Accumulators
	mode         workload.Mode
	k            int
}

// name names the setup in rows.
func (u setup) name() string { return fmt.Sprintf("%s k=%d", u.mode, u.k) }

func (b *bench) options(u setup) harness.RankOptions {
	opt := harness.RankOptions{Mode: u.mode, K: u.k, Accumulators: u.accumulators, Postings: b.Opt.Postings}
	if b.W.Source.Impacts == 0 {
		opt.Scoring = &b.W.Params
	}
	return opt
}

// cost is the measured cost of a setup.
type cost struct {
	setup
	queries  int             // number of queries per pass
	passes   int             // number of passes per timed run in batches
	postings uint64          // postings of their lists, per pass
	measured [4]bool         // by access
	rate     measure.Summary // queries per second in batches, from terms to documents and scores on the host
	one      latencies       // queries one at a time
	times    plan.Stats      // statistics of one pass in batches, with device times
	moved    uint64          // bytes that kernels request in one pass
	peak     float64         // copy bandwidth of the device, bytes per second

	// Figures of the other library, on as many threads, in turns. Zero without one.
	peerRate measure.Summary
	peerOne  latencies
}

// latencies are milliseconds of queries one at a time: the mean and percentiles of each
// pass.
type latencies struct {
	mean, p50, p95, p99 measure.Summary
	each                []float64 // least time of each query over all passes
}

// peakFraction is the fraction of the copy bandwidth that the kernels use.
func (c *cost) peakFraction() float64 {
	if seconds := c.times.Kernel().Seconds(); seconds > 0 && c.peak > 0 {
		return float64(c.moved) / seconds / c.peak
	}
	return 0
}

// measure returns the costs of setups on a contestant. It measures each kind of cost
// once: Busy the throughput, Alone single queries, Profiled the device times and
// Counting the bytes. Pure Go has no device times and bytes. A contestant that does not
// rank has no costs.
func (b *bench) measure(ctx context.Context, who harness.Contestant, setups []setup, wanted ...harness.Access) (costs []*cost, err error) {
	for _, u := range setups {
		c := b.costs[u]
		if c == nil {
			c = &cost{setup: u, queries: min(b.Opt.RankQueryCount(who.Info.Type), len(b.W.Queries))}
			if who.Name == "host" && u.threads == 1 && b.Opt.Threads > 1 {
				c.queries = (c.queries + 3) / 4
			}
			c.postings = b.W.Postings(c.queries)
			b.costs[u] = c
		}
		costs = append(costs, c)
	}
	for _, a := range wanted {
		if who.Name == "host" && a >= harness.Profiled {
			continue
		}
		for _, c := range costs {
			if c.measured[a] {
				continue
			}
			x, err := b.index(ctx, who, c.threads, a)
			if err == nil {
				err = b.measureOne(ctx, who, x, c, a)
			}
			if errors.Is(err, plan.ErrUnsupported) {
				b.Logf("%s on %s left out: %v", c.name(), who, err)
				return nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", c.name(), who, err)
			}
			c.measured[a] = true
		}
	}
	return costs, nil
}

func (b *bench) measureOne(ctx context.Context, who harness.Contestant, x *harness.Index, c *cost, a harness.Access) (err error) {
	qs, opt := b.W.Queries[:c.queries], b.options(c.setup)
	if a == harness.Busy || a == harness.Alone { // only checked setups are timed
		if err := b.verify(ctx, who, x, c); err != nil {
			return err
		}
	}
	switch a {
	case harness.Busy:
		many := slices.Repeat(qs, c.passes)
		turns := []measure.Turn{{Queries: len(many), Run: func() error {
			return x.Rank(ctx, many, opt, func(int, []harness.Hits) error { return nil })
		}}}
		if b.peer != nil {
			turns = append(turns, measure.Turn{Queries: len(qs), Run: func() error { return rankAll(ctx, b.peer, c.threads, qs, c.mode, c.k) }})
		}
		var rates []measure.Summary
		if rates, err = measure.InTurns(turns, b.Opt.Runs); err == nil {
			c.rate = rates[0]
			if b.peer != nil {
				c.peerRate = rates[1]
			}
		}
	case harness.Alone:
		c.one, err = oneAtATime(len(qs), b.Opt.Runs, func(i int) error {
			_, err := x.RankOne(ctx, qs[i], opt)
			return err
		})
		if err == nil && b.peer != nil {
			c.peerOne, err = oneAtATime(len(qs), b.Opt.Runs, func(i int) error {
				_, err := b.peer.Rank(ctx, qs[i].Terms, c.mode, c.k)
				return err
			})
		}
	case harness.Profiled:
		c.peak = b.Peak(ctx, who)
		c.times, err = total(ctx, x, qs, opt)
	case harness.Counting:
		var sum plan.Stats
		sum, err = total(ctx, x, qs, opt)
		c.moved = sum.BytesMoved
	}
	return err
}

// verify runs a setup once and compares its answers with earlier ones. It also sets the
// number of passes.
func (b *bench) verify(ctx context.Context, who harness.Contestant, x *harness.Index, c *cost) error {
	if c.measured[harness.Busy] || c.measured[harness.Alone] {
		return nil
	}
	answers := make([]Answer, c.queries)
	began := time.Now()
	err := x.Rank(ctx, b.W.Queries[:c.queries], b.options(c.setup), func(first int, hits []harness.Hits) error {
		for i, h := range hits {
			answers[first+i] = b.Check.Answer(first+i, h.Docs, h.Scores)
		}
		return nil
	})
	if err != nil {
		return err
	}
	enough := harness.Pick(&b.Opt, 200*time.Millisecond, 20*time.Millisecond)
	c.passes = int(enough/(time.Since(began)+1)) + 1
	return b.Check.Check(fmt.Sprintf("%s on %s", c.name(), who), c.mode, c.k, answers)
}

// oneAtATime times n queries, each alone, in several passes, after a pass to warm up.
func oneAtATime(n, runs int, run func(i int) error) (l latencies, err error) {
	var mean, p50, p95, p99 []float64
	l.each = make([]float64, n)
	for i := range l.each {
		l.each[i] = math.Inf(1)
	}
	for pass := range runs + 1 {
		times := make([]float64, n)
		sum := 0.0
		for i := range n {
			began := time.Now()
			if err := run(i); err != nil {
				return l, fmt.Errorf("query %d: %w", i, err)
			}
			times[i] = time.Since(began).Seconds() * 1e3
			sum += times[i]
			l.each[i] = min(l.each[i], times[i])
		}
		if pass == 0 {
			continue
		}
		slices.Sort(times)
		mean = append(mean, sum/float64(n))
		p50, p95, p99 = append(p50, measure.Percentile(times, 50)), append(p95, measure.Percentile(times, 95)), append(p99, measure.Percentile(times, 99))
	}
	l.mean, l.p50, l.p95, l.p99 = measure.Summarize(mean), measure.Summarize(p50), measure.Summarize(p95), measure.Summarize(p99)
	return l, nil
}

// total sums the statistics of all batches of a pass, after a pass to warm up.
func total(ctx context.Context, x *harness.Index, qs []workload.Query, opt harness.RankOptions) (sum plan.Stats, err error) {
	for range 2 {
		opt.Stats = &sum
		err = x.Rank(ctx, qs, opt, func(int, []harness.Hits) error { return nil })
	}
	return sum, err
}
