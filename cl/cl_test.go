package cl

import (
	"context"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestSuite runs the suite of all backends over both shapes of the kernels.
func TestSuite(t *testing.T) {
	d := testDevice(t, everything)
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) {
			plantest.Run(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: small()})
		})
	}
}

// TestSelfTest opens the device as an engine does.
func TestSelfTest(t *testing.T) {
	b, err := Open(context.Background(), testDevice(t, everything), Options{})
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
