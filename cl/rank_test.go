package cl

import (
	"context"
	"slices"
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

// TestRankOverflow ranks documents whose scores ascend, so that each passes the
// threshold of those before it: more candidates come than there is room for, and the
// query runs again, where one of descending scores does not.
func TestRankOverflow(t *testing.T) {
	const docs, k = 400_000, 10
	d := testDevice(t)
	for name, shape := range shapes(d) {
		b, err := Open(t.Context(), d, Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		var up [2]uint64
		for i, ascending := range []bool{false, true} {
			src := &plan.Source{Docs: docs, Impacts: 16}
			list, impacts := make([]uint32, docs), make([]uint32, docs)
			var want []uint32
			for d := range uint32(docs) {
				list[d], impacts[d] = d, 1+(docs-1-d)/8
				if ascending {
					impacts[d] = 1 + d/8
				}
			}
			for j := range uint32(k) { // eight documents share a score
				if best := docs/8 - 1 - j/8; ascending {
					want = append(want, best*8+j%8)
				} else {
					want = append(want, j)
				}
			}
			h, err := src.Append(codec.ParaPFor, list, codec.DefaultOptions())
			if err == nil {
				err = src.AppendFreqs(h, impacts, codec.DefaultOptions())
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := b.Load(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			r := plan.Ranks{K: k, Norm: plan.Norm{Impacts: 16}}
			r.Add(src, plan.Term{List: h, Weight: 1 << 31})
			var out plan.TopK
			if err := s.Rank(t.Context(), &r, &out); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out.Docs, want) {
				t.Errorf("%s, ascending %t: documents %v, want %v", name, ascending, out.Docs, want)
			}
			up[i] = out.Stats.BytesUp
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if up[1] != 2*up[0] {
			t.Errorf("%s: %d bytes uploaded for ascending scores, %d for descending ones: nothing ran again", name, up[1], up[0])
		}
	}
}
