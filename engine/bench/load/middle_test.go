package load

import (
	"slices"
	"testing"

	"heddle/engine/bench/measure"
)

// TestMiddle: loads without a figure count as larger than all the rest.
func TestMiddle(t *testing.T) {
	p99 := func(d *Delays) (float64, bool) { return d.Percentile(99) }
	good := func(ms float64) *Delays { return &Delays{Loop: Loop{Queries: 1}, sent: 1, Milliseconds: []float64{ms}} }
	bad := &Delays{Loop: Loop{Queries: 100}, sent: 100, Milliseconds: slices.Repeat([]float64{1}, 98)}
	for _, test := range []struct {
		loads []*Delays
		want  measure.Summary
		ok    bool
	}{
		{[]*Delays{good(3), good(1), good(2)}, measure.Summary{Median: 2, Min: 1, Max: 3, Runs: 3}, true},
		{[]*Delays{good(3), bad, good(2)}, measure.Summary{Median: 3, Min: 2, Max: 3, Runs: 2}, true},
		{[]*Delays{bad, bad, good(2)}, measure.Summary{}, false},
		{nil, measure.Summary{}, false},
	} {
		if got, ok := Middle(test.loads, p99); ok != test.ok || ok && got != test.want {
			t.Errorf("%v: %+v, %t", test.loads, got, ok)
		}
	}
}
