// Package simulate runs a cluster in virtual time: queries that call every shard, machines with
// queues, calls that are delayed, and second requests. It checks the formulas of package capacity,
// with which it shares the description of a call and no formula.
package simulate

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"heddle/engine/cluster/capacity"
)

// Options describe a run.
type Options struct {
	capacity.Call
	Shards  int
	Queries int     // measured; a tenth more come before
	Second  float64 // time until a second request, in seconds; 0 is none
	Seed    uint64
}

// Result is the outcome of a run.
type Result struct {
	Times  []float64 // latency of each query, in seconds, ascending
	Second float64   // share of calls with a second request
}

// Quantile is the time within which a share of the queries ended, in seconds.
func (r *Result) Quantile(share float64) float64 {
	return r.Times[min(int(share*float64(len(r.Times))), len(r.Times)-1)]
}

// kind is the kind of an event.
type kind uint8

const (
	arrive kind = iota // a call arrives at a machine
	finish             // a core finishes a call
	answer             // the answer of a call arrives at the coordinator
	second             // the time for a second request
)

// event is a change at a point of virtual time.
type event struct {
	at      float64
	kind    kind
	call    *call
	machine *machine
}

// call is the call of one query to one shard.
type call struct {
	query    *query
	shard    int
	machine  *machine
	answered bool
}

type query struct {
	start   float64
	missing int // calls
	counted bool
}

// machine has cores and a queue.
type machine struct {
	busy  int
	queue []*call
}

type cluster struct {
	Options
	random   *rand.Rand
	events   events
	machines [][]*machine // by shard
	seconds  int
	result   Result
}

// Run simulates until all queries have their answers. The same options give the same result.
func Run(o Options) *Result {
	c := &cluster{Options: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
	for range o.Shards {
		copies := make([]*machine, o.Copies)
		for i := range copies {
			copies[i] = new(machine)
		}
		c.machines = append(c.machines, copies)
	}
	rate := o.Load * float64(o.Cores*o.Copies) / o.Mean() // queries per second
	now := 0.0
	for i := range o.Queries + o.Queries/10 {
		now += c.random.ExpFloat64() / rate
		for len(c.events) > 0 && c.events[0].at < now {
			c.step()
		}
		c.start(now, i >= o.Queries/10)
	}
	for len(c.events) > 0 {
		c.step()
	}
	slices.Sort(c.result.Times)
	c.result.Second = float64(c.seconds) / float64(o.Shards*(o.Queries+o.Queries/10))
	return &c.result
}

// start sends the calls of a query.
func (c *cluster) start(now float64, counted bool) {
	q := &query{start: now, missing: c.Shards, counted: counted}
	for shard := range c.Shards {
		x := &call{query: q, shard: shard}
		copies := c.machines[shard]
		x.machine = copies[c.random.IntN(len(copies))]
		if other := copies[c.random.IntN(len(copies))]; other.work() < x.machine.work() {
			x.machine = other
		}
		c.send(now, x, x.machine)
		if c.Second > 0 && c.Copies > 1 {
			c.events.add(event{now + c.Second, second, x, nil})
		}
	}
}

func (m *machine) work() int { return m.busy + len(m.queue) }

// send takes half of a round trip, and the delay of a slow call.
func (c *cluster) send(now float64, x *call, m *machine) {
	at := now + c.Network/2
	if c.random.Float64() < c.Slow {
		at += c.Delay
	}
	c.events.add(event{at, arrive, x, m})
}

// step handles the next event.
func (c *cluster) step() {
	e := heap.Pop(&c.events).(event)
	switch e.kind {
	case arrive:
		e.machine.queue = append(e.machine.queue, e.call)
		c.serve(e.at, e.machine)
	case finish:
		e.machine.busy--
		c.events.add(event{e.at + c.Network/2, answer, e.call, e.machine})
		c.serve(e.at, e.machine)
	case answer:
		if x := e.call; !x.answered {
			x.answered = true
			if x.query.missing--; x.query.missing == 0 && x.query.counted {
				c.result.Times = append(c.result.Times, e.at-x.query.start)
			}
		}
	case second:
		if x := e.call; !x.answered {
			c.seconds++
			others := c.machines[x.shard]
			m := others[c.random.IntN(len(others))]
			for m == x.machine {
				m = others[c.random.IntN(len(others))]
			}
			c.send(e.at, x, m)
		}
	}
}

// serve gives waiting calls to free cores.
func (c *cluster) serve(now float64, m *machine) {
	for m.busy < c.Cores && len(m.queue) > 0 {
		x := m.queue[0]
		m.queue = m.queue[1:]
		m.busy++
		c.events.add(event{now + c.Service*math.Exp(c.Sigma*c.random.NormFloat64()), finish, x, m})
	}
}

// events is a heap by time.
type events []event

func (e *events) add(x event) { heap.Push(e, x) }

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}
