package cl

import (
	"context"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestTables runs the suite of tables over both shapes of the kernels.
func TestTables(t *testing.T) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		t.Run(name, func(t *testing.T) {
			plantest.RunTables(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: small(), Corrupt: true})
		})
	}
}

// TestTableSelfTest runs the self-test of tables over both shapes.
func TestTableSelfTest(t *testing.T) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		b, err := Open(t.Context(), d, Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, word := range []int{32, 64} {
			for _, strategy := range tableStrategies {
				if err := b.selfTestTables(t.Context(), tableTest{word, strategy}); err != nil {
					t.Errorf("%s, words of %d bits, %v: %v", name, word, strategy, err)
				}
			}
		}
		if n := inUse(b); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}
