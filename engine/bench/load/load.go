// Package load puts open-loop loads on a system: queries arrive as a Poisson process,
// independently of the answers. It finds the highest rate that the system sustains.
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
)

// Loop is an open loop: queries arrive as a Poisson process, independently of the
// answers.
type Loop struct {
	Rate     float64       // arrivals per second
	Queries  int           // number of arrivals
	Seed     uint64        // seed of the gaps between arrivals
	Deadline time.Duration // deadline of a query after its arrival; 0 is none
	Misses   int           // the load ends early if more queries miss the deadline
	flight   int           // largest number of running queries, further ones are refused; 0 is MostFlying

	// Wait returns at a time, or soon after it. nil: real time.
	Wait func(time.Time)
}

// arrival is a query and when it arrives.
type arrival struct {
	i  int
	at time.Time
}

// MostFlying is the largest number of running queries. Each has a goroutine.
const MostFlying = 1 << 16

// mostPerSender is the number of queries per second that one goroutine sends.
const mostPerSender = 100_000

// deadlineContext is the context of one query, with a deadline but without a timer: a timer per
// query would cost more than some queries. Its channel is its own, as in a server: callers that
// wait for the end of one common context contend for the lock of its channel.
type deadlineContext struct {
	context.Context
	at   time.Time
	done chan struct{} // never closed: the deadline ends the query
}

func (c deadlineContext) Deadline() (time.Time, bool) { return c.at, true }
func (c deadlineContext) Done() <-chan struct{}       { return c.done }

// Delays of queries without an answer in time.
const (
	unsent  = 0 // the load ended early
	refused = -1
	expired = -2 // the engine returned a deadline error
	failed  = -3
)

// Delays holds the outcome of a load.
type Delays struct {
	Loop
	sent                           int
	Milliseconds                   []float64     // delays of answered queries, ascending
	late, refused, Expired, Failed int           // late: answered after the deadline
	Err                            error         // error of the first failed query
	early                          time.Duration // median delay in the first half of the load
	Drain                          time.Duration // time from the last arrival to the last answer
	Behind                         float64       // p99 of the time from arrival to sending, ms
}

// Run sends the load. answer receives the number of a query, from 0, and a context with
// its deadline. A delay starts when the query should arrive, not when it is sent, so a
// slow sender or engine cannot hide waiting time. Run stops sending when ctx is done.
// It returns after the last answer.
func (l Loop) Run(ctx context.Context, answer func(ctx context.Context, i int) error) (*Delays, error) {
	if l.Wait == nil {
		l.Wait = waitUntil
	}
	if l.flight == 0 {
		l.flight = MostFlying
	}
	took, behind := make([]time.Duration, l.Queries), make([]time.Duration, l.Queries)
	d := &Delays{Loop: l}
	var (
		wg                   sync.WaitGroup
		flying, missed, last atomic.Int64
		once                 sync.Once
	)
	scales := make([]float64, min(1+int(l.Rate/mostPerSender), max(runtime.GOMAXPROCS(0)/2, 1)))
	senders := len(scales)
	for s := range scales { // before the start, because it takes longer than the deadline
		scales[s] = l.scale(s, senders)
	}
	runtime.GC() // a collection in a load takes some 10 ms, as much as a deadline
	start := time.Now().Add(time.Millisecond)
	one := func(q arrival) {
		defer flying.Add(-1)
		i, arrived := q.i, q.at
		behind[i] = time.Since(arrived)
		var qctx context.Context = ctx
		if l.Deadline > 0 {
			qctx = deadlineContext{ctx, arrived.Add(l.Deadline), make(chan struct{})}
		}
		err := answer(qctx, i)
		delay := max(time.Since(arrived), 1)
		switch {
		case err == nil:
			if l.Deadline > 0 && delay > l.Deadline {
				missed.Add(1)
			}
		case errors.Is(err, schedule.ErrFull):
			delay = refused
		case errors.Is(err, context.DeadlineExceeded):
			delay = expired
		default:
			delay = failed
			once.Do(func() { d.Err = fmt.Errorf("query %d: %w", i, err) })
		}
		if delay < 0 {
			missed.Add(1)
		}
		took[i] = delay
	}
	for s, scale := range scales {
		wg.Go(func() {
			next := make(chan arrival) // to goroutines that have sent a query: their stacks have grown
			defer close(next)
			r, at := workload.NewRandom(l.Seed, workload.StreamArrivals, uint64(s)), start
			for i := s; i < l.Queries; i += senders {
				at = at.Add(time.Duration(scale * float64(gap(r, l.Rate))))
				l.Wait(at)
				if ctx.Err() != nil || missed.Load() > int64(l.Misses) {
					return
				}
				if flying.Add(1) > int64(l.flight) {
					flying.Add(-1)
					took[i] = refused
					missed.Add(1)
					continue
				}
				last.Store(int64(at.Sub(start))) // approximately the last arrival: senders run in step
				q := arrival{i, at}
				select {
				case next <- q:
				default:
					wg.Go(func() {
						for ok := true; ok; q, ok = <-next {
							one(q)
						}
					})
				}
			}
		})
	}
	wg.Wait()
	d.Drain = time.Since(start) - time.Duration(last.Load())
	d.count(took, behind)
	return d, ctx.Err()
}

