package cl

import (
	"context"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestFormulas runs the cases of Store.Evaluate over both shapes of the kernels,
// with as much scratch as a slot gets and with so little that a round is one
// range of one formula.
func TestFormulas(t *testing.T) {
	d := testDevice(t)
	lean := *d
	lean.info.Memory = 1 << 16
	for name, shape := range shapes(d) {
		for scratch, d := range map[string]*Device{"": d, ", little scratch": &lean} {
			t.Run(name+scratch, func(t *testing.T) {
				plantest.RunFormulas(t, func(t *testing.T) plan.Backend {
					b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: 1 << 32})
					if err != nil {
						t.Fatal(err)
					}
					return b
				}, plantest.Options{Small: small() || d == &lean, Corrupt: true})
			})
		}
	}
}
