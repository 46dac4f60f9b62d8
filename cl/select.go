package cl

import (
	"cmp"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"
)

// selectProgram names the program of all kernels of select.cl by one of them.
var selectProgram = kernelID{name: "select_best"}

// Of kernels/select.cl.
const (
	selectKept  = 1 << 15 // SELECT_KEPT
	selectState = 4       // words of the state of a query
	selectLost  = 1 << 31 // LOST of the kernels
)

// maxWide is how many queries many groups cut at a time: more keep a device busy
// with a group each.
const maxWide = 64

// selector cuts the keys of each of many queries to the best ones, in launches of
// one flight.
type selector struct {
	flight     *flight
	wide       int // queries that there is scratch for
	bytes      uint64
	bins, kept *ocl.MemObject
}

// wideQueries is how many queries with `keys` places for keys in all many groups may cut.
func wideQueries(t Tuning, keys int) int { return min(keys/t.selectWide(), maxWide) }

// selectorBytes is what a selector takes on the device.
func selectorBytes(t Tuning, keys int) uint64 {
	return uint64(wideQueries(t, keys))*(4*uint64(t.selectBins())+8*selectKept) + 16
}

// newSelector makes the scratch and the kernels for selections of which none has
// more than `keys` places for keys in all, whatever its number of queries.
func newSelector(x *flight, keys int) (s *selector, err error) {
	b := x.backend
	s = &selector{flight: x, wide: wideQueries(b.tuning, keys)}
	bins := make([]uint32, s.wide*b.tuning.selectBins())
	s.bytes = selectorBytes(b.tuning, keys)
	if err := x.memory.reserve(s.bytes, "scratch of selections"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
			s = nil
		}
	}()
	if s.bins, err = b.buffer(ocl.MemReadWrite, 4*uint64(len(bins))+16, "digits of keys"); err != nil {
		return s, err
	}
	if s.kept, err = b.buffer(ocl.MemReadWrite, 8*selectKept*uint64(s.wide), "keys that are kept"); err != nil {
		return s, err
	}
	if err = b.writeWords(s.bins, 0, bins); err != nil {
		return s, err
	}
	return s, x.create(selectProgram, "select_count", "select_keep", "select_best")
}

// run enqueues what leaves the best k keys of each query at the front of its
// `capacity` keys, at most 2^31, and in state what select.cl says. Where best is not
// nil they are also there, k places a query, in descending order if SORT_MOST are
// enough. It runs in Backend.do.
func (s *selector) run(queries, capacity, k int, keys, state, best *ocl.MemObject) error {
	t, wide, last := s.flight.backend.tuning, 0, 1
	local := t.selectLocal()
	if best == nil {
		best, last = keys, 0
	}
	if capacity > t.selectWide() && queries <= s.wide {
		wide = 1
		groups := s.groups(queries, capacity)
		if err := s.launch("select_count", queries*groups, local, keys, capacity, state, k, s.bins, groups); err != nil {
			return err
		}
		if err := s.launch("select_keep", queries*groups, local, keys, capacity, state, k, s.bins, groups, s.kept); err != nil {
			return err
		}
	}
	return s.launch("select_best", queries, local, keys, capacity, state, k, s.bins, s.kept, wide, best, last)
}

func (s *selector) launch(name string, groups, local int, args ...any) error {
	k := s.flight.kernels[kernelID{name: name}]
	if err := arguments(k, args...); err != nil {
		return fmt.Errorf("arguments of %s: %w", name, err)
	}
	return s.flight.launch(k, groups, local, selectTime)
}

// selectLocal is the size of a work-group of the kernels of select.cl.
func (t Tuning) selectLocal() int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.SelectWG, 256)
}

// selectWide is SELECT_WIDE in kernels/select.cl.
func (t Tuning) selectWide() int { return cmp.Or(t.SelectWide, 1<<14) }

// selectBins is BINS in kernels/select.cl.
func (t Tuning) selectBins() int {
	if t.Serial {
		return 1024
	}
	return 4 * t.selectLocal()
}

// selectMemory is the local memory of a work-group of select.cl at most, in bytes.
func (t Tuning) selectMemory() int { return 4*t.selectBins() + 16*t.selectLocal() + 64 }

// groups is how many groups a query gets: as many as the device holds at a time, but
// none without a chunk of keys.
func (s *selector) groups(queries, capacity int) int {
	t := s.flight.backend.tuning
	device, chunk := s.flight.backend.dev.info.ComputeUnits, 1
	if !t.Serial {
		device, chunk = device*2048/t.selectLocal(), 8*t.selectLocal()
	}
	return max(1, min(device/queries, (capacity+chunk-1)/chunk))
}

// release leaves the kernels to the flight.
func (s *selector) release() {
	for _, m := range []*ocl.MemObject{s.bins, s.kept} {
		if m != nil {
			m.Release()
		}
	}
	s.flight.memory.unreserve(s.bytes)
}
