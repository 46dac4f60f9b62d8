package report

import (
	"strings"
	"testing"

	"heddle/engine/observe"
)

// TestCostReport compares the difference of two processors with the form of Table III of Wu et al.
func TestCostReport(t *testing.T) {
	r := &Costs{Index: "x.hdl", Costs: "x.hdl.cost", Kinds: []KindCosts{{Kind: "and", Differences: []DifferenceCosts{{
		Slow: "host", Fast: "a device", Queries: 100, Faster: 0.25, Saved: 0.5}}}}}
	from := 374_000.0
	g := newMetric(&observe.Regression{Metric: "uboc", Features: []string{"comparison"}, R2: 0.7002, P: 1e-9, Intercept: -0.14164, Coefficients: []float64{3.784915e-7}})
	g.From = &from
	r.Kinds[0].Differences[0].Metrics = []MetricCosts{g}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `and: milliseconds per query on host minus on a device, 100 single queries
  metric  R²      p         intercept  second is faster  coefficient
  uboc    0.7002  < 0.0001  -0.14164   from 3.74e+05     3.785e-07 per comparison
a device is faster for 25.0 % of the queries, which saves 50.0 % of the total time

written to x.hdl.cost
`
	if b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}
