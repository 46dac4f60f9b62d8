package cost

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// Generators of noise: the factor of the time of run i of many.
var generators = map[string]func(r *rand.Rand, i int) float64{
	"steady": func(*rand.Rand, int) float64 { return 1 },
	"drift":  func(_ *rand.Rand, i int) float64 { return 1 + float64(i)/1000 },
	"step": func(_ *rand.Rand, i int) float64 {
		if i < 1000 {
			return 1
		}
		return 5
	},
	"outliers 1 in 50": func(r *rand.Rand, _ int) float64 {
		if r.IntN(50) == 0 {
			return 100
		}
		return 1
	},
	// Pareto with an infinite variance, of median 1.
	"heavy tail": func(r *rand.Rand, _ int) float64 { return math.Pow(2*(1-r.Float64()), -1/1.5) },
}

// TestLearn lets a calibrated model and a guess follow times that change, with outliers.
func TestLearn(t *testing.T) {
	truth := map[string]float64{"steady": 1, "drift": 3, "step": 5, "outliers 1 in 50": 1, "heavy tail": 1}
	for name, factor := range generators {
		for _, start := range []string{"calibrated", "guess"} {
			t.Run(name+", "+start, func(t *testing.T) {
				m := newMachine(true)
				model := NewBook(1, Best).Model(Host, And)
				if start == "calibrated" {
					model = calibrated(t, true)
				}
				worst := 0.0
				for i := range 2000 {
					f := m.query()
					model.Learn(&f, m.took(m.alone(&f)*factor(m.r, i)), true)
					if name != "drift" && name != "step" && i%100 == 99 && (start == "calibrated" || i > 500) {
						worst = max(worst, m.off(model, 1))
					}
				}
				most := 0.1
				if name == "heavy tail" { // where the median is not the mean of the logarithm
					most = 0.35
				}
				if e := m.off(model, truth[name]); e > most || worst > 2*most {
					t.Errorf("mean relative error %.3f, at worst %.3f on the way", e, worst)
				}
			})
		}
	}
}

// TestLearnStep multiplies all times by five or by a fifth: the model follows within a few
// dozen runs.
func TestLearnStep(t *testing.T) {
	for _, factor := range []float64{5, 0.2} {
		m := newMachine(true)
		model := calibrated(t, true)
		n := 0
		for ; n < 1000 && (n%10 > 0 || m.off(model, factor) > 0.3); n++ {
			f := m.query()
			model.Learn(&f, m.took(factor*m.alone(&f)), true)
		}
		if n > 80 {
			t.Errorf("times %v: %d runs", factor, n)
		}
	}
}

// TestLearnConcurrent has queries run at the same time: a guess learns from their times, a
// calibrated model does not.
func TestLearnConcurrent(t *testing.T) {
	m := newMachine(true)
	fitted, guessed := calibrated(t, true), NewBook(1, Best).Model(Host, And)
	f := m.query()
	right, guess := fitted.Alone(&f), guessed.Alone(&f)
	for range 100 {
		fitted.Learn(&f, 10*right, false)
		guessed.Learn(&f, 10*guess, false)
	}
	if got := fitted.Alone(&f); got != right {
		t.Errorf("calibrated: %v became %v", right, got)
	}
	if got := guessed.Alone(&f); got < 5*guess {
		t.Errorf("a guess: %v became %v", guess, got)
	}
}

// TestLearnOne has one run take a hundred thousand times as long: estimates change by less
// than a tenth. A thousand such runs leave them finite and positive.
func TestLearnOne(t *testing.T) {
	m := newMachine(true)
	model := calibrated(t, true)
	f := m.query()
	before := float64(model.Alone(&f))
	model.Learn(&f, time.Duration(1e5*before), true)
	if after := float64(model.Alone(&f)); after > 1.1*before {
		t.Errorf("%v became %v", before, after)
	}
	for _, took := range []time.Duration{math.MaxInt64, 1, 0, -1} {
		for range 1000 {
			model.Learn(&f, took, true)
			model.LearnBatch(1000, took)
		}
		for _, f := range []Features{f, {}, {Terms: math.MaxInt, Dense: math.MaxInt, Shortest: math.MaxInt64, Second: math.MaxInt64, Sum: math.MaxInt64, Missing: math.MaxInt64, UBOC: math.MaxFloat64, Common: math.MaxFloat64}} {
			if a, b := model.Alone(&f), model.Added(&f); a <= 0 || b <= 0 || model.Start() < 0 {
				t.Errorf("after runs of %v: %v alone, %v added, %v the start of a batch", took, a, b, model.Start())
			}
		}
	}
}

