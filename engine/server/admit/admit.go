// Package admit bounds the running requests of a server, in total and of each caller, the rate of
// queries of each caller, and the time that a query waits for the queries before it.
package admit

import (
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a gate.
type Limits struct {
	Running       int // requests at the same time
	CallerRunning int // requests of a caller at the same time; 0 is no limit
	CallerRate    int // queries of a caller in a second; 0 is no limit
}

// Refusal names the limit that a request exceeds.
type Refusal struct {
	Limit string // "concurrency", "caller_concurrency", "caller_rate" or "work"
	Max   int
	After time.Duration // until another attempt makes sense
}

// Gate counts requests and their queries. It is safe for concurrent use.
type Gate struct {
	limits  atomic.Pointer[Limits]
	running atomic.Int64

	mu      sync.Mutex
	callers map[string]*caller
	busy    int // callers with queries
	sweep   int // number of callers from which on idle callers are forgotten
	meter   meter
	now     func() time.Time
}

// caller is the account of a caller.
type caller struct {
	running, queries int
	free             time.Time // when the queries so far fit the rate
}

// Slot is the place of a running request.
type Slot struct {
	caller  *caller
	queries int
}

// New returns a gate.
func New(l Limits) *Gate {
	g := &Gate{callers: map[string]*caller{}, sweep: 1024, now: time.Now}
	g.Set(l)
	return g
}

// Set changes the limits.
func (g *Gate) Set(l Limits) { g.limits.Store(&l) }

// Running returns the number of running requests.
func (g *Gate) Running() int { return int(g.running.Load()) }

// Queries returns the number of queries of the running requests.
func (g *Gate) Queries() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.meter.queries
}

// Enter begins a request with some queries, whose answers are due after a time. Leave ends it,
// unless it is refused. A caller may exceed the rate by one request, and then waits until its
// queries fit the rate. A request is refused if the queries before it would take more than half
// of its time: it would only delay later requests.
func (g *Gate) Enter(name string, queries int, due time.Duration) (Slot, *Refusal) {
	l := g.limits.Load()
	if g.running.Add(1) > int64(l.Running) {
		g.running.Add(-1)
		return Slot{}, &Refusal{"concurrency", l.Running, time.Second}
	}
	slot, refused := g.enter(name, queries, due, l)
	if refused != nil {
		g.running.Add(-1)
	}
	return slot, refused
}

func (g *Gate) enter(name string, queries int, due time.Duration, l *Limits) (Slot, *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	c := g.callers[name]
	if c == nil {
		g.forget(now)
		c = &caller{}
		g.callers[name] = c
	}
	if l.CallerRunning > 0 && c.running >= l.CallerRunning {
		return Slot{}, &Refusal{"caller_concurrency", l.CallerRunning, time.Second}
	}
	if l.CallerRate > 0 {
		if wait := c.free.Sub(now); wait > 0 {
			return Slot{}, &Refusal{"caller_rate", l.CallerRate, wait}
		}
	}
	busy := g.busy
	if c.queries == 0 {
		busy++
	}
	// Callers share the processors evenly: few queries of one caller overtake many of another.
	if r := g.meter.refuse(now, busy*(c.queries+queries), due/2); r != nil {
		return Slot{}, r
	}
	if l.CallerRate > 0 {
		idle := now.Add(-time.Second) // a second of queries may come at once
		if c.free.Before(idle) {
			c.free = idle
		}
		c.free = c.free.Add(time.Duration(queries) * time.Second / time.Duration(l.CallerRate))
	}
	g.change(c, 1, queries)
	g.meter.enter(now, queries)
	return Slot{c, queries}, nil
}

// forget removes callers whose account is empty.
func (g *Gate) forget(now time.Time) {
	if len(g.callers) < g.sweep {
		return
	}
	for name, c := range g.callers {
		if c.running == 0 && c.free.Before(now) {
			delete(g.callers, name)
		}
	}
	g.sweep = max(1024, 2*len(g.callers))
}

// Pause takes a request with some answered queries out of the running requests, while its client reads the answers.
func (g *Gate) Pause(s *Slot, answered int) {
	g.running.Add(-1)
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.meter.leave(now, answered, true)
	g.meter.enter(now, answered-s.queries) // the rest waits for the client
	g.change(s.caller, -1, -s.queries)
	s.queries -= answered
}

// Resume continues a request after Pause. It is not refused: the request has been admitted.
func (g *Gate) Resume(s Slot) {
	g.running.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.meter.enter(g.now(), s.queries)
	g.change(s.caller, 1, s.queries)
}

// change adds requests and queries to the account of a caller.
func (g *Gate) change(c *caller, requests, queries int) {
	before := c.queries > 0
	c.running += requests
	c.queries += queries
	switch after := c.queries > 0; {
	case after && !before:
		g.busy++
	case before && !after:
		g.busy--
	}
}

// Leave ends a request. Ended reports whether its queries have answers or ran out of time. Requests
// that are wrong say nothing about the rate of the server.
func (g *Gate) Leave(s Slot, ended bool) {
	g.running.Add(-1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change(s.caller, -1, -s.queries)
	g.meter.leave(g.now(), s.queries, ended)
}
