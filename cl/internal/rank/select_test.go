package rank

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan/testneeds"
)

// selection is a selector with buffers for so many queries of so many keys.
type selection struct {
	*selector
	flight            device.Flight
	queries, capacity int
	keys, state, best *ocl.MemObject
}

func newSelection(t testing.TB, b *device.Runtime, queries, capacity, k int) *selection {
	t.Helper()
	s := &selection{flight: device.NewFlight(b, b.Memory), queries: queries, capacity: capacity}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(s.flight.Open(4, 4))
	var err error
	s.selector, err = newSelector(&s.flight, device.NewScratchMemory(b, b.Memory, new(atomic.Uint64), "a test"), queries*capacity)
	try(err)
	for to, words := range map[**ocl.MemObject]int{&s.keys: 2 * queries * capacity, &s.state: selectState * queries, &s.best: 2 * queries * k} {
		*to, err = b.Buffer(ocl.MemReadWrite, 4*uint64(words)+16, "a selection")
		try(err)
	}
	t.Cleanup(func() {
		s.flight.Land()
		s.flight.Release()
		s.selector.release()
		for _, m := range []*ocl.MemObject{s.keys, s.state, s.best} {
			m.Release()
		}
	})
	return s
}

// send writes the keys of each query to the device, and how many there are said to be.
func (s *selection) send(t testing.TB, keys [][]uint64, counts []uint32) {
	t.Helper()
	state, words := make([]uint32, selectState*s.queries), make([]uint32, 2*s.queries*s.capacity)
	for q := range keys {
		state[selectState*q], state[selectState*q+3] = counts[q], 7 // any number
		for i, key := range keys[q] {
			words[2*(q*s.capacity+i)], words[2*(q*s.capacity+i)+1] = uint32(key), uint32(key>>32)
		}
	}
	for m, words := range map[*ocl.MemObject][]uint32{s.keys: words, s.state: state} {
		if err := s.flight.Device.WriteWords(t.Context(), m, 0, words); err != nil {
			t.Fatal(err)
		}
	}
}

// cut runs a selection and gives the time that it took, by the device's clock where it
// profiles.
func (s *selection) cut(t testing.TB, k int, best *ocl.MemObject) (took time.Duration) {
	t.Helper()
	defer s.flight.ReleaseEvents()
	b := s.flight.Device
	began := time.Now()
	err := b.Do(func() error {
		if err := s.run(s.queries, s.capacity, k, s.keys, s.state, best, 0); err != nil {
			return err
		}
		return s.flight.Queue.Finish()
	})
	if err != nil {
		t.Fatal(err)
	}
	took = time.Since(began)
	if b.Profiling {
		last := len(s.flight.Events) - 1
		from, err1 := s.flight.Events[0].Event.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := s.flight.Events[last].Event.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		took = time.Duration(to - from)
	}
	return took
}

