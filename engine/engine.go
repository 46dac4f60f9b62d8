package engine

import (
	"context"
	"errors"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/query"
	"heddle/engine/internal/serve"
	"heddle/engine/plan"
)

// Engine owns the processors of a machine: pure Go on its cores and OpenCL devices. Indexes
// and tables that it opens share the processors, the memory of each device and one
// scheduler. It is safe for concurrent use.
//
// If a processor fails (lost, hung, out of memory again and again), the engine removes it and
// runs its queries elsewhere: no query is lost or answered twice. A processor that was
// removed works again if it can load the lists of a later OpenIndex or Reload.
type Engine struct {
	opt    Options
	parsed parsed
	pool   *serve.Pool
}

// New opens the processors that opt chooses; opening a device tests it. The caller closes
// the engine. Errors: code InvalidOption, NoDevice if no processor matches opt, and the codes
// of ctx.
func New(ctx context.Context, opt Options) (*Engine, error) {
	opt.EnsureDefaults()
	p, err := opt.parse()
	if err != nil {
		return nil, invalid("new engine", err)
	}
	list, err := opt.open()
	if err != nil {
		return nil, wrap("new engine", err)
	}
	find := backend.OpenFirst
	if opt.Backend == backend.All || opt.Backends != nil {
		find = backend.OpenAll
	}
	open, err := find(ctx, list, opt.logger())
	if err != nil {
		return nil, wrap("new engine", err)
	}
	e := &Engine{opt: opt, parsed: p}
	if e.pool, err = serve.NewPool(open, opt.pool(&p)); err != nil {
		for _, o := range open {
			err = errors.Join(err, o.Close())
		}
		return nil, invalid("new engine", err)
	}
	return e, nil
}

// Processor describes a processor of an engine.
type Processor struct {
	Name    string    // unique in the engine
	Info    plan.Info // of its backend
	Reason  string    // of the choice
	Reserve bool      // runs only queries that no other processor can run
	Removed error     // why the scheduler removed it; nil if it works
}

// Processors returns the processors: pure Go first, then devices. Their order does not change.
func (e *Engine) Processors() (all []Processor) {
	st := e.pool.Stats()
	for i, p := range e.pool.Processors() {
		all = append(all, Processor{p.Name, p.Info, p.Reason, p.Reserve, st.Processors[i].Removed})
	}
	return all
}

// CopyPeak measures the bytes per second that a processor reads and writes when it copies
// memory: the limit for the bytes that batches move. It takes some tens of milliseconds. 0
// means that the processor cannot tell.
func (e *Engine) CopyPeak(ctx context.Context, processor int) (float64, error) {
	p, ok := e.pool.Processors()[processor].Backend.(interface {
		CopyPeak(ctx context.Context) (float64, error)
	})
	if !ok {
		return 0, nil
	}
	peak, err := p.CopyPeak(ctx)
	return peak, wrap("copy peak", err)
}

// Close refuses further calls with code Closed, lets running ones end, closes all indexes and
// tables, and releases the processors. Snapshots must be closed before. A second Close
// returns code Closed. If a device hangs, Close returns an error, and the device, its memory
// and the files in use are released when it returns.
func (e *Engine) Close() error { return wrap("close engine", e.pool.Close()) }

// IndexOptions rule an index. The zero value is the default.
type IndexOptions struct {
	// Costs is the file of the cost models. Default: Options.Costs, else the index file with
	// ".cost" appended, if it exists.
	Costs string
	// Trusted opens files without a check of their checksums.
	Trusted bool
}

// Dictionary finds the list of a term. hdl.File and hdl.Dictionary implement it. Lookup must be
// safe for concurrent use and should not allocate.
type Dictionary interface {
	Lookup(term string) (plan.Handle, bool)
}

// OpenIndex maps the index file at path, validates it and makes its lists resident on the
// processors of the engine. Errors: codes NotFound, Corrupt, OutOfMemory, Closed.
func (e *Engine) OpenIndex(ctx context.Context, path string, opt IndexOptions) (*Index, error) {
	x, err := e.pool.OpenIndex(ctx, path, e.index(&opt))
	if err != nil {
		return nil, wrap("open index", err)
	}
	return &Index{x}, nil
}

// NewIndex makes an index of lists in memory. dict must name lists of src; both must stay valid
// and unchanged until Close. Query texts are split at white space.
func (e *Engine) NewIndex(ctx context.Context, src *plan.Source, dict Dictionary, opt IndexOptions) (*Index, error) {
	x, err := e.pool.NewIndex(ctx, src, query.Dictionary(dict), e.index(&opt))
	if err != nil {
		return nil, wrap("new index", err)
	}
	return &Index{x}, nil
}

func (e *Engine) index(opt *IndexOptions) serve.IndexOptions {
	o := &e.opt
	costs := opt.Costs
	if costs == "" {
		costs = o.Costs
	}
	return serve.IndexOptions{
		Algorithm: o.Algorithm, BatchCandidates: o.BatchCandidates, BatchPostings: o.BatchPostings, Blocks: o.Blocks,
		Placement: e.parsed.placement, DeviceMemory: o.DeviceMemory, Metric: e.parsed.metric, Costs: costs, Trusted: opt.Trusted,
	}
}
