package pool

import (
	"testing"
	"time"
)

// TestConcurrency: a run was alone if it began with nothing running, and nothing began since.
func TestConcurrency(t *testing.T) {
	var c concurrency
	a := c.enter()
	if !a.Alone() {
		t.Error("the only run was not alone")
	}
	b := c.enter()
	c.leave()
	if a.Alone() || b.Alone() {
		t.Error("one of two runs beside each other was alone")
	}
	c.leave()
	if d := c.enter(); !d.Alone() {
		t.Error("a run after others was not alone")
	}
}

// TestSampled: each long run is sampled, and about one of eight short ones at each place of a pattern of runs.
func TestSampled(t *testing.T) {
	var c concurrency
	for period := 1; period <= 100; period++ {
		seen := make([]int, period)
		for i := range period << 12 {
			r := c.enter()
			if r.Sampled(time.Microsecond) {
				seen[i%period]++
			}
			if !r.Sampled(time.Millisecond) {
				t.Fatal("a long run is not sampled")
			}
			c.leave()
		}
		for place, n := range seen {
			if n < 1<<8 || n > 1<<10 {
				t.Errorf("place %d of %d: %d of %d runs are sampled", place, period, n, 1<<12)
			}
		}
	}
}
