package cost

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// machine simulates queries and their run times.
type machine struct {
	r *rand.Rand
	// Nanoseconds of the start of a query, of a docID of the shortest list, and of a docID of
	// any list.
	start, shortest, sum float64
	noise                float64 // standard deviation of the logarithm
}

func newMachine(host bool) *machine {
	m := &machine{rand.New(rand.NewPCG(1, 7)), 1500, 3, 0.01, 0.1}
	if !host {
		m.start, m.shortest, m.sum = 40_000, 0.05, 0.002
	}
	return m
}

// query of 1 to 6 lists whose lengths spread over five orders of magnitude.
func (m *machine) query() Features {
	f := Features{Terms: 1 + m.r.IntN(6), Shortest: math.MaxUint64}
	logs := 0.0
	for range f.Terms {
		n := uint64(math.Exp2(17 * m.r.Float64()))
		logs += math.Log2(float64(n))
		f.Sum += n
		switch {
		case n < f.Shortest:
			f.Shortest, f.Second = n, f.Shortest
		case n < f.Second:
			f.Second = n
		}
	}
	if f.Terms == 1 {
		f.Second = 0
	}
	f.Sparse = f.Sum
	f.UBOC = float64(f.Shortest) * (logs - math.Log2(float64(f.Shortest)))
	return f
}

// added is the addition of a query to a batch in nanoseconds, without noise. Lists above
// 16 Ki leave the cache, and queries of three or more lists use another algorithm.
func (m *machine) added(f *Features) float64 {
	t := m.shortest*float64(f.Shortest) + m.sum*float64(f.Sum) + m.start/10
	if f.Shortest > 16<<10 {
		t *= 2
	}
	if f.Terms >= 3 {
		t *= 0.6
	}
	return t
}

func (m *machine) alone(f *Features) float64 { return m.start + m.added(f) }

// took adds noise to a time.
func (m *machine) took(ns float64) time.Duration {
	return time.Duration(ns * math.Exp(m.noise*m.r.NormFloat64()))
}

// samples of queries alone, and batches of up to 30.
func (m *machine) samples(alone, batches int) (a, b []Sample) {
	for range alone {
		f := m.query()
		a = append(a, Sample{[]Features{f}, m.took(m.alone(&f))})
	}
	for range batches {
		s, ns := Sample{}, m.start
		for range 1 + m.r.IntN(30) {
			f := m.query()
			ns += m.added(&f)
			s.Queries = append(s.Queries, f)
		}
		s.Took = m.took(ns)
		b = append(b, s)
	}
	return a, b
}

// calibrated gives a model of one's own that was fitted to the machine, on the host or not.
func calibrated(t testing.TB, host bool) *Model {
	t.Helper()
	book := NewBook(1, Best)
	if err := book.read(calibrations[host]()); err != nil {
		t.Fatal(err)
	}
	return book.Model(Host, And)
}

var calibrations = map[bool]func() []byte{true: calibration(true), false: calibration(false)}

func calibration(host bool) func() []byte {
	return sync.OnceValue(func() []byte {
		book := NewBook(1, Best)
		if _, err := book.Model(Host, And).Fit(newMachine(host).samples(300, 45)); err != nil {
			panic(err)
		}
		data, err := book.marshal()
		if err != nil {
			panic(err)
		}
		return data
	})
}

// off is the mean relative error of a model, if all times change by factor.
func (m *machine) off(model *Model, factor float64) (e float64) {
	const n = 100
	for range n {
		f := m.query()
		want := factor * m.alone(&f)
		e += math.Abs(float64(model.Alone(&f))-want) / want / n
	}
	return e
}
