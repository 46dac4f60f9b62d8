package cl

import (
	"context"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
)

// TestSuite runs the suite of all backends over both shapes of the kernels.
func TestSuite(t *testing.T) {
	d := devicetest.Find(t, everything)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			open := func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			opt := plantest.Options{Small: devicetest.Small(), Ranked: largestRanked(d, shape)}
			matchtest.Run(t, open, opt)
			ranktest.Run(t, open, opt)
		})
	}
}

// TestSelfTest opens the device as an engine does.
func TestSelfTest(t *testing.T) {
	b, err := Open(context.Background(), devicetest.Find(t, everything), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != plan.ErrClosed {
		t.Fatalf("second Close: %v", err)
	}
}
