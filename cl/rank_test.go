package cl

import (
	"context"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestRanks runs the cases of Store.Rank over both shapes of the kernels.
func TestRanks(t *testing.T) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) {
			plantest.RunRanks(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: small()})
		})
	}
}
