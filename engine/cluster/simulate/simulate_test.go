package simulate

import (
	"math"
	"slices"
	"testing"

	"heddle/engine/cluster/capacity"
)

// TestModel compares the formulas of package capacity with 1,000 shards in virtual time: at low and
// high load, with calls that are delayed, with and without second requests.
func TestModel(t *testing.T) {
	base := capacity.Call{Service: 0.002, Sigma: 0.4, Cores: 8, Load: 0.3, Copies: 2, Network: 0.0002}
	for name, c := range map[string]struct {
		change func(*capacity.Call)
		second bool
	}{
		"quiet":                  {func(*capacity.Call) {}, false},
		"busy":                   {func(c *capacity.Call) { c.Load = 0.8 }, false},
		"one copy":               {func(c *capacity.Call) { c.Copies, c.Load = 1, 0.5 }, false},
		"slow calls":             {func(c *capacity.Call) { c.Slow, c.Delay = 0.001, 0.1 }, false},
		"slow calls, second":     {func(c *capacity.Call) { c.Slow, c.Delay = 0.001, 0.1 }, true},
		"more slow, busy,second": {func(c *capacity.Call) { c.Slow, c.Delay, c.Load = 0.003, 0.1, 0.5 }, true},
	} {
		call := base
		c.change(&call)
		one := call.Latency()
		o := Options{Call: call, Shards: 1000, Queries: 200, Seed: 7}
		if c.second {
			o.Second = one.Quantile(1 - capacity.MaxSecond)
			call.Load *= 1 + capacity.MaxSecond
			one = call.Latency().Second(o.Second)
		}
		r, all := Run(o), one.All(o.Shards)
		if len(r.Times) != o.Queries || !slices.IsSorted(r.Times) {
			t.Fatalf("%s: %d queries have an answer", name, len(r.Times))
		}
		for _, share := range []float64{0.5, 0.9} {
			got, want := all.Quantile(share), r.Quantile(share)
			t.Logf("%s: %.0f %% of queries within %.2f ms by the model, %.2f ms simulated, second requests %.1f %%", name, 100*share, 1e3*got, 1e3*want, 100*r.Second)
			if math.Abs(got-want) > 0.15*want {
				t.Errorf("%s: %.0f %% of queries within %.2f ms by the model, %.2f ms simulated", name, 100*share, 1e3*got, 1e3*want)
			}
		}
		if r.Second > 1.2*capacity.MaxSecond || c.second && r.Second == 0 {
			t.Errorf("%s: %.1f %% of calls have a second request", name, 100*r.Second)
		}
	}
}

// TestRun: the same seed gives the same run, and a quiet machine answers in the time of its work.
func TestRun(t *testing.T) {
	o := Options{Call: capacity.Call{Service: 0.01, Cores: 4, Load: 0.01, Copies: 1, Network: 0.001}, Shards: 3, Queries: 100, Seed: 1}
	a, b := Run(o), Run(o)
	if !slices.Equal(a.Times, b.Times) {
		t.Error("two runs differ")
	}
	if got := a.Quantile(0.5); math.Abs(got-0.011) > 1e-9 {
		t.Errorf("half of the queries within %v s, want 0.011", got)
	}
}
