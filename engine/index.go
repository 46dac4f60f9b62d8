package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Dictionary finds the list of a term. hdl.File and hdl.Dictionary are two.
// Lookup must be safe for concurrent use; on the hot path it should not allocate.
type Dictionary interface {
	Lookup(term string) (plan.Handle, bool)
}

// Options say where an index runs. The zero value is: the best backend there
// is, algorithm by shape, batches of DefaultBatchCandidates, no logging.
type Options struct {
	// Backend is "auto" (or empty), "host" or "opencl". Auto takes the first
	// OpenCL GPU whose self-test passes, else pure Go; a CPU device only when
	// its tuning row says that it beats pure Go.
	Backend string
	// Device restricts OpenCL devices to those whose name or platform contains
	// it, case ignored.
	Device string
	// Tuning is a TOML file of tuning rows of OpenCL devices (cl.ReadTunings),
	// which go before the built-in ones.
	Tuning string
	// Algorithm is what SearchOptions leave open.
	Algorithm plan.Algorithm
	// BatchCandidates closes a batch: the sum of the shortest lists of its
	// queries, the computational threshold of Wu et al. 2010, section IV.
	// 0 means what the backend likes best (plan.Info.Batch).
	BatchCandidates uint64
	// BatchPostings closes a batch of ranked queries: the postings of their lists.
	// 0 means what the backend likes best (plan.Info.BatchPostings).
	BatchPostings uint64
	// Workers prepare batches and collect answers. 0 means one a core, at
	// least 2, at most 16: enough to keep one device busy.
	Workers int
	// Threads of the pure-Go backend; 0 means all cores, and HostThreads beside the
	// devices of an Engine.
	Threads int
	// DeviceMemory caps what lists and tables take on a device, in bytes;
	// 0 means what the device reports, less a reserve.
	DeviceMemory uint64
	// HostMemory caps the auxiliary tables of the pure-Go backend, in bytes, which
	// of a bitmap table are dense vectors as plain bits; 0 means 16 bytes a posting,
	// 4 times the vectors of a bitmap table, at least 64 MiB and at most 4 GiB.
	HostMemory uint64
	// Lazy builds the tables of Auto when a query first needs them, on the
	// pure-Go backend: the first answer comes sooner, the next ones may wait.
	Lazy bool
	// Trusted opens the file without checking its checksums.
	Trusted bool
	// Profiling records device times in plan.Stats; it costs a little.
	Profiling bool
	// CountLoads counts the bytes that kernels ask for in plan.Stats; it makes
	// kernels slower.
	CountLoads bool
	// Log receives what a person should know: the choice of backend, failures.
	// The zero Logger writes nothing.
	Log *zerolog.Logger

	// On is a backend that is open already, and takes the place of Backend and
	// Device. The caller closes it, after the index. What concerns the making of
	// backends (Threads, DeviceMemory, HostMemory, Lazy, Profiling, CountLoads) has
	// no effect then.
	On plan.Backend

	// backends replaces the discovery in tests.
	backends []candidate
}

// DefaultBatchCandidates closes a batch on a backend that has no preference of
// its own (plan.Info.Batch).
const DefaultBatchCandidates = 1 << 20

// DefaultBatchPostings closes a batch of ranked queries on a backend that has no
// preference of its own (plan.Info.BatchPostings).
const DefaultBatchPostings = 1 << 26

// Index answers queries over one set of lists.
type Index struct {
	file     *hdl.File // nil for an index made by New
	src      *plan.Source
	dict     Dictionary
	analyzer *analyze.Analyzer
	opt      Options

	resident[plan.Store]

	meanLoad     atomic.Uint64 // candidates a query, running mean, for batching
	meanPostings atomic.Uint64 // postings of a ranked query, likewise
	tokens       func() uint64 // sum of the lengths of documents
	workers      sync.Pool     // *worker
	closed       atomic.Bool
}

