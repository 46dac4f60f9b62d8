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

// MostFlying is the largest number of running queries. Each has a goroutine.
const MostFlying = 1 << 16

// span is a range of queries that are due.
type span struct{ from, to int }

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
	Behind                         float64       // p99 of the time from arrival to the call, ms
	Late                           time.Duration // p99.9 of the time from arrival to sending
}

// Run sends the load. answer receives the number of a query, from 0, and a context with
// its deadline. A delay starts when the query should arrive, not when it is sent, so a
// slow sender or engine cannot hide waiting time. Run stops sending when ctx is done.
// It returns after the last answer.
func (l Loop) Run(ctx context.Context, answer func(ctx context.Context, i int) error) (*Delays, error) {
	if !(l.Rate > 0) {
		return nil, fmt.Errorf("a load of %v queries/s never ends", l.Rate)
	}
	if l.Wait == nil {
		l.Wait = waitUntil
	}
	if l.flight == 0 {
		l.flight = MostFlying
	}
	due, took := l.arrivals(), make([]time.Duration, l.Queries) // before the start, because it takes longer than the deadline
	sent, called := make([]time.Duration, l.Queries), make([]time.Duration, l.Queries)
	d := &Delays{Loop: l}
	var (
		wg, open       sync.WaitGroup // goroutines; queries
		flying, missed atomic.Int64
		once           sync.Once
	)
	runtime.GC() // a collection in a load takes some 10 ms, as much as a deadline
	start := time.Now().Add(time.Millisecond)
	one := func(i int, done chan struct{}) {
		defer open.Done()
		defer flying.Add(-1)
		arrived := start.Add(due[i])
		called[i] = time.Since(arrived)
		var qctx context.Context = ctx
		if l.Deadline > 0 {
			qctx = deadlineContext{ctx, arrived.Add(l.Deadline), done}
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
	// Goroutines that have sent a query wait for the next one: their stacks have grown. Several
	// channels share them, because all cores use the lock of a channel.
	next := make([]chan span, runtime.GOMAXPROCS(0))
	for i := range next {
		next[i] = make(chan span)
	}
	// pass gives queries to one goroutine, which passes half of them on until it has one: the
	// sender wakes one goroutine for all queries that are due.
	var pass func(q span)
	pass = func(q span) {
		free := next[q.from%len(next)]
		select {
		case free <- q:
		default:
			wg.Go(func() {
				done := make(chan struct{})
				for ok := true; ok; q, ok = <-free {
					for q.to-q.from > 1 {
						middle := (q.from + q.to) / 2
						pass(span{middle, q.to})
						q.to = middle
					}
					one(q.from, done)
				}
			})
		}
	}
	last := start
	for i := 0; i < l.Queries; {
		l.Wait(start.Add(due[i]))
		if ctx.Err() != nil || missed.Load() > int64(l.Misses) {
			break
		}
		q, now := span{i, i}, time.Since(start)
		for ; q.to < l.Queries && (q.to == i || due[q.to] <= now); q.to++ {
			sent[q.to] = max(now-due[q.to], 0)
		}
		i, last = q.to, start.Add(due[q.to-1])
		for ; q.to > q.from && flying.Load()+int64(q.to-q.from) > int64(l.flight); q.to-- {
			took[q.to-1] = refused
			missed.Add(1)
		}
		if n := q.to - q.from; n > 0 {
			flying.Add(int64(n))
			open.Add(n)
			pass(q)
		}
	}
	open.Wait()
	d.Drain = time.Since(last)
	for _, free := range next {
		close(free)
	}
	wg.Wait()
	d.count(took, sent, called)
	return d, ctx.Err()
}

// RunAll is Run, but fails with the error of a failed query.
func (l Loop) RunAll(ctx context.Context, answer func(ctx context.Context, i int) error) (*Delays, error) {
	d, err := l.Run(ctx, answer)
	if err == nil {
		err = d.Err
	}
	return d, err
}

// arrivals returns the times of the arrivals after the start, scaled to exactly the wanted rate: the
// sum of few random gaps may differ much from its mean.
func (l Loop) arrivals() []time.Duration {
	r, due, at := workload.NewRandom(l.Seed, workload.StreamArrivals, 0), make([]time.Duration, l.Queries), time.Duration(0)
	for i := range due {
		at += gap(r, l.Rate)
		due[i] = at
	}
	scale := float64(l.Queries) / l.Rate / at.Seconds()
	for i := range due {
		due[i] = time.Duration(scale * float64(due[i]))
	}
	return due
}

// gap draws the time between two arrivals of a Poisson process.
func gap(r *workload.Random, rate float64) time.Duration {
	return time.Duration(math.Round(-workload.Ln(r.Unit()) / rate * 1e9))
}

// count sums up the outcomes of the queries: their delays, and the time from their arrivals until
// they were sent and called.
func (d *Delays) count(took, sent, called []time.Duration) {
	var late []time.Duration
	var behind []float64
	for i, t := range took {
		if t == unsent {
			continue
		}
		d.sent++
		late = append(late, sent[i])
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
			behind = append(behind, called[i].Seconds()*1e3)
		}
	}
	early := slices.Clone(d.Milliseconds[:(len(d.Milliseconds)+1)/2])
	slices.Sort(early)
	d.early = time.Duration(measure.Percentile(early, 50) * 1e6)
	slices.Sort(d.Milliseconds)
	slices.Sort(behind)
	d.Behind = measure.Percentile(behind, 99)
	slices.Sort(late)
	if len(late) > 0 {
		d.Late = late[len(late)-1-len(late)/1000]
	}
}

// milliseconds returns a time as a number of milliseconds.
func milliseconds(t time.Duration) float64 { return t.Seconds() * 1e3 }

// Limited tells whether the sender, or the goroutines of its queries, were late: the load then says little about the
// system. A system that leaves the sender no core is not to blame for it, because its callers could be elsewhere.
func (d *Delays) Limited() bool {
	return d.Late > drainLeast || d.Deadline > 0 && d.Late > d.Deadline/10 || d.Behind > milliseconds(drainLeast)
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
