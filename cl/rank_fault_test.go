package cl

import (
	"errors"
	"slices"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
)

// rankQuestion is a ranked OR of all lists of the self-test, and its answer.
func rankQuestion(t *testing.T, mode plan.Mode) (*plan.Source, *plan.RankBatch, []uint64) {
	t.Helper()
	src, lists, err := selfTestSource()
	if err != nil {
		t.Fatal(err)
	}
	src.Lengths = make([]uint32, src.Docs)
	r := &plan.RankBatch{Mode: mode, K: 100, Norm: plan.NewNorm(0.9, 0.4, 500)}
	freqs := make([][]uint32, len(lists))
	var terms []plan.Term
	for h, l := range lists {
		for i := range l {
			freqs[h] = append(freqs[h], 1+uint32(i*i)%5)
		}
		if err := src.AppendFreqs(plan.Handle(h), freqs[h], codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		terms = append(terms, plan.Term{List: plan.Handle(h), Weight: 1 << 27})
	}
	for d := range src.Lengths {
		src.Lengths[d] = uint32(d % 900)
	}
	r.Add(src, terms...)
	return src, r, plainRank(src, lists, freqs, r, r.Query(0))
}

// TestRankFaults fails every step that ranking takes, once: the error says so,
// nothing stays reserved, and the next batch is answered.
func TestRankFaults(t *testing.T) {
	src, r, want := rankQuestion(t, plan.Or)
	for _, c := range []struct {
		step         string
		accumulators plan.Accumulators
	}{{"allocate", 0}, {"build", 0}, {"upload", 0}, {"enqueue", 0}, {"wait", 0},
		{"allocate", plan.GlobalAccumulators}, {"build", plan.GlobalAccumulators}} {
		step := c.step
		r.Accumulators = c.accumulators
		for n := 1; n <= 20; n++ {
			b, faults := openFaulty(t, testDevice(t).Tuning())
			s, err := b.Load(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			var out plan.TopK
			faults.arm(step, n, ocl.ErrOutOfHostMemory)
			err = s.Rank(t.Context(), r, &out)
			met := faults.count(step) >= n
			var failed *plan.DeviceError
			if met && !errors.As(err, &failed) || !met && err != nil {
				t.Errorf("%s %d, met %t: %v", step, n, met, err)
			}
			faults.arm("", 0, nil)
			if err := s.Rank(t.Context(), r, &out); err != nil || !slices.Equal(keysOf(&out, 0), want) {
				t.Errorf("after %s %d: %d documents, or others, want %d: %v", step, n, len(out.Docs), len(want), err)
			}
			if memory := s.Memory(); memory != inUse(b) {
				t.Errorf("after %s %d: memory of %d bytes, %d are reserved", step, n, memory, inUse(b))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if n := inUse(b); n != 0 {
				t.Errorf("%d bytes are still reserved", n)
			}
			if !met {
				if n == 1 {
					t.Errorf("%s is no step of ranking", step)
				}
				break
			}
		}
	}
}

// TestRankMemory gives less memory than ranking takes: the error says so, and
// conjunctions go on.
func TestRankMemory(t *testing.T) {
	src, r, _ := rankQuestion(t, plan.And)
	d := testDevice(t)
	tuning := d.Tuning()
	tuning.RoundTiles, tuning.Slots = 8, 1
	b, err := Open(t.Context(), d, Options{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: 9 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out plan.TopK
	if err := s.Rank(t.Context(), r, &out); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("in 9 MiB: %v", err)
	}
	var q plan.MatchBatch
	q.Add(src, 0, 1)
	if err := s.Match(t.Context(), &q, new(plan.Results)); err != nil {
		t.Error(err)
	}
}
