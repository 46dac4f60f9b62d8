package pool

import "testing"

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