// scale is the factor for the gaps of sender s that gives exactly the wanted rate. The
// sum of few random gaps may differ much from its mean.
func (l Loop) scale(s, senders int) float64 {
	r, n, sum := workload.NewRandom(l.Seed, workload.StreamArrivals, uint64(s)), 0, time.Duration(0)
	for i := s; i < l.Queries; i += senders {
		n++
		sum += gap(r, l.Rate)
	}
	return float64(n*senders) / l.Rate / sum.Seconds()
}

// gap draws the time between two arrivals of a Poisson process.
func gap(r *workload.Random, rate float64) time.Duration {
	return time.Duration(math.Round(-workload.Ln(r.Unit()) / rate * 1e9))
}

// count sums up the outcomes of the queries.
func (d *Delays) count(took, behind []time.Duration) {
	var sent []float64
	for i, t := range took {
		if t == unsent {
			continue
		}
		d.sent++
		switch t {
		case refused:
			d.refused++
		case expired:
			d.Expired++
		case failed:
			d.Failed++
		default:
			d.Milliseconds = append(d.Milliseconds, t.Seconds()*1e3)
			if d.Deadline > 0 && t > d.Deadline {
				d.late++
			}
		}
		if t != refused {
			sent = append(sent, behind[i].Seconds()*1e3)
		}
	}
	early := slices.Clone(d.Milliseconds[:(len(d.Milliseconds)+1)/2])
	slices.Sort(early)
	d.early = time.Duration(measure.Percentile(early, 50) * 1e6)
	slices.Sort(d.Milliseconds)
	slices.Sort(sent)
	d.Behind = measure.Percentile(sent, 99)
}

// missed is the number of queries without an answer in time.
func (d *Delays) missed() int { return d.late + d.refused + d.Expired + d.Failed }

// Percentile is the delay in milliseconds that p percent of the queries do not exceed.
// Queries without an answer count as slower than all answered ones. ok is false if the
// percentile is such a query, or if the load ended early.
func (d *Delays) Percentile(p int) (ms float64, ok bool) {
	n := max((d.sent*p+99)/100, 1)
	if n > len(d.Milliseconds) || d.sent < d.Queries {
		return 0, false
	}
	return d.Milliseconds[n-1], true
}

// Mean is the mean delay of the answered queries in milliseconds.
func (d *Delays) Mean() float64 {
	sum := 0.0
	for _, t := range d.Milliseconds {
		sum += t
	}
	return sum / float64(max(len(d.Milliseconds), 1))
}

// spin is the time before a deadline at which waitUntil stops sleeping: an idle runtime
// rounds a sleep up to a millisecond.
const spin = 1500 * time.Microsecond

// looks is the number of looks at the clock, of some 10 µs together, between two yields: a yield
// takes the lock of all processors.
const looks = 256

// waitUntil returns at t, within microseconds if a core is free. It always yields to
// other goroutines first.
func waitUntil(t time.Time) {
	if d := time.Until(t) - spin; d > 0 {
		time.Sleep(d)
	}
	for {
		runtime.Gosched()
		for range looks {
			if !time.Now().Before(t) {
				return
			}
		}
	}
}

// Middle summarises a figure of an odd number of loads. Loads without the figure count
// as larger than all the rest. ok is false if the median is one of them.
func Middle(loads []*Delays, of func(d *Delays) (float64, bool)) (measure.Summary, bool) {
	var values []float64
	for _, d := range loads {
		if value, ok := of(d); ok {
			values = append(values, value)
		}
	}
	s := measure.Summarize(values)
	if len(values) <= len(loads)/2 {
		return s, false
	}
	s.Median = values[len(loads)/2]
	return s, true
}