// TestLearnBatch separates the fixed cost of a batch from the additions of its queries, by
// batches of different sizes.
func TestLearnBatch(t *testing.T) {
	for _, host := range []bool{true, false} {
		m := newMachine(host)
		model := calibrated(t, host)
		_, batches := m.samples(0, 400)
		estimate := func(s Sample) (added time.Duration) {
			for i := range s.Queries {
				added += model.Added(&s.Queries[i])
			}
			return added
		}
		off := func(factor float64) (e float64) {
			for _, s := range batches[:100] {
				want := factor * float64(s.Took)
				e += math.Abs(float64(estimate(s)+model.Start())-want) / want / 100
			}
			return e
		}
		if e := off(1); e > 0.15 {
			t.Errorf("host %v: mean relative error %.3f after calibration", host, e)
		}
		for _, s := range batches[100:] {
			model.LearnBatch(estimate(s), 3*s.Took)
		}
		if e := off(3); e > 0.2 {
			t.Errorf("host %v: mean relative error %.3f when all take three times as long", host, e)
		}
	}
}

// TestMissing learns the cost of loading lists from queries that miss some; other estimates
// stay.
func TestMissing(t *testing.T) {
	m := newMachine(false)
	model := calibrated(t, false)
	for _, perByte := range []float64{1, 0.1} {
		for range 1000 {
			f := m.query()
			if m.r.IntN(2) == 0 {
				f.Missing = 4 * f.Sum
			}
			model.Learn(&f, m.took(m.alone(&f)+perByte*float64(f.Missing)), true)
		}
		f := m.query()
		f.Missing = 10 << 20
		if got, want := float64(model.Alone(&f)), m.alone(&f)+perByte*float64(f.Missing); !near(got, want, 0.3) {
			t.Errorf("%v ns a byte: 10 MiB missing take %v, want %v", perByte, time.Duration(got), time.Duration(want))
		}
		if a, b := model.Alone(&f), model.Added(&f); b > a {
			t.Errorf("%v alone, %v in a batch", a, b)
		}
		if e := m.off(model, 1); e > 0.25 {
			t.Errorf("%v ns a byte: mean relative error of queries that miss nothing %.3f", perByte, e)
		}
	}
}

// TestConcurrent has many goroutines estimate, learn, fit and save at the same time.
func TestConcurrent(t *testing.T) {
	m := newMachine(true)
	alone, batches := m.samples(50, 20)
	book := NewBook(1, Best)
	path := t.TempDir() + "/x.hdl.cost"
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			model := book.Model(Host, And)
			for i := range 200 {
				s := &alone[(i+g)%len(alone)]
				model.Learn(&s.Queries[0], s.Took, true)
				model.LearnBatch(model.Added(&s.Queries[0]), s.Took)
				if model.Alone(&s.Queries[0]) <= 0 || model.Start() < 0 {
					t.Error("a time below zero")
				}
				book.Changed()
			}
			if _, err := model.Fit(alone, batches); err != nil {
				t.Error(err)
			}
			if err := book.Save(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := Load(path, 1, Best); err != nil {
		t.Error(err)
	}
	and, again := book.Model(Host, And), book.Model(Host, And)
	if and != again || and == book.Model(Host, Count) {
		t.Error("models are not by backend and kind")
	}
}

// TestNoMemory allows estimates and learning no allocation.
func TestNoMemory(t *testing.T) {
	m := newMachine(true)
	model, f := NewBook(1, Best).Model(Host, And), m.query()
	if n := testing.AllocsPerRun(100, func() {
		model.Learn(&f, model.Alone(&f), true)
		model.LearnBatch(model.Added(&f), model.Start())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestGuess checks guesses: the time grows with the number of docIDs, and a device has the
// greater fixed cost.
func TestGuess(t *testing.T) {
	for _, metric := range append(Metrics(), Best) {
		for _, k := range Kinds() {
			b := NewBook(1, metric)
			host, device := b.Model(Host, k), b.Model("H200", k)
			small := Features{Terms: 2, Shortest: 10, Second: 10, Sum: 20, UBOC: 33}
			large := Features{Terms: 2, Shortest: 1 << 20, Second: 1 << 20, Sum: 1 << 21, UBOC: 20 << 20}
			if host.Alone(&small) >= host.Alone(&large) || device.Alone(&small) >= device.Alone(&large) && metric != UBOCT {
				t.Errorf("%v, %v: more takes less", metric, k)
			}
			if host.Alone(&small) >= device.Alone(&small) || host.Start() >= device.Start() || host.Added(&large) <= device.Added(&large) {
				t.Errorf("%v, %v: a device is not as devices are", metric, k)
			}
		}
	}
}

func BenchmarkModel(b *testing.B) {
	m := newMachine(true)
	model := calibrated(b, true)
	f := m.query()
	took := model.Alone(&f)
	for name, do := range map[string]func(){
		"alone": func() { took = model.Alone(&f) },
		"added": func() { model.Added(&f) },
		"learn": func() { model.Learn(&f, took, true) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}
