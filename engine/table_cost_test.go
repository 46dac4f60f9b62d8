package engine

import (
	"math"
	"testing"

	"heddle/engine/plan"
)

// TestFitCosts finds the costs that times were made from.
func TestFitCosts(t *testing.T) {
	x := openTable(t, Options{Backend: "host"})
	for _, want := range []costModel{
		{workCall: 20e-6, workVector: 1e-6, workByte: 0.2e-9},
		{workCall: 60e-6, workByte: 1e-12, workCheck: 1e-9, workRow: 1e-10},
		{workCall: 1e-6, workSelection: 30e-6, workByte: 1e-9},
	} {
		var seen []sample
		for _, s := range x.probes() {
			w := x.work(s)
			seen = append(seen, sample{w, want.time(w)})
		}
		got := fitCosts(seen)
		for _, s := range seen {
			if r := got.seconds(s.work) / want.seconds(s.work); math.Abs(r-1) > 0.02 {
				t.Errorf("%v instead of %v: %v is %.2f of what it is", got, want, s.work, r)
			}
		}
	}
	if m := fitCosts(nil); m.time(work{workCall: 1}) != 0 {
		t.Errorf("%v from nothing", m)
	}
	if got := (costModel{workCall: 12.34e-6, workByte: 0.21e-9}).String(); got != "12.3 µs a call + 0.21 ns a byte" {
		t.Error(got)
	}
}

// TestWork counts what a batch asks for.
func TestWork(t *testing.T) {
	x := openTable(t, Options{Backend: "host"})
	for text, want := range map[string]work{
		"cancelled":                {workVector: 1},
		"TRUE":                     {},
		"gate = 'G1'":              {workVector: 2},
		"at >= '2008-02-01 12:00'": {workVector: 3, workCheck: 100 * 3},
	} {
		var s plan.SelectBatch
		c, err := x.compile(text, &s)
		if err != nil {
			t.Fatal(err)
		}
		w := x.work(&s)
		if w[workVector] != want[workVector] || float64(c.plan.Vectors) != want[workVector] {
			t.Errorf("%s: %v vectors, want %v", text, w[workVector], want[workVector])
		}
		if w[workByte] != float64(x.t.VectorBytes(s.Operands)) || w[workRow] != float64(x.Rows()) || w[workCall] != 1 || w[workSelection] != 1 {
			t.Errorf("%s: %v", text, w)
		}
		// At most: the difference of two vectors may be as large as the first.
		if w[workCheck] < want[workCheck] || w[workCheck] > 0 && want[workCheck] == 0 {
			t.Errorf("%s: %v rows are checked, want %v", text, w[workCheck], want[workCheck])
		}
	}
	// The rows of every vector are known.
	for v, rows := range x.vectorRows {
		var s plan.SelectBatch
		s.Output = plan.OutputCounts
		s.Any(uint32(v))
		s.End()
		var out plan.Rows
		if err := x.Run(t.Context(), &s, &out); err != nil || float64(out.Counts[0]) != rows {
			t.Fatalf("vector %d has %d rows, not %v: %v", v, out.Counts, rows, err)
		}
	}
}
