package load

import (
	"cmp"
	"context"
	"fmt"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"math"
	"slices"
	"time"
)

// climb says at which rates loads are put to something to find the highest that it
// sustains.
type Climb struct {
	From     float64       // the first rate, queries a second
	Factor   float64       // from one rate to the next
	Halvings int           // of the last step, on a logarithmic scale
	Downs    int           // steps down from the first rate, at most
	Length   time.Duration // of a load
	Deadline time.Duration // of a query
	Seed     uint64
	wait     func(time.Time) // as load.wait
	Report   func(d *Delays) // hears of every load; may be nil
}

const (
	// mostQueries bounds a load: what is kept of each query takes 24 bytes.
	mostQueries = 4_000_000
	// leastQueries is how many a load has unless that takes longer than twice its length.
	leastQueries = 200
	// tries is how often a load is put at most: a neighbour of the machine can make a
	// query late.
	Tries = 3
	// mostly is the share of the queries that may miss their deadline where not all need
	// to meet it.
	mostly = 0.001
	// drainShare is the share of a load's length in which the last answers should come,
	// drainLeast what it is at least.
	drainShare = 0.03
	drainLeast = 5 * time.Millisecond
)

// curve is what became of loads at rising rates.
type Curve struct {
	Held      []*Delays // those that mostly held, by rate
	Sustained float64   // the highest rate at which no query missed its deadline; 0: none
	Mostly    float64   // the highest rate at which nearly none did
}

// load is the one at a rate, in one of several tries.
func (c *Climb) Loop(rate float64, try int) Loop {
	n := max(rate*c.Length.Seconds(), min(leastQueries, 2*rate*c.Length.Seconds()), 4)
	n = min(n, mostQueries)
	return Loop{Rate: rate, Queries: int(n), Seed: workload.Mix(c.Seed ^ math.Float64bits(rate) ^ uint64(try)), Deadline: c.Deadline,
		Misses: int(n) / 100, Wait: c.wait}
}

// held tells whether no more than a share of the queries missed their deadline, and
// answers came as fast as queries. Where they do not, each query waits longer than the
// one before, and what is left when the last one has arrived takes longer than the
// queries of the first half did, or than a quarter of the load; no deadline may be missed
// only because the load ends.
func (d *Delays) held(share float64) bool {
	length := float64(d.Queries) / d.Rate * 1e9
	room := max(time.Duration(drainShare*length), drainLeast) + min(2*d.early, max(time.Duration(length/4), 8*drainLeast))
	return d.sent == d.Queries && d.missed() <= int(share*float64(d.Queries)) && d.drain <= room
}

// run finds the highest rate at which no query misses its deadline (Ding et al. 2009,
// section 9), and the highest at which nearly none does. A rate at which few miss theirs is
// tried again.
func (c *Climb) Run(ctx context.Context, answer func(ctx context.Context, i int) error) (*Curve, error) {
	var v Curve
	failed := math.Inf(1) // the lowest rate that did
	try := func(rate, share float64) (bool, error) {
		for try := range Tries {
			l := c.Loop(rate, try)
			d, err := l.Run(ctx, answer)
			if err == nil {
				err = d.Err
			}
			if err != nil {
				return false, fmt.Errorf("%s queries/s: %w", measure.Number(rate), err)
			}
			if c.Report != nil {
				c.Report(d)
			}
			if d.held(mostly) {
				v.Held = append(v.Held, d)
			}
			if d.held(share) {
				return true, nil
			}
			if d.missed() > l.Misses {
				break
			}
		}
		failed = min(failed, rate)
		return false, nil
	}
	// highest finds a rate between one that held, 0 for none, and one that did not.
	highest := func(low, high, share float64) (float64, error) {
		least := c.From / math.Pow(c.Factor, float64(c.Downs)+0.5)
		for high > low*math.Pow(c.Factor, 1.01*math.Exp2(-float64(c.Halvings))) && high > least {
			rate := math.Sqrt(low * high)
			switch {
			case low == 0:
				rate = min(c.From, high/c.Factor)
			case math.IsInf(high, 1):
				rate = low * c.Factor
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
	if v.Mostly, err = highest(0, math.Inf(1), mostly); err != nil {
		return nil, err
	}
	strict := 0.0
	for _, d := range v.Held {
		if d.held(0) {
			strict = max(strict, d.Rate)
		}
	}
	if v.Sustained, err = highest(strict, failed, 0); err != nil {
		return nil, err
	}
	v.Mostly = max(v.Mostly, v.Sustained) // between rates that were tried before
	slices.SortStableFunc(v.Held, func(a, b *Delays) int { return cmp.Compare(a.Rate, b.Rate) })
	v.Held = slices.CompactFunc(v.Held, func(a, b *Delays) bool { return a.Rate == b.Rate })
	return &v, nil
}
