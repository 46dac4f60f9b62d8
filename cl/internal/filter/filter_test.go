package filter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// ops are the operations of the tests.
var ops = device.Operations{Operation}

// open opens the device of the tests with a shape of the kernels and a limit of memory; 0: none.
func open(t *testing.T, shape device.Tuning, limit uint64) *device.Runtime {
	rt, err := device.Open(t.Context(), devicetest.Find(t, ops), device.Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	return rt
}

// TestSets makes and closes sets of several universes, so that the buffer grows and regions are used
// again, and compares the docIDs of all listed sets that exist.
func TestSets(t *testing.T) {
	for name, shape := range devicetest.Shapes(devicetest.Find(t, ops)) {
		rt := open(t, shape, 0)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				type known struct {
					*Set
					docs []uint32
				}
				var sets []known
				seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
				for range rapid.IntRange(1, 8).Draw(r, "steps") {
					if len(sets) > 0 && rapid.IntRange(0, 2).Draw(r, "close") == 0 {
						i := rapid.IntRange(0, len(sets)-1).Draw(r, "set")
						sets[i].Close()
						sets = slices.Delete(sets, i, i+1)
						continue
					}
					universe := rapid.SampledFrom([]uint32{0, 1, 31, 8191, 8192, 8193, 300_000}).Draw(r, "universe")
					every := rapid.SampledFrom([]int{1, 20, 33, 1000}).Draw(r, "one document in")
					var docs []uint32
					bits := plantest.NewFilter(universe, func(d uint32) bool {
						in := seed.IntN(every) == 0
						if in {
							docs = append(docs, d)
						}
						return in
					})
					s, err := New(t.Context(), rt, universe, bits)
					if err != nil {
						r.Fatal(err)
					}
					if int(s.Count()) != len(docs) || s.Universe() != universe || (s.Docs() != nil) != (len(docs)*sparse <= int(universe)) {
						r.Fatalf("%d of %d documents, listed %t; want %d", s.Count(), s.Universe(), s.Docs() != nil, len(docs))
					}
					sets = append(sets, known{s, docs})
				}
				for _, s := range sets {
					if s.Docs() == nil {
						continue
					}
					if got, err := s.read(); err != nil || !slices.Equal(got, s.docs) {
						r.Fatalf("%d docIDs, %v; want %d", len(got), err, len(s.docs))
					}
				}
				for _, s := range sets {
					s.Close()
				}
			})
		})
	}
}

// TestLittleMemory fills the memory of a device with sets. A set that does not fit is an error, and
// the memory of closed sets goes to others.
func TestLittleMemory(t *testing.T) {
	const universe = 1 << 20
	rt := open(t, devicetest.Find(t, ops).Tuning(), 1<<20)
	bits := plantest.NewFilter(universe, func(uint32) bool { return true })
	var sets []*Set
	var err error
	for err == nil && len(sets) < 100 {
		var s *Set
		if s, err = New(t.Context(), rt, universe, bits); err == nil {
			sets = append(sets, s)
		}
	}
	if failed, ok := err.(*plan.DeviceError); !ok || failed.Kind != plan.ErrOutOfMemory || len(sets) < 2 {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	if err := rt.Memory.Reserve(900<<10, "a test"); err == nil {
		t.Error("memory of sets was given away")
	}
	sets[0].Close() // where no docIDs fit behind the bits
	few := plantest.NewFilter(universe, func(d uint32) bool { return d%1000 == 7 })
	if s, err := New(t.Context(), rt, universe, few); err != nil || s.Count() != (universe+992)/1000 || s.Docs() != nil || s.Memory() != sets[1].Memory() {
		t.Fatalf("a set of few documents in place of a closed one: %+v, %v", s, err)
	} else {
		s.Close()
	}
	if sets[0], err = New(t.Context(), rt, universe, bits); err != nil {
		t.Fatalf("a set in place of a closed one: %v", err)
	}
	for _, s := range sets {
		s.Close()
	}
	if err := rt.Memory.Reserve(900<<10, "a test"); err != nil {
		t.Errorf("the buffer without sets stays: %v", err)
	}
}

// TestClosedTwice closes a set again: its place belongs to another set by then.
func TestClosedTwice(t *testing.T) {
	rt := open(t, devicetest.Find(t, ops).Tuning(), 0)
	bits := plantest.NewFilter(1000, func(d uint32) bool { return d%3 == 0 })
	var sets []*Set
	for i := range 3 {
		s, err := New(t.Context(), rt, 1000, bits)
		if err != nil {
			t.Fatal(err)
		}
		if sets = append(sets, s); i == 0 {
			s.Close()
		}
		if i < 2 {
			sets[0].Close()
		}
	}
	if sets[0].Memory() != 0 || sets[1].At() == sets[2].At() {
		t.Errorf("a closed set has %d bytes, others lie at %d and %d", sets[0].Memory(), sets[1].At(), sets[2].At())
	}
	for _, s := range sets {
		s.Close()
	}
}
