package load

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// Climb puts loads at rising rates to a system, to find the highest rate that it
// sustains.
type Climb struct {
	From     float64       // first rate, queries per second
	Factor   float64       // ratio of successive rates
	Halvings int           // number of halvings of the last step, on a logarithmic scale
	Downs    int           // largest number of steps below the first rate
	Length   time.Duration // length of a load
	Deadline time.Duration // deadline of a query
	Seed     uint64
	wait     func(time.Time) // as Loop.Wait
	Report   func(d *Delays) // receives every load; may be nil
}

const (
	// mostQueries is the largest number of queries of a load. Each takes 24 bytes.
	mostQueries = 4_000_000
	// leastQueries is the smallest number of queries of a load, unless it would take
	// longer than twice the length.
	leastQueries = 200
	// Tries is the largest number of loads at one rate: other work on the machine can
	// make a query late.
	Tries = 3
	// mostly is the fraction of queries that may miss the deadline for the rate
	// Curve.Mostly.
	mostly = 0.001
	// The last answers should come within drainShare of the length of a load, but at
	// least within drainLeast.
	drainShare = 0.03
	drainLeast = 5 * time.Millisecond
)

// Curve is the result of loads at rising rates.
type Curve struct {
	Held      []*Delays // loads in which at most the fraction mostly missed the deadline, by rate
	Sustained float64   // highest rate at which no query missed its deadline; 0: none
	Mostly    float64   // highest rate at which at most the fraction mostly did
}

// Loop returns the load at a rate, for one of several tries.
func (c *Climb) Loop(rate float64, try int) Loop {
	n := max(rate*c.Length.Seconds(), min(leastQueries, 2*rate*c.Length.Seconds()), 4)
	n = min(n, mostQueries)
	return Loop{Rate: rate, Queries: int(n), Seed: workload.Mix(c.Seed ^ math.Float64bits(rate) ^ uint64(try)), Deadline: c.Deadline,
		Misses: int(n) / 100, Wait: c.wait}
}

// Held reports whether at most a fraction of the queries missed the deadline, and
// answers came as fast as queries. If they come more slowly, each query waits longer
// than the one before. The answers after the last arrival then take longer than the
// median delay in the first half of the load, or longer than a quarter of the load. A
// query must not miss its deadline only because the load ends.
func (d *Delays) Held(share float64) bool {
	length := float64(d.Queries) / d.Rate * 1e9
	room := max(time.Duration(drainShare*length), drainLeast) + min(2*d.early, max(time.Duration(length/4), 8*drainLeast))
	return d.sent == d.Queries && d.missed() <= int(share*float64(d.Queries)) && d.Drain <= room
}

// Run finds the highest rate at which no query misses its deadline (Ding et al. 2009,
// section 9), and the highest rate at which almost none does. It tries a rate again if
// few queries miss the deadline.
func (c *Climb) Run(ctx context.Context, answer func(ctx context.Context, i int) error) (*Curve, error) {
	var v Curve
	failed := math.Inf(1) // lowest rate that failed
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
			if d.Held(mostly) {
				v.Held = append(v.Held, d)
			}
			if d.Held(share) {
				return true, nil
			}
			if d.missed() > l.Misses {
				break
			}
		}
		failed = min(failed, rate)
		return false, nil
	}
	// highest finds a rate between low, which held or is 0, and high, which did not
	// hold.
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
		if d.Held(0) {
			strict = max(strict, d.Rate)
		}
	}
	if v.Sustained, err = highest(strict, failed, 0); err != nil {
		return nil, err
	}
	v.Mostly = max(v.Mostly, v.Sustained) // it may lie between rates that were tried
	slices.SortStableFunc(v.Held, func(a, b *Delays) int { return cmp.Compare(a.Rate, b.Rate) })
	v.Held = slices.CompactFunc(v.Held, func(a, b *Delays) bool { return a.Rate == b.Rate })
	return &v, nil
}
