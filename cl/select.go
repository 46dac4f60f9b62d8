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
	selectWide  = 1 << 14 // SELECT_WIDE
	selectKept  = 1 << 15 // SELECT_KEPT
	selectState = 4       // words of the state of a query
)

// maxWide is how many queries many groups cut at a time: more keep a device busy
// with a group each.
const maxWide = 64

// selector cuts the keys of each of many queries to the best ones. It belongs to
// whoever owns the queue that its kernels go to.
type selector struct {
	backend    *Backend
	wide       int // queries that there is scratch for
	bytes      uint64
	bins, kept *ocl.MemObject
	kernels    map[string]*ocl.Kernel
}

// newSelector makes the scratch and the kernels for selections of which none has
// more than `keys` keys in all, whatever its number of queries.
func (b *Backend) newSelector(keys int) (s *selector, err error) {
	s = &selector{backend: b, wide: min(keys/selectWide, maxWide), kernels: map[string]*ocl.Kernel{}}
	bins := make([]uint32, s.wide*b.tuning.selectBins())
	s.bytes = 4*uint64(len(bins)) + 16 + 8*selectKept*uint64(s.wide)
	if err := b.reserve(s.bytes, "scratch of selections"); err != nil {
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
	p, err := b.programOf(selectProgram)
	if err != nil {
		return s, err
	}
	return s, b.do(func() error {
		for _, name := range []string{"select_count", "select_keep", "select_best"} {
			k, err := p.CreateKernel(name)
			if err != nil {
				return b.fail("creating kernel "+name, err)
			}
			s.kernels[name] = k
		}
		return nil
	})
}

// run enqueues through launch what leaves the best k keys of each query at the
// front of its `capacity` keys, and in state what select.cl says; where best is not
// nil also there, k places a query. capacity is at most 2^31. It runs on the owner.
func (s *selector) run(launch func(k *ocl.Kernel, groups, local int) error, queries, capacity, k int, keys, state, best *ocl.MemObject) error {
	t, wide, last := s.backend.tuning, 0, 1
	if best == nil {
		best, last = keys, 0
	}
	if capacity > selectWide && queries <= s.wide {
		wide = 1
		groups := s.groups(queries, capacity)
		count, keep := s.kernels["select_count"], s.kernels["select_keep"]
		if err := arguments(count, keys, capacity, state, s.bins, groups); err != nil {
			return fmt.Errorf("select_count: %w", err)
		}
		if err := launch(count, queries*groups, t.selectLocal()); err != nil {
			return err
		}
		if err := arguments(keep, keys, capacity, state, k, s.bins, groups, s.kept); err != nil {
			return fmt.Errorf("select_keep: %w", err)
		}
		if err := launch(keep, queries*groups, t.selectLocal()); err != nil {
			return err
		}
	}
	cut := s.kernels["select_best"]
	if err := arguments(cut, keys, capacity, state, k, s.bins, s.kept, wide, best, last); err != nil {
		return fmt.Errorf("select_best: %w", err)
	}
	return launch(cut, queries, t.selectLocal())
}

// selectLocal is the size of a work-group of the kernels of select.cl.
func (t Tuning) selectLocal() int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.SelectWG, 256)
}

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
	t := s.backend.tuning
	device, chunk := s.backend.dev.info.ComputeUnits, 1
	if !t.Serial {
		device, chunk = device*2048/t.selectLocal(), 8*t.selectLocal()
	}
	return max(1, min(device/queries, (capacity+chunk-1)/chunk))
}

func (s *selector) release() {
	for _, k := range s.kernels {
		k.Release()
	}
	for _, m := range []*ocl.MemObject{s.bins, s.kept} {
		if m != nil {
			m.Release()
		}
	}
	s.backend.unreserve(s.bytes)
}
