package cost

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Model says what queries of a kind take on a backend, by their Features, and learns from
// what they took. It is safe for concurrent use; estimates take no lock and no memory.
type Model struct {
	kind   Kind
	metric Metric // that was asked for
	state  atomic.Pointer[state]

	mu             sync.Mutex // of those who learn
	alone, batches filter
	calibration    *Calibration // nil without
	learnt         uint64       // runs since the Model was made
}

// state is what estimates are made from, in nanoseconds.
type state struct {
	alone, added *curve
	start        atomicFloat // of a batch
	bring        atomicFloat // of a missing byte
}

// Alone is what a query takes that runs by itself, the bringing in of lists included.
func (m *Model) Alone(f *Features) time.Duration {
	s := m.state.Load()
	return s.with(s.alone.time(f), f)
}

// Added is what a query adds to a batch that runs anyway.
func (m *Model) Added(f *Features) time.Duration {
	s := m.state.Load()
	return s.with(s.added.time(f), f)
}

// with adds to a time what it takes to bring lists in, and rounds up.
func (s *state) with(ns float64, f *Features) time.Duration {
	if f.Missing > 0 {
		ns += float64(f.Missing) * s.bring.load()
	}
	return time.Duration(min(ns, 1e18)) + 1
}

// Start is what a batch takes beside what its queries add.
func (m *Model) Start() time.Duration { return time.Duration(m.state.Load().start.load()) }

// Learn takes note of what a query took that was no part of a batch. Where other
// queries ran beside it, which makes it slower, that is only better than a guess: a
// calibrated Model learns from those that were alone.
func (m *Model) Learn(f *Features, took time.Duration, alone bool) {
	if took <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !alone && m.calibration != nil {
		return
	}
	m.learnt++
	s := m.state.Load()
	run, brought := max(s.alone.time(f), 1), float64(f.Missing)*s.bring.load()
	step := m.alone.step(math.Log(float64(took) / (run + brought)))
	if brought == 0 {
		s.alone.move(f, step)
		return
	}
	a, b := split(step, run, brought)
	s.alone.move(f, a)
	s.bring.store(s.bring.load() * math.Exp(b))
}

// LearnBatch takes note of what a batch took whose queries should have added so much.
func (m *Model) LearnBatch(added, took time.Duration) {
	if took <= 0 || added <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.learnt++
	s := m.state.Load()
	start := max(s.start.load(), 1)
	step := m.batches.step(math.Log(float64(took) / (start + float64(added))))
	a, b := split(step, start, float64(added))
	s.start.store(start * math.Exp(a))
	s.added.scale(b)
}

// split says how the logarithms of two times are to change for that of their sum to
// change by step: each as much as it is part of it.
func split(step, x, y float64) (float64, float64) {
	x, y = x/(x+y), y/(x+y)
	length := x*x + y*y
	return step * x / length, step * y / length
}

// newModel is a model without calibration.
func newModel(backend string, k Kind, m Metric) *Model {
	model := &Model{kind: k, metric: m}
	model.state.Store(guess(backend == Host, k, m))
	return model
}

// Host is the name of the backend in pure Go.
const Host = "host"

// guess is what is taken for the costs of a backend that nobody has measured: of the
// order of what a core and a graphics card take. The rest is learnt.
func guess(host bool, k Kind, m Metric) *state {
	if m == Best {
		m = Ding
	}
	s := &state{alone: guessCurve(host, k, m), added: guessCurve(host, k, Ding)}
	s.start.store(2000)
	if !host {
		const launch = 60_000
		s.alone.costs[0] += launch
		s.start.store(launch)
	}
	s.bring.store(guessBring)
	return s
}

const guessBring = 0.1 // ns a byte, 10 GB/s

func guessCurve(host bool, k Kind, m Metric) *curve {
	c := &curve{metric: m, split: k.split()}
	switch {
	case m == LOS:
		c.costs = [1 + maxValues]float64{2000, 5}
	case m == UBOC:
		c.costs = [1 + maxValues]float64{2000, 0.2}
	case m == UBOCT:
		c.costs = [1 + maxValues]float64{2000, 200}
	case k == And, k == Count, k == RankAnd:
		c.costs = [1 + maxValues]float64{1000, 4, 0, 0, 500}
	default: // every docID is looked at
		c.costs = [1 + maxValues]float64{1000, 1, 0, 1, 2000}
	}
	if !host {
		for i := range c.costs {
			c.costs[i] /= 50
		}
	}
	return c
}
