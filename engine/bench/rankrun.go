package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
)

// rankSetup is one way of ranking queries.
type rankSetup struct {
	backend      string
	threads      int
	accumulators plan.Accumulators
	mode         engine.Mode
	k            int
}

// name is how rows name it.
func (u rankSetup) name() string { return fmt.Sprintf("%s k=%d", u.mode, u.k) }

func (b *rankBench) options(u rankSetup) engine.RankOptions {
	opt := engine.RankOptions{Mode: u.mode, K: u.k, Accumulators: u.accumulators, BatchPostings: b.s.opt.Postings}
	if b.w.source.Impacts == 0 {
		opt.Scoring = &b.w.params
	}
	return opt
}

// rankCost is what was measured of a setup.
type rankCost struct {
	rankSetup
	queries  int        // a pass
	passes   int        // a timed run in batches
	postings uint64     // of their lists, in a pass
	measured [4]bool    // by access
	rate     summary    // queries a second in batches, terms in, documents and scores on the host
	one      latencies  // of queries one at a time
	times    plan.Stats // of one pass in batches, with device times
	moved    uint64     // bytes that kernels ask for in one pass
	peak     float64    // copy bandwidth of the device, bytes a second

	// Of the peer, in turns with it, on as many threads; zero without one.
	peerRate summary
	peerOne  latencies
}

// latencies are times of queries one at a time in milliseconds: of each pass the
// mean and percentiles.
type latencies struct {
	mean, p50, p95, p99 summary
	each                []float64 // of each query, the least of all passes
}

// peakFraction is the share of the copy bandwidth that the kernels used.
func (c *rankCost) peakFraction() float64 {
	if seconds := c.times.Kernel().Seconds(); seconds > 0 && c.peak > 0 {
		return float64(c.moved) / seconds / c.peak
	}
	return 0
}

// measure gives the costs of setups on a contestant, measured once each, with what
// is wanted: busy measures throughput, alone queries one at a time, profiled times
// and counting bytes, which pure Go has none of. A contestant that does not rank has
// no costs.
func (b *rankBench) measure(ctx context.Context, who contestant, setups []rankSetup, wanted ...access) (costs []*rankCost, err error) {
	for _, u := range setups {
		c := b.costs[u]
		if c == nil {
			c = &rankCost{rankSetup: u, queries: min(b.s.opt.rankQueries(who.info.Type), len(b.w.queries))}
			if who.name == "host" && u.threads == 1 && b.s.opt.Threads > 1 {
				c.queries = (c.queries + 3) / 4
			}
			c.postings = b.w.postings(c.queries)
			b.costs[u] = c
		}
		costs = append(costs, c)
	}
	for _, a := range wanted {
		if who.name == "host" && a >= profiled {
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
				b.s.logf("%s on %s left out: %v", c.name(), who, err)
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

func (b *rankBench) measureOne(ctx context.Context, who contestant, x *engine.Index, c *rankCost, a access) (err error) {
	qs, opt := b.w.queries[:c.queries], b.options(c.rankSetup)
	if a == busy || a == alone { // what is timed has been checked
		if err := b.verify(ctx, who, x, c); err != nil {
			return err
		}
	}
	switch a {
	case busy:
		many := slices.Repeat(qs, c.passes)
		turns := []turn{{len(many), func() error {
			return x.RankBatches(ctx, many, opt, func(int, *engine.Rankings) error { return nil })
		}}}
		if b.peer != nil {
			turns = append(turns, turn{len(qs), func() error { return rankAll(ctx, b.peer, c.threads, qs, c.mode, c.k) }})
		}
		var rates []summary
		if rates, err = inTurns(turns, b.s.opt.Runs); err == nil {
			c.rate = rates[0]
			if b.peer != nil {
				c.peerRate = rates[1]
			}
		}
	case alone:
		c.one, err = oneAtATime(len(qs), b.s.opt.Runs, func(i int) error {
			_, err := x.Rank(ctx, qs[i], opt)
			return err
		})
		if err == nil && b.peer != nil {
			c.peerOne, err = oneAtATime(len(qs), b.s.opt.Runs, func(i int) error {
				_, err := b.peer.rank(ctx, qs[i].Terms, c.mode, c.k)
				return err
			})
		}
	case profiled:
		if c.peak, err = b.s.peak(ctx, x); err == nil {
			c.times, err = rankTotal(ctx, x, qs, opt)
		}
	case counting:
		var sum plan.Stats
		sum, err = rankTotal(ctx, x, qs, opt)
		c.moved = sum.BytesMoved
	}
	return err
}

// verify runs a setup once, which says how many passes are enough, and compares its
// answers with those of others.
func (b *rankBench) verify(ctx context.Context, who contestant, x *engine.Index, c *rankCost) error {
	if c.measured[busy] || c.measured[alone] {
		return nil
	}
	answers := make([]rankAnswer, c.queries)
	began := time.Now()
	err := x.RankBatches(ctx, b.w.queries[:c.queries], b.options(c.rankSetup), func(first int, r *engine.Rankings) error {
		for i := range r.Queries() {
			docs, scores := r.Query(i)
			answers[first+i] = b.check.answer(first+i, docs, scores)
		}
		return nil
	})
	if err != nil {
		return err
	}
	enough := pick(&b.s.opt, []time.Duration{200 * time.Millisecond}, []time.Duration{20 * time.Millisecond})[0]
	c.passes = int(enough/(time.Since(began)+1)) + 1
	return b.check.check(fmt.Sprintf("%s on %s", c.name(), who), c.mode, c.k, answers)
}

// oneAtATime times n queries, each alone, in several passes, after one that warms up.
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
		p50, p95, p99 = append(p50, percentile(times, 50)), append(p95, percentile(times, 95)), append(p99, percentile(times, 99))
	}
	l.mean, l.p50, l.p95, l.p99 = summarize(mean), summarize(p50), summarize(p95), summarize(p99)
	return l, nil
}

// percentile is the least of ascending times that p percent do not exceed.
func percentile(ascending []float64, p int) float64 {
	n := len(ascending)
	if n == 0 {
		return 0
	}
	return ascending[max((n*p+99)/100, 1)-1]
}

// rankTotal sums the statistics of all batches of a pass, after one that warms up.
func rankTotal(ctx context.Context, x *engine.Index, qs []engine.Query, opt engine.RankOptions) (sum plan.Stats, err error) {
	for range 2 {
		sum = plan.Stats{}
		var mu sync.Mutex
		err = x.RankBatches(ctx, qs, opt, func(_ int, r *engine.Rankings) error {
			mu.Lock()
			defer mu.Unlock()
			sum.Add(r.Stats)
			return nil
		})
	}
	return sum, err
}
