package engine

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/failure"
	"heddle/engine/internal/backend"
	"heddle/engine/internal/handle"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/tables"
	"heddle/engine/observe"
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
	pool   *pool.Pool
	lists  *lists.Shared
}

// Index answers queries on the lists of a file. It is safe for concurrent use. Reload changes
// the file while queries run; each query is answered from one file as a whole.
//
// Replace an index file by a rename. If it is truncated while it is in use, calls that need
// the lost pages fail with code Corrupt, and other indexes are not concerned.
type Index struct{ index }

type index = handle.Of[lists.Index]

// Table selects rows of a bitmap table. It is safe for concurrent use. Reload changes the
// file while selections run; each selection is answered from one file as a whole. A table file
// that is truncated while it is in use gives code Corrupt, as an index file does.
//
// A table is resident on every processor of its engine that has room for it. If there are
// several, OpenTable measures their costs on the table's own vectors, for tens of
// milliseconds each. A selection runs on the processor that should answer it first, pure Go
// in reserve included. The run times of selections correct the estimates.
type Table struct{ table }

type table = handle.Of[tables.Table]

// New opens the processors that opt chooses; opening a device tests it. The caller closes
// the engine. Errors: code InvalidOption, NoDevice if no processor matches opt, and the codes
// of ctx.
func New(ctx context.Context, opt Options) (*Engine, error) {
	opt.EnsureDefaults()
	p, err := opt.parse()
	if err != nil {
		return nil, failure.Invalid("new engine", err)
	}
	list, err := opt.open(ctx)
	if err != nil {
		return nil, failure.Wrap("new engine", err)
	}
	find := backend.OpenFirst
	if opt.Backend == backend.All || opt.Backends != nil {
		find = backend.OpenAll
	}
	open, err := find(ctx, list, opt.logger())
	if err != nil {
		return nil, failure.Wrap("new engine", err)
	}
	e := &Engine{opt: opt, parsed: p}
	if e.pool, err = pool.New(open, opt.pool(&p)); err != nil {
		for _, o := range open {
			err = errors.Join(err, o.Close())
		}
		return nil, failure.Invalid("new engine", err)
	}
	e.lists = lists.Share(e.pool, opt.Results, opt.Filters)
	return e, nil
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
// means that the processor cannot tell. processor is an index of Processors. Errors: codes
// InvalidOption, Closed and the codes of the device.
func (e *Engine) CopyPeak(ctx context.Context, processor int) (float64, error) {
	done, err := e.pool.Use()
	if err != nil {
		return 0, failure.Wrap("copy peak", err)
	}
	defer done()
	all := e.pool.Processors()
	if processor < 0 || processor >= len(all) {
		return 0, failure.Invalid("copy peak", fmt.Errorf("processor %d of %d, counted from 0", processor, len(all)))
	}
	p, ok := all[processor].Backend.(interface {
		CopyPeak(ctx context.Context) (float64, error)
	})
	if !ok {
		return 0, nil
	}
	peak, err := p.CopyPeak(ctx)
	return peak, failure.Wrap("copy peak", err)
}

// Close refuses further calls with code Closed, lets running ones end (OpenIndex, OpenTable and
// CopyPeak too), closes all indexes and
// tables, and releases the processors. Snapshots must be closed before. A second Close
// returns code Closed. If a device hangs, Close returns an error, and the device, its memory
// and the files in use are released when it returns.
func (e *Engine) Close() error { return failure.Wrap("close engine", e.pool.Close()) }

// Stats returns a snapshot of the engine. It takes some microseconds.
func (e *Engine) Stats() observe.Stats {
	st := e.pool.Stats()
	e.lists.AddStats(&st)
	return st
}
