package engine

import (
	"testing"
	"time"
)

// TestCorrections: a backend that takes ten times its estimate is left after a few
// batches, tried again after some hundred, and one slow batch changes little.
func TestCorrections(t *testing.T) {
	w := work{workCall: 1, workSelection: 1, workVector: 3, workByte: 5000}
	c := &costs{onDevice: costModel{workCall: 30e-6}, onHost: costModel{workCall: 10e-6}}
	onHost := func() bool {
		device, host := c.estimate(&w)
		return host <= device
	}
	if !onHost() {
		t.Fatal("the host is estimated to be faster")
	}
	c.learn(&w, true, time.Second) // what is made once
	if !onHost() {
		t.Error("one slow batch changes the choice")
	}
	n := 0
	for ; onHost() && n < 100; n++ {
		c.learn(&w, true, 100*time.Microsecond)
	}
	if n == 0 || n > 10 {
		t.Errorf("left after %d batches", n)
	}
	other := w
	other[workByte] = 1e6
	if device, host := c.estimate(&other); host >= device {
		t.Errorf("batches of other sizes are estimated at %v and %v", device, host)
	}
	for n = 0; !onHost() && n < 10_000; n++ {
		c.learn(&w, false, 30*time.Microsecond)
	}
	if n < 20 || n > 1000 {
		t.Errorf("tried again after %d batches", n)
	}
	for range 50 {
		c.learn(&w, true, 10*time.Microsecond)
	}
	if _, host := c.estimate(&w); host < 9*time.Microsecond || host > 12*time.Microsecond {
		t.Errorf("the host takes 10µs and is estimated at %v", host)
	}
}
