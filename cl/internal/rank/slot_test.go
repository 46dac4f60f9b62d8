package rank

import (
	"errors"
	"slices"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// rankQuestion is a ranked OR of all lists of the self-test, and its answer.
func rankQuestion(t *testing.T, mode plan.Mode) (*plan.Source, *plan.RankBatch, []uint64) {
	t.Helper()
	src, postings, err := lists.Sample()
	if err != nil {
		t.Fatal(err)
	}
	src.Lengths = make([]uint32, src.Docs)
	r := &plan.RankBatch{Mode: mode, K: 100, Norm: plan.NewNorm(0.9, 0.4, 500)}
	freqs := make([][]uint32, len(postings))
	var terms []plan.Term
	for h, l := range postings {
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
	plain := reference.Lists{Docs: postings, Freqs: freqs, Lengths: src.Lengths}
	return src, r, KeysOfHits(plain.Rank(r)[0], r.K)
}

// TestRankFaults fails every step that ranking takes, once: the error says so,
// nothing stays reserved, and the next batch is answered.
func TestRankFaults(t *testing.T) {
	testneeds.OneCaller(t)
	src, r, want := rankQuestion(t, plan.Or)
	for _, c := range []struct {
		step         string
		accumulators plan.Accumulators
	}{{"allocate", 0}, {"build", 0}, {"upload", 0}, {"enqueue", 0}, {"wait", 0},
		{"allocate", plan.GlobalAccumulators}, {"build", plan.GlobalAccumulators}} {
		step := c.step
		r.Accumulators = c.accumulators
		b, faults := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
		for n := 1; n <= 20; n++ {
			if step == "build" && n > 1 { // programs stay when they are built
				b, faults = devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning())
			}
			s, err := load(b, src)
			if err != nil {
				t.Fatal(err)
			}
			var out plan.TopK
			faults.Arm(step, n, ocl.ErrOutOfHostMemory)
			err = s.Rank(t.Context(), r, &out)
			met := faults.Count(step) >= n
			if step != "allocate" || err != nil || !slices.Equal(KeysOf(&out, 0), want) { // else without packets of postings
				met = faults.Met(t, step, n, err)
			}
			faults.Disarm()
			if err := s.Rank(t.Context(), r, &out); err != nil || !slices.Equal(KeysOf(&out, 0), want) {
				t.Errorf("after %s %d: %d documents, or others, want %d: %v", step, n, len(out.Docs), len(want), err)
			}
			if memory := s.set.Total(); memory != b.Memory.InUse() {
				t.Errorf("after %s %d: memory of %d bytes, %d are reserved", step, n, memory, b.Memory.InUse())
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if n := b.Memory.InUse(); n != 0 {
				t.Errorf("%d bytes are still reserved", n)
			}
			if !met {
				break
			}
		}
	}
}

// TestRankMemory gives less memory than ranking takes: the error says so, and a second
// batch gets the same error.
func TestRankMemory(t *testing.T) {
	src, r, _ := rankQuestion(t, plan.And)
	d := devicetest.Find(t, ops)
	tuning := d.Tuning()
	tuning.RoundTiles, tuning.Slots = 8, 1
	b, err := device.Open(t.Context(), d, device.Options{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := load(b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var out plan.TopK
	if err := s.Rank(t.Context(), r, &out); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("in 4 MiB: %v", err)
	}
	if err := s.Rank(t.Context(), r, &out); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("again in 4 MiB: %v", err)
	}
}

// TestRankShortage makes a slot do with less: it has its own shape again once it
// is given back. Accumulators of all documents may take the memory of the slot, and fail at
// once if the memory is in use elsewhere.
func TestRankShortage(t *testing.T) {
	testneeds.OneCaller(t)
	src, r, want := rankQuestion(t, plan.Or)
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, ops), devicetest.FewTiles(devicetest.Find(t, ops)))
	s, err := load(b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	slot := func() *slot {
		x, err := s.free.Take(t.Context(), s.set.Closing, s.newSlot)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rank := func(a plan.Accumulators) error {
		var out plan.TopK
		r.Accumulators = a
		err := s.run(t.Context(), r, &out)
		if err == nil && !slices.Equal(KeysOf(&out, 0), want) {
			t.Errorf("accumulators %v: %d documents, or others, want %d", a, len(out.Docs), len(want))
		}
		return err
	}
	if err := rank(plan.RangeAccumulators); err != nil {
		t.Fatal(err)
	}
	x := slot()
	if x.docs.Words == 0 || !x.halve() || x.cut.shape == x.shape || x.docs.Words != 0 {
		t.Errorf("half of %+v is %+v", x.shape, x.cut.shape)
	}
	x.giveBack()
	if x.cut.shape != x.shape {
		t.Errorf("given back it has %+v of %+v", x.cut.shape, x.shape)
	}
	if err := rank(plan.RangeAccumulators); err != nil {
		t.Fatal(err)
	}
	for _, held := range []int{4<<20 + 4*int(src.Docs), 0} {
		x = slot()
		x.dropAll()
		if err := x.Room(&x.docs, held, held, "a test"); err != nil {
			t.Fatal(err)
		}
		x.giveBack()
		rest := b.Memory.Left()
		if err := b.Memory.Reserve(rest, "a test"); err != nil {
			t.Fatal(err)
		}
		err := rank(plan.GlobalAccumulators)
		if held > 0 && err != nil || held == 0 && (!errors.Is(err, plan.ErrOutOfMemory) || device.IsExceeded(err)) {
			t.Errorf("the slot has %d words, others the rest: %v", held, err)
		}
		b.Memory.Unreserve(rest)
	}
	if err := errors.Join(rank(plan.GlobalAccumulators), rank(plan.RangeAccumulators)); err != nil {
		t.Error(err)
	}
	if n := s.set.Total(); n != b.Memory.InUse() {
		t.Errorf("memory of %d bytes, %d are reserved", n, b.Memory.InUse())
	}
}
