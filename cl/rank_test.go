package cl

import (
	"context"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestRanksInLittleScratch runs the cases of Store.Rank over both shapes of the kernels
// where a round is few queries, or a window of few ranges of one, and candidates are
// as few as can be. TestSuite has them with as much scratch as a slot gets.
func TestRanksInLittleScratch(t *testing.T) {
	d := *testDevice(t)
	d.info.Memory = 1 << 16
	for name, shape := range shapes(&d) {
		t.Run(name, func(t *testing.T) {
			plantest.RunRanks(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), &d, Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: 1 << 32})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: true, Corrupt: true, Codecs: []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset, codec.RPFD, codec.HSLRC128}})
		})
	}
}

// TestRankSelfTest runs the self-test of ranking over both shapes.
func TestRankSelfTest(t *testing.T) {
	d := testDevice(t)
	for name, shape := range shapes(d) {
		b, err := Open(t.Context(), d, Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := b.selfTestRanks(t.Context(), plan.RangeAccumulators); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := inUse(b); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}
