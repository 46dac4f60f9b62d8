package rank

import (
	"cmp"
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
)

// Constants of kernels/select.cl.
const (
	selectKept  = 1 << 15 // SELECT_KEPT
	selectState = 4       // words of the state of a query
	selectLost  = 1 << 31 // LOST of the kernels
)

// maxWide is the number of queries that several groups cut at a time. More queries keep a
// device busy with one group each.
const maxWide = 64

// selector cuts the keys of each query to the best k, in launches of one flight.
type selector struct {
	flight     *device.Flight
	memory     device.ScratchMemory
	wide       int // queries that there is scratch memory for
	bytes      uint64
	bins, kept *ocl.MemObject
}

// wideQueries is the number of queries that several groups may cut, for a number of places
// for keys in all. Their kept keys take at most 16 times the memory of the keys.
func wideQueries(t device.Tuning, keys int) int {
	return min(keys/selectWide(t), 16*keys/selectKept, maxWide)
}

// selectorBytes is the device memory of a selector.
func selectorBytes(t device.Tuning, keys int) uint64 {
	return uint64(wideQueries(t, keys))*(4*uint64(selectBins(t))+8*selectKept) + 16
}

// newSelector makes the scratch memory and the kernels for selections with at most the
// given number of places for keys in all.
func newSelector(x *device.Flight, memory device.ScratchMemory, keys int) (s *selector, err error) {
	b := x.Device
	s = &selector{flight: x, memory: memory, wide: wideQueries(b.Tuning, keys)}
	bins := make([]uint32, s.wide*selectBins(b.Tuning))
	s.bytes = selectorBytes(b.Tuning, keys)
	if err := memory.Reserve(s.bytes, "scratch of selections"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
			s = nil
		}
	}()
	if s.bins, err = b.Buffer(ocl.MemReadWrite, 4*uint64(len(bins))+16, "digits of keys"); err != nil {
		return s, err
	}
	if s.kept, err = b.Buffer(ocl.MemReadWrite, 8*selectKept*uint64(s.wide), "kept keys"); err != nil {
		return s, err
	}
	if err = b.WriteWords(context.Background(), s.bins, 0, bins); err != nil {
		return s, err
	}
	return s, x.Prepare(selectBest.KernelID)
}

// run enqueues the cut. The best k keys of each query come to the front of its capacity
// keys, at most 2^31, and state gets the values that select.cl describes. If best is not
// nil, the keys also go there, from key number at on, k places per query, in descending order
// if there are at most SORT_MOST. It runs in Runtime.Do.
func (s *selector) run(queries, capacity, k int, keys, state, best *ocl.MemObject, at int) error {
	t, wide, last := s.flight.Device.Tuning, capacity > selectWide(s.flight.Device.Tuning) && queries <= s.wide, best != nil
	local := selectLocal(t)
	if best == nil {
		best = keys
	}
	if wide {
		groups := s.groups(queries, capacity)
		args := selectCountArguments{keys: keys, capacity: capacity, state: state, k: k, bins: s.bins, groups: groups}
		err := selectCount.Launch(s.flight, args, queries*groups, local, device.SelectTime)
		if err == nil {
			err = selectKeep.Launch(s.flight, selectKeepArguments{args, s.kept}, queries*groups, local, device.SelectTime)
		}
		if err != nil {
			return err
		}
	}
	return selectBest.Launch(s.flight, selectBestArguments{keys: keys, capacity: capacity, state: state, k: k, bins: s.bins, kept: s.kept, wide: wide,
		best: best, bestAt: at, last: last}, queries, local, device.SelectTime)
}

// bestAt is the number of keys that take the place of the states of queries.
func bestAt(queries int) int { return queries * selectState / 2 }

// selectLocal is the work-group size of the kernels of select.cl.
func selectLocal(t device.Tuning) int { return t.Local(cmp.Or(t.SelectWG, 256)) }

// selectWide is SELECT_WIDE in kernels/select.cl.
func selectWide(t device.Tuning) int { return cmp.Or(t.SelectWide, 1<<14) }

// selectBins is BINS in kernels/select.cl.
func selectBins(t device.Tuning) int {
	if t.Serial {
		return 1024
	}
	return 4 * selectLocal(t)
}

// selectMemory is the local memory of a work-group of select.cl at most, in bytes.
func selectMemory(t device.Tuning) int { return 4*selectBins(t) + 16*selectLocal(t) + 64 }

// groups is the number of groups of a query: as many as the device runs at a time, but no
// more than there are chunks of keys.
func (s *selector) groups(queries, capacity int) int {
	t := s.flight.Device.Tuning
	dev, chunk := s.flight.Device.Info.ComputeUnits, 1
	if !t.Serial {
		dev, chunk = dev*2048/selectLocal(t), 8*selectLocal(t)
	}
	return max(1, min(dev/queries, (capacity+chunk-1)/chunk))
}

// release frees the scratch memory. The flight frees the kernels.
func (s *selector) release() {
	device.ReleaseBuffers(s.bins, s.kept)
	s.memory.Unreserve(s.bytes)
}