// words reads n words from word `at` of m on.
func (s *selection) words(t testing.TB, m *ocl.MemObject, at, n int) []uint32 {
	t.Helper()
	got := make([]uint32, n)
	if n == 0 {
		return got
	}
	err := s.flight.Device.Do(func() error {
		e, err := s.flight.Queue.EnqueueReadBuffer(m, true, 4*at, 4*n, unsafe.Pointer(&got[0]), nil)
		if err == nil {
			e.Release()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// keysAt reads n keys from key `at` of m on.
func (s *selection) keysAt(t testing.TB, m *ocl.MemObject, at, n int) []uint64 {
	t.Helper()
	words := s.words(t, m, 2*at, 2*n)
	got := make([]uint64, n)
	for i := range got {
		got[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return got
}

// keyShapes are the ways in which keys of score and docID are distributed; all of
// them are distinct and have a score.
var keyShapes = []struct {
	name string
	key  func(r *rand.Rand, i, n uint32) uint64
}{
	{"spread scores", func(r *rand.Rand, i, _ uint32) uint64 { return keyOf(r.Uint32()|1, i) }},
	{"equal scores", func(_ *rand.Rand, i, _ uint32) uint64 { return keyOf(12345, i) }},
	{"equal least scores", func(_ *rand.Rand, i, _ uint32) uint64 { return keyOf(1, i) }},
	{"equal greatest scores", func(_ *rand.Rand, i, _ uint32) uint64 { return keyOf(1<<32-1, i) }},
	{"ascending", func(_ *rand.Rand, i, _ uint32) uint64 { return keyOf(i+1, i) }},
	{"descending", func(_ *rand.Rand, i, n uint32) uint64 { return keyOf(n-i, i) }},
	{"high digits differ", func(_ *rand.Rand, i, n uint32) uint64 { return keyOf(i*((1<<32-1)/n)+1, 7) }},
	{"few scores", func(r *rand.Rand, i, _ uint32) uint64 { return keyOf((1+r.Uint32N(7))<<29, i) }},
	{"one stands out", func(r *rand.Rand, i, n uint32) uint64 { return keyOf(1+i/(n-1)<<31, i) }},
	{"skewed scores", func(r *rand.Rand, i, _ uint32) uint64 { return keyOf(1<<r.Uint32N(32), i) }},
}

func keyOf(score, doc uint32) uint64 { return uint64(score)<<32 | uint64(^doc) }

// shapedKeys are n keys in an order of no meaning but for shapes that say one.
func shapedKeys(r *rand.Rand, shape, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = keyShapes[shape].key(r, uint32(i), max(uint32(n), 2))
	}
	return keys
}

// sortMost is SORT_MOST in kernels/select.cl.
func sortMost(t device.Tuning) int {
	if t.Serial {
		return 1
	}
	return selectBins(t) / 2
}

// check compares a query's part of the buffers with sorting in Go.
func (s *selection) check(t *testing.T, name string, q, k int, keys []uint64, count int, last bool) {
	t.Helper()
	n := min(len(keys), s.capacity)
	want := slices.Clone(keys[:n])
	slices.Sort(want)
	want = want[n-min(n, k):]
	state := s.words(t, s.state, selectState*q, selectState-1)
	kth, left := uint64(0), uint32(len(want))
	if len(want) == k {
		kth = want[0]
	}
	if count > s.capacity {
		left = selectLost
	}
	if !slices.Equal(state, []uint32{left, uint32(kth >> 32), uint32(kth)}) {
		t.Errorf("%s, best %d of %d keys: state %d, want %d and key %#x", name, k, count, state, left, kth)
		return
	}
	got := s.keysAt(t, s.keys, q*s.capacity, len(want))
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s, best %d of %d keys: others at the front", name, k, count)
	}
	if !last {
		return
	}
	got = s.keysAt(t, s.best, q*k, len(want))
	if len(want) <= sortMost(s.flight.Device.Tuning) {
		slices.Reverse(got)
	} else {
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, best %d of %d keys: others among the results, or in another order", name, k, count)
	}
}

// selectForms are the shapes of the kernels, and work-groups of other sizes.
func selectForms(d *device.Device) map[string]device.Tuning {
	all := devicetest.Shapes(d)
	narrow := all["local"]
	narrow.SelectWG, narrow.SelectWide = 64, 500
	all["local, 64"] = narrow
	return all
}

// TestSelect compares with sorting, over every shape of keys: as many queries at a
// time as there are shapes, of lengths around k and around the room of a query.
func TestSelect(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for form, tuning := range selectForms(d) {
		t.Run(form, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, tuning, false)
			r := rand.New(rand.NewPCG(1, 2))
			for _, c := range []struct{ capacity, k int }{{2, 1}, {64, 10}, {3000, 1}, {3000, 1000}, {5000, sortMost(tuning)}, {12000, 10000}, {18000, 100}} {
				s := newSelection(t, b, len(keyShapes), c.capacity, c.k)
				for _, n := range []int{0, 1, c.k - 1, c.k, c.k + 1, c.capacity - 1, c.capacity, c.capacity + 3} {
					keys, counts := make([][]uint64, s.queries), make([]uint32, s.queries)
					for q := range keys {
						keys[q] = shapedKeys(r, q, min(n, c.capacity))
						counts[q] = uint32(n)
					}
					s.send(t, keys, counts)
					last := n%2 == 1
					s.cut(t, c.k, map[bool]*ocl.MemObject{true: s.best}[last])
					for q := range keys {
						s.check(t, keyShapes[q].name, q, c.k, keys[q], n, last)
					}
				}
			}
		})
	}
}

// TestSelectWide has queries of many keys, which many groups cut first, together
// with short ones; some of the long ones keep more than there is room for.
func TestSelectWide(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	const capacity = 3 * selectKept
	for form, tuning := range selectForms(d) {
		t.Run(form, func(t *testing.T) {
			b := devicetest.OpenRow(t, d, tuning, false)
			r := rand.New(rand.NewPCG(3, 4))
			s := newSelection(t, b, 4, capacity, 10000)
			for shape := range keyShapes {
				for _, k := range []int{1, 1000, 10000} {
					if devicetest.Small() && k != 1000 && shape > 1 {
						continue
					}
					wide := selectWide(tuning)
					keys, counts := make([][]uint64, 4), []uint32{selectLost - 1, uint32(wide), uint32(wide + 1), 5}
					for q := range keys {
						keys[q] = shapedKeys(r, shape, min(int(counts[q]), capacity))
					}
					s.send(t, keys, counts)
					for range 2 { // again, with the keys that are left: scratch is unchanged
						s.cut(t, k, s.best)
						for q := range keys {
							s.check(t, keyShapes[shape].name, q, k, keys[q], int(counts[q]), true)
						}
					}
				}
			}
		})
	}
}

// TestSelectMany has as many queries of many keys as several groups cut, and one more, which one group each cuts.
func TestSelectMany(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	tuning := selectForms(d)["local, 64"]
	b := devicetest.OpenRow(t, d, tuning, false)
	r := rand.New(rand.NewPCG(9, 1))
	const capacity, k = 2100, 10
	for queries, launches := range map[int]int{maxWide: 3, maxWide + 1: 1} {
		s := newSelection(t, b, queries, capacity, k)
		keys, counts := make([][]uint64, queries), make([]uint32, queries)
		for q := range keys {
			keys[q], counts[q] = shapedKeys(r, q%len(keyShapes), capacity), capacity
		}
		s.send(t, keys, counts)
		if err := b.Do(func() error { return s.run(queries, capacity, k, s.keys, s.state, s.best, 0) }); err != nil {
			t.Fatal(err)
		}
		if n := len(s.flight.Events); n != launches {
			t.Errorf("%d queries: %d launches, want %d", queries, n, launches)
		}
		s.flight.Land()
		for q := range keys {
			s.check(t, keyShapes[q%len(keyShapes)].name, q, k, keys[q], capacity, true)
		}
	}
}
