package cost

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// fixed is a fitted model of selections with known costs in nanoseconds.
func fixed(costs ...float64) *Model {
	var all [1 + maxValues]float64
	copy(all[:], costs)
	m := NewSelections(true)
	m.calibration = &Calibration{}
	m.alone.know(0.1)
	m.state.Store(selectionState(all))
	return m
}

func selectionOf(s Selection) *Features { return &Features{Selection: s} }

// TestSelectionChoice compares two processors by their models. A processor that takes ten
// times its estimate is left after a few batches and tried again after some hundred. One
// slow batch changes little.
func TestSelectionChoice(t *testing.T) {
	f := selectionOf(Selection{Selections: 1, Vectors: 3, Bytes: 5000})
	device, host := fixed(30_000), fixed(10_000)
	onHost := func(f *Features) bool { return host.Alone(f) <= device.Alone(f) }
	if !onHost(f) {
		t.Fatal("the host is estimated to be faster")
	}
	learn := func(m, other *Model, took time.Duration) {
		m.Learn(f, took, true)
		other.Relax(f)
	}
	learn(host, device, time.Second)
	if !onHost(f) {
		t.Error("one slow batch changes the choice")
	}
	n := 0
	for ; onHost(f) && n < 100; n++ {
		learn(host, device, 100*time.Microsecond)
	}
	if n == 0 || n > 10 {
		t.Errorf("left after %d batches", n)
	}
	if large := selectionOf(Selection{Selections: 8, Vectors: 300, Bytes: 1e6}); !onHost(large) {
		t.Errorf("batches of other sizes are estimated at %v and %v", device.Alone(large), host.Alone(large))
	}
	for n = 0; !onHost(f) && n < 10_000; n++ {
		learn(device, host, 30*time.Microsecond)
	}
	if n < 20 || n > 1000 {
		t.Errorf("tried again after %d batches", n)
	}
	for range 50 {
		learn(host, device, 10*time.Microsecond)
	}
	if took := host.Alone(f); took < 9*time.Microsecond || took > 12*time.Microsecond {
		t.Errorf("the host takes 10µs and is estimated at %v", took)
	}
}

// TestFitSelections finds the costs that times were made from, by fitting and by learning.
func TestFitSelections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() *Features {
		size := func(most float64) uint64 { return uint64(math.Exp2(r.Float64() * math.Log2(most))) }
		s := Selection{Selections: 1 + r.Uint64N(8), Vectors: size(100), Bytes: size(1e7)}
		if r.IntN(2) == 0 {
			s.Checks = size(1e5)
			s.Places = min(s.Checks, size(1e4))
		}
		if r.IntN(2) == 0 {
			s.Rows = 1e6 * s.Selections
		}
		return selectionOf(s)
	}
	for _, costs := range [][]float64{
		{20e3, 0, 1000, 0.2},
		{60e3, 0, 0, 1e-3, 1, 0, 0.1},
		{1000, 30e3, 0, 1},
	} {
		real, fitted, learnt := fixed(costs...), NewSelections(true), NewSelections(true)
		var seen []Sample
		for range 15 {
			f := draw()
			seen = append(seen, Sample{[]Features{*f}, real.Alone(f)})
		}
		if fitted.Fitted() {
			t.Error("a guess counts as fitted")
		}
		fitted.FitSelections(seen)
		if !fitted.Fitted() {
			t.Error("fitted, and does not know")
		}
		for range 3000 {
			f := draw()
			learnt.Learn(f, real.Alone(f), true)
		}
		off := 0.0
		for range 200 {
			f := draw()
			want := float64(real.Alone(f))
			if r := float64(fitted.Alone(f)) / want; math.Abs(r-1) > 0.02 {
				t.Errorf("%v: %+v is estimated at %.2f of its time: %s", costs, f.Selection, r, fitted.Formula())
			}
			if r := float64(fitted.Start()+fitted.Added(f)) / want; math.Abs(r-1) > 0.02 {
				t.Errorf("%v: %+v as a batch is estimated at %.2f of its time", costs, f.Selection, r)
			}
			off += math.Abs(float64(learnt.Alone(f))/want-1) / 200
		}
		if off > 0.5 {
			t.Errorf("%v: after 3000 batches estimates are off by %.2f", costs, off)
		}
	}
	none := NewSelections(false)
	before := none.Formula()
	none.FitSelections(nil)
	if none.Fitted() || none.Formula() != before {
		t.Errorf("%s from nothing", none.Formula())
	}
	if got := fixed(12.34e3, 0, 0, 0.21).Formula(); got != "12.3 µs a call + 0.21 ns a byte" {
		t.Error(got)
	}
}

// TestCopyLearnsAlone has a copy start from the learnt estimates and go its own way.
func TestCopyLearnsAlone(t *testing.T) {
	f := selectionOf(Selection{Selections: 1, Vectors: 3, Bytes: 5000})
	m := fixed(10_000)
	m.Learn(f, 15*time.Microsecond, true)
	c, was := m.Copy(), m.Alone(f)
	if c.Alone(f) != was || was == 10*time.Microsecond {
		t.Errorf("the copy estimates %v, the original %v", c.Alone(f), was)
	}
	for range 20 {
		c.Learn(f, time.Millisecond, true)
	}
	if m.Alone(f) != was || c.Alone(f) < 2*was {
		t.Errorf("the copy learnt %v, the original is at %v", c.Alone(f), m.Alone(f))
	}
	if n := testing.AllocsPerRun(100, func() { m.Alone(f); m.Learn(f, was, true); m.Relax(f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
