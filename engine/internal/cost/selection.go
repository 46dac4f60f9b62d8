package cost

import (
	"fmt"
	"strings"
)

// Selection counts the work of a batch of selections on a bitmap table, by the
// compressed vectors and the stored values that the batch needs.
type Selection struct {
	Selections uint64 // predicates of the batch
	Vectors    uint64 // vectors read, each as often as a predicate names it
	Bytes      uint64 // compressed words of these vectors
	Checks     uint64 // rows whose stored value is compared, at most
	Places     uint64 // words of vectors that hold these rows: neighbouring rows share cache lines
	Rows       uint64 // rows of the bitsets that the batch returns; 0 for counts
}

// selections is the metric of models for bitmap tables. It has no name, because a Book
// does not store these models.
const selections = Metric(1<<8 - 1)

// selectionUnits names the values of the metric, after the cost of a call.
var selectionUnits = [1 + maxValues]string{"a call", "a selection", "a vector", "a byte", "a row checked", "a place of checked rows", "a row of the result"}

func (s *Selection) values() [maxValues]float64 {
	return [maxValues]float64{float64(s.Selections), float64(s.Vectors), float64(s.Bytes), float64(s.Checks), float64(s.Places), float64(s.Rows)}
}

// lengths are the sizes by which a curve corrects its estimates.
func (s *Selection) lengths() [lengths]uint64 {
	return [lengths]uint64{s.Vectors, s.Bytes, s.Checks, s.Places, s.Rows}
}

// counts are the number of selections, and whether the batch checks or returns rows.
func (s *Selection) counts() [counts]int {
	shape := 0
	if s.Checks > 0 {
		shape |= 1
	}
	if s.Rows > 0 {
		shape |= 2
	}
	return [counts]int{int(min(s.Selections, mostCount)), shape}
}

// NewSelections returns a model for batches of selections on the host or on a device. It
// starts from a guess, of the order of a core and of a graphics card. FitSelections
// replaces the guess.
func NewSelections(host bool) *Model {
	costs := [1 + maxValues]float64{5000, 1000, 300, 0.3, 3, 10, 0.02}
	if !host {
		costs = [1 + maxValues]float64{60_000, 2000, 100, 0.005, 0.02, 0.1, 0.1}
	}
	m := &Model{metric: selections}
	m.state.Store(selectionState(costs))
	return m
}

// selectionState estimates a call and the work of its selections, in nanoseconds.
func selectionState(costs [1 + maxValues]float64) *state {
	s := &state{alone: &curve{metric: selections, costs: costs}, added: &curve{metric: selections, costs: costs}}
	s.start.store(costs[0])
	s.added.costs[0] = 0
	return s
}

// FitSelections fits the model to measured batches: non-negative costs with the least
// squares of relative errors. Samples without a result change nothing.
func (m *Model) FitSelections(samples []Sample) {
	if len(samples) == 0 {
		return
	}
	rows, seconds := make([][]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		v := s.Queries[0].Selection.values()
		rows[i], seconds[i] = append([]float64{1}, v[:]...), s.Took.Seconds()
	}
	var costs [1 + maxValues]float64
	for i, c := range NonNegative(rows, seconds) {
		costs[i] = 1e9 * c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calibration = &Calibration{Samples: len(samples)}
	s := selectionState(costs)
	m.alone.know(meanError(s.alone, 0, samples))
	m.batches.know(0)
	m.state.Store(s)
}

// Relax moves the learnt corrections for f a small step back to the fitted costs. Batches
// that run elsewhere call it, so that a processor that was slow once is tried again after
// some hundred batches.
func (m *Model) Relax(f *Features) {
	const rate = 0.002
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state.Load()
	s.alone.relax(f, rate)
	s.added.relax(f, rate)
}

// Fitted tells whether the model was fitted to measurements. Otherwise it starts from a guess.
func (m *Model) Fitted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calibration != nil
}

// Copy returns a model that starts from the present estimates and learns by itself.
func (m *Model) Copy() *Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state.Load()
	d := &Model{kind: m.kind, metric: m.metric, alone: m.alone, batches: m.batches, calibration: m.calibration}
	next := &state{alone: s.alone.copy(), added: s.added.copy()}
	next.start.store(s.start.load())
	next.bring.store(s.bring.load())
	d.state.Store(next)
	return d
}

// Formula writes the linear part of a model of selections, such as
// "12.3 µs a call + 0.21 ns a byte".
func (m *Model) Formula() string {
	var parts []string
	for i, ns := range m.state.Load().alone.costs {
		switch {
		case ns >= 1000:
			parts = append(parts, fmt.Sprintf("%.1f µs %s", ns/1000, selectionUnits[i]))
		case ns > 0:
			parts = append(parts, fmt.Sprintf("%.3g ns %s", ns, selectionUnits[i]))
		}
	}
	return strings.Join(parts, " + ")
}