// Open maps the index file at path, validates it and makes its lists resident
// on the backend that opt chooses. Errors: hdl.ErrCorrupt for a damaged file,
// plan.ErrNoDevice when nothing matches opt.
func Open(ctx context.Context, path string, opt Options) (*Index, error) {
	x, err := mapFile(path, opt)
	if err != nil {
		return nil, err
	}
	if err := x.start(ctx); err != nil {
		return nil, errors.Join(err, x.closeFile())
	}
	return x, nil
}

// mapFile is an index that is not resident anywhere.
func mapFile(path string, opt Options) (*Index, error) {
	open := hdl.Open
	if opt.Trusted {
		open = hdl.OpenTrusted
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	a, err := analyze.New(f.Meta().Analysis)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	x, err := prepared(&Index{file: f, src: f.Source(), dict: f, analyzer: a, opt: opt})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return x, nil
}

// New makes an index over lists in memory. dict must name lists of src; both must stay
// valid and unchanged until Close. Query texts are split at white space.
func New(ctx context.Context, src *plan.Source, dict Dictionary, opt Options) (*Index, error) {
	x, err := prepared(&Index{src: src, dict: dict, opt: opt})
	if err != nil {
		return nil, err
	}
	if err := x.start(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// prepared checks the lists of an index and makes what does not depend on where they are.
func prepared(x *Index) (*Index, error) {
	if err := x.src.Validate(); err != nil {
		return nil, err
	}
	x.workers.New = func() any { return new(worker) }
	x.tokens = sync.OnceValue(x.countTokens)
	return x, nil
}

// start makes the lists resident.
func (x *Index) start(ctx context.Context) error {
	log := x.opt.logger()
	list, err := x.opt.candidates(log)
	if err != nil {
		return err
	}
	x.what = "lists"
	x.load = func(ctx context.Context, b plan.Backend) (plan.Store, error) { return b.Load(ctx, x.src) }
	return x.begin(ctx, list, log)
}

// run answers the worker's queries with f on the active backend, and on the next
// one if that fails.
func (x *Index) run(ctx context.Context, w *worker, f func(w *worker, ctx context.Context, s plan.Store) error) error {
	return x.try(ctx, func(s plan.Store) error { return f(w, ctx, s) })
}

// Backend describes where queries run now.
func (x *Index) Backend() plan.Info { return x.active.Load().info }

// Memory is what the lists and their tables occupy there, in bytes.
func (x *Index) Memory() uint64 { return x.active.Load().store.Memory() }

// Explain says how the backend looks elements up in list h under algorithm a.
func (x *Index) Explain(a plan.Algorithm, h plan.Handle) string {
	if a == plan.Auto {
		a = x.opt.Algorithm
	}
	return x.active.Load().store.Explain(a, h)
}

// ExplainQuery names the algorithm of q, and why where it is the backend's choice;
// nothing for a query that is no AND of lists.
func (x *Index) ExplainQuery(q Query, opt SearchOptions) string {
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	w.reset(x, opt)
	if _, err := x.add(w, q); err != nil {
		return err.Error()
	}
	if len(w.batch.Query(0)) == 0 {
		return ""
	}
	return x.active.Load().store.ExplainBatch(&w.batch)
}

// File is the index file, nil for an index made by New. It is closed by Close.
func (x *Index) File() *hdl.File { return x.file }

// Source is the set of lists.
func (x *Index) Source() *plan.Source { return x.src }

// Peak measures what the active backend can copy, in bytes read and written a
// second: the limit that bytes moved are held against. It takes some tens of
// milliseconds. 0 means that the backend cannot tell.
func (x *Index) Peak(ctx context.Context) (float64, error) {
	if x.closed.Load() {
		return 0, plan.ErrClosed
	}
	if p, ok := x.active.Load().backend.(interface {
		CopyPeak(ctx context.Context) (float64, error)
	}); ok {
		return p.CopyPeak(ctx)
	}
	return 0, nil
}

// Close releases stores, backends and the file. Calls after it, and a second
// Close, give plan.ErrClosed.
func (x *Index) Close() error {
	if x.closed.Swap(true) {
		return plan.ErrClosed
	}
	return errors.Join(x.close(), x.closeFile())
}

func (x *Index) closeFile() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}
