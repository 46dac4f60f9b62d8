package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// climb says at which rates loads are put to something to find the highest that it
// sustains.
type climb struct {
	from     float64       // the first rate, queries a second
	factor   float64       // from one rate to the next
	halvings int           // of the last step, on a logarithmic scale
	downs    int           // steps down from the first rate, at most
	length   time.Duration // of a load
	deadline time.Duration // of a query
	seed     uint64
	wait     func(time.Time) // as load.wait
	report   func(d *delays) // hears of every load; may be nil
}

const (
	// mostQueries bounds a load: what is kept of each query takes 24 bytes.
	mostQueries = 4_000_000
	// leastQueries is how many a load has unless that takes longer than twice its length.
	leastQueries = 200
	// tries is how often a load is put at most: a neighbour of the machine can make a
	// query late.
	tries = 3
	// mostly is the share of the queries that may miss their deadline where not all need
	// to meet it.
	mostly = 0.001
	// drainShare is the share of a load's length in which the last answers should come,
	// drainLeast what it is at least.
	drainShare = 0.03
	drainLeast = 5 * time.Millisecond
)

// curve is what became of loads at rising rates.
type curve struct {
	held      []*delays // those that mostly held, by rate
	sustained float64   // the highest rate at which no query missed its deadline; 0: none
	mostly    float64   // the highest rate at which nearly none did
}

// load is the one at a rate, in one of several tries.
func (c *climb) load(rate float64, try int) load {
	n := max(rate*c.length.Seconds(), min(leastQueries, 2*rate*c.length.Seconds()), 4)
	n = min(n, mostQueries)
	return load{rate: rate, queries: int(n), seed: mix(c.seed ^ math.Float64bits(rate) ^ uint64(try)), deadline: c.deadline,
		misses: int(n) / 100, wait: c.wait}
}

// held tells whether no more than a share of the queries missed their deadline, and
// answers came as fast as queries. Where they do not, each query waits longer than the
// one before, and what is left when the last one has arrived takes longer than the
// queries of the first half did, or than a quarter of the load; no deadline may be missed
// only because the load ends.
func (d *delays) held(share float64) bool {
	length := float64(d.queries) / d.rate * 1e9
	room := max(time.Duration(drainShare*length), drainLeast) + min(2*d.early, max(time.Duration(length/4), 8*drainLeast))
	return d.sent == d.queries && d.missed() <= int(share*float64(d.queries)) && d.drain <= room
}

// run finds the highest rate at which no query misses its deadline (Ding et al. 2009,
// section 9), and the highest at which nearly none does. A rate at which few miss theirs is
// tried again.
func (c *climb) run(ctx context.Context, answer func(ctx context.Context, i int) error) (*curve, error) {
	var v curve
	failed := math.Inf(1) // the lowest rate that did
	try := func(rate, share float64) (bool, error) {
		for try := range tries {
			l := c.load(rate, try)
			d, err := l.run(ctx, answer)
			if err == nil {
				err = d.err
			}
			if err != nil {
				return false, fmt.Errorf("%s queries/s: %w", number(rate), err)
			}
			if c.report != nil {
				c.report(d)
			}
			if d.held(mostly) {
				v.held = append(v.held, d)
			}
			if d.held(share) {
				return true, nil
			}
			if d.missed() > l.misses {
				break
			}
		}
		failed = min(failed, rate)
		return false, nil
	}
	// highest finds a rate between one that held, 0 for none, and one that did not.
	highest := func(low, high, share float64) (float64, error) {
		least := c.from / math.Pow(c.factor, float64(c.downs)+0.5)
		for high > low*math.Pow(c.factor, 1.01*math.Exp2(-float64(c.halvings))) && high > least {
			rate := math.Sqrt(low * high)
			switch {
			case low == 0:
				rate = min(c.from, high/c.factor)
			case math.IsInf(high, 1):
				rate = low * c.factor
			}
			ok, err := try(rate, share)
			if err != nil {
				return 0, err
			}
			if ok {
				low = rate
			} else {
				high = rate
			}
		}
		return low, nil
	}
	var err error
	if v.mostly, err = highest(0, math.Inf(1), mostly); err != nil {
		return nil, err
	}
	strict := 0.0
	for _, d := range v.held {
		if d.held(0) {
			strict = max(strict, d.rate)
		}
	}
	if v.sustained, err = highest(strict, failed, 0); err != nil {
		return nil, err
	}
	v.mostly = max(v.mostly, v.sustained) // between rates that were tried before
	slices.SortStableFunc(v.held, func(a, b *delays) int { return cmp.Compare(a.rate, b.rate) })
	v.held = slices.CompactFunc(v.held, func(a, b *delays) bool { return a.rate == b.rate })
	return &v, nil
}
