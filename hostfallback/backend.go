// Package hostfallback is a plan.Backend in pure Go on all cores: no cgo, no
// assembly, no unsafe. It is the reference for the OpenCL backend, which must
// give the same bytes, and the fallback where there is no device.
//
// A batch is cut into tasks of whole queries, or into parts of one query when
// that is large, and the tasks are taken by as many goroutines as there are
// threads. Within a query, the elements of the shortest list go through the
// other lists in blocks that stay in the first-level cache: what survives one
// list is compacted in place and meets the next.
//
// A formula is cut into shares, ranges of documents. It is evaluated range by range
// on bitsets that stay in the first-level cache; a mere OR goes by chunks that are
// bits or docIDs, whichever is less, and AND and AND NOT of a short list look its
// documents up in the others.
//
// A ranked OR goes by ranges of documents, whose scores stay in a near cache while
// the lists pass by; of most ranges the bounds of the lists say that none of the
// best is there, or which lists suffice to find out. A ranked AND carries candidates
// with their sums from the shortest list to the others. What postings contribute
// is kept beside the lists, as far as there is room, and else computed as they are
// decoded.
//
// A selection over a table goes by tiles, ranges of rows whose sets stay in the
// first-level cache, all its steps one tile after the other. Tiles of vectors that take
// many words are kept as plain rows beside the words, as far as there is room, and ORed
// eight vectors at a time; of others the words are walked, fills as fills. Codes are
// decoded only where candidates are.
package hostfallback

import (
	"context"
	"fmt"
	"runtime"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/work"
)

// Options of a backend. The zero value is good.
type Options struct {
	// Threads is the number of goroutines that share a batch, 0 for GOMAXPROCS.
	Threads int
	// MemoryLimit bounds the auxiliary tables of a store, in bytes; 0 means 16 for
	// each docID in its lists, at least 64 MiB and at most 4 GiB. Without room for
	// more tables Auto and Bits do with fewer, and the other algorithms give
	// plan.ErrOutOfMemory. For the plain rows of a plan.Table 0 means four times the
	// size of its vectors, within the same bounds.
	MemoryLimit uint64
	// Lazy builds the tables of Auto when a query first needs them, instead of in
	// Load, and plain rows of vectors when they are used again: a short-lived process
	// answers its first query sooner.
	Lazy bool
}

// Backend implements plan.Backend. It is safe for concurrent use.
type Backend struct {
	opt  Options
	gate work.Gate
}

var _ plan.Backend = (*Backend)(nil)

// algorithms that a store runs besides Auto: all.
var algorithms = plan.Algorithms()

// New returns a backend. It holds no resources until Load.
func New(opt Options) *Backend {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	return &Backend{opt: opt}
}

// Info describes the host.
func (b *Backend) Info() plan.Info {
	return plan.Info{
		Kind:         "host",
		Device:       fmt.Sprintf("pure Go on %s, %d threads", runtime.GOARCH, b.opt.Threads),
		Vendor:       runtime.GOOS + "/" + runtime.GOARCH,
		Driver:       runtime.Version(),
		Type:         "cpu",
		ComputeUnits: b.opt.Threads,
		Tuning:       "default",
		Algorithms:   algorithms,
	}
}

// Load checks the descriptors of src and builds the tables of Auto, unless the
// backend is lazy. The lists themselves are used where they are.
func (b *Backend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if err := b.gate.Enter(ctx, "load"); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	if err := src.Validate(); err != nil {
		return nil, err
	}
	s := newStore(src, b.opt)
	if !b.opt.Lazy {
		if err := s.tables.PrepareAll(ctx, b.opt.Threads); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close waits for running calls of Load and LoadTable and refuses later ones.
func (b *Backend) Close() error {
	b.gate.Close()
	return nil
}

// resources returns the resources of a new store whose auxiliary data usually take the
// given number of bytes.
func (b *Backend) resources(usual uint64) work.Resources {
	return work.Resources{Threads: b.opt.Threads, Memory: work.NewBudget(b.opt.MemoryLimit, usual), Lazy: b.opt.Lazy}
}
