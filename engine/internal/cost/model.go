package cost

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Model predicts the run time of queries of one kind on one backend from their Features, and
// learns from measured times. It is safe for concurrent use. Estimates neither lock nor
// allocate.
type Model struct {
	kind   Kind
	metric Metric // may be Best
	state  atomic.Pointer[state]

	mu             sync.Mutex // held while the model learns
	alone, batches filter
	calibration    *Calibration // nil before Fit
	learnt         uint64       // number of runs that the model learnt from
}

// state holds the parameters of estimates, in nanoseconds.
type state struct {
	alone, added *curve
	start        atomicFloat // fixed cost of a batch
	bring        atomicFloat // cost of loading a missing byte
}

// Alone is the time of a query that runs by itself, loading of missing lists included.
func (m *Model) Alone(f *Features) time.Duration {
	s := m.state.Load()
	return s.with(s.alone.time(f), f)
}

// Added is the time that a query adds to a batch.
func (m *Model) Added(f *Features) time.Duration {
	s := m.state.Load()
	return s.with(s.added.time(f), f)
}

// Times returns Alone and Added, which have a part in common.
func (m *Model) Times(f *Features) (alone, added time.Duration) {
	s := m.state.Load()
	at := s.alone.places(f)
	return s.with(s.alone.timeAt(f, &at), f), s.with(s.added.timeAt(f, &at), f)
}

// with adds the time to load missing lists, and rounds up.
func (s *state) with(ns float64, f *Features) time.Duration {
	if f.Missing > 0 {
		ns += float64(f.Missing) * s.bring.load()
	}
	return time.Duration(min(ns, 1e18)) + 1
}

// Start is the fixed time of a batch, beside the additions of its queries.
func (m *Model) Start() time.Duration { return time.Duration(m.state.Load().start.load()) }

// Learn corrects the estimates by the time of a query outside a batch. alone tells that no
// other query ran at the same time. Otherwise the time is inflated, and only a model without
// calibration learns from it.
func (m *Model) Learn(f *Features, took time.Duration, alone bool) {
	if took <= 0 {
		return
	}
	if !m.mu.TryLock() { // one run of many at the same time is enough
		return
	}
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

// LearnBatch corrects the estimates by the time of a batch. added is the sum of Added over
// its queries.
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

// split returns the changes of the logarithms of two times that change the logarithm of their
// sum by step, in proportion to the times.
func split(step, x, y float64) (float64, float64) {
	x, y = x/(x+y), y/(x+y)
	length := x*x + y*y
	return step * x / length, step * y / length
}

// newModel returns a model without calibration.
func newModel(backend string, k Kind, m Metric) *Model {
	model := &Model{kind: k, metric: m}
	model.state.Store(guess(backend == Host, k, m))
	return model
}

// Host is the name of the backend in pure Go.
const Host = "host"

// guess returns initial estimates for an uncalibrated backend, of the order of a core and of
// a graphics card.
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
	default: // every docID is read
		c.costs = [1 + maxValues]float64{1000, 1, 0, 1, 2000}
	}
	if !host {
		for i := range c.costs {
			c.costs[i] /= 50
		}
	}
	return c
}
