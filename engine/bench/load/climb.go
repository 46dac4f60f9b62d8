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
	// mostQueries is the largest number of queries of a load. Each takes 32 bytes.
	mostQueries = 4_000_000
	// leastQueries is the smallest number of queries of a load, unless it would take
	// longer than twice the length.
	leastQueries = 200
	// Tries is the largest number of loads at one rate: other work on the machine can
	// make a query late.
	Tries = 3
	// Mostly is the fraction of queries that may miss the deadline.
	Mostly = 0.001
	// The last answers should come within drainShare of the length of a load, but at
	// least within drainLeast.
	drainShare = 0.03
	drainLeast = 5 * time.Millisecond
)

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

// Run finds the highest rate at which almost no query misses its deadline, and returns the loads at
// which this was so, one a rate, by rate. It tries a rate again if few queries miss the deadline.
func (c *Climb) Run(ctx context.Context, answer func(ctx context.Context, i int) error) (held []*Delays, err error) {
	try := func(rate float64) (bool, error) {
		for try := range Tries {
			l := c.Loop(rate, try)
			d, err := l.RunAll(ctx, answer)
			if err != nil {
				return false, fmt.Errorf("%s queries/s: %w", measure.Number(rate), err)
			}
			if c.Report != nil {
				c.Report(d)
			}
			if d.Held(Mostly) {
				held = append(held, d)
				return true, nil
			}
			if d.missed() > l.Misses {
				break
			}
		}
		return false, nil
	}
	low, high := 0.0, math.Inf(1) // the highest rate that held, the lowest that did not
	least := c.From / math.Pow(c.Factor, float64(c.Downs)+0.5)
	for high > low*math.Pow(c.Factor, 1.01*math.Exp2(-float64(c.Halvings))) && high > least {
		rate := math.Sqrt(low * high)
		switch {
		case low == 0:
			rate = min(c.From, high/c.Factor)
		case math.IsInf(high, 1):
			rate = low * c.Factor
		}
		ok, err := try(rate)
		if err != nil {
			return nil, err
		}
		if ok {
			low = rate
		} else {
			high = rate
		}
	}
	slices.SortFunc(held, func(a, b *Delays) int { return cmp.Compare(a.Rate, b.Rate) })
	return held, nil
}
