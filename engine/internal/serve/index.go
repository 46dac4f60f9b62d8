package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"heddle/engine/index/hdl"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/placement"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// IndexOptions rule an index. The fields have the meaning of the fields of engine.Options and
// engine.IndexOptions with the same names.
type IndexOptions struct {
	Root            *os.Root // folder of the file; nil is the file system
	Algorithm       plan.Algorithm
	BatchCandidates uint64
	BatchPostings   uint64
	Blocks          int
	Placement       placement.How
	DeviceMemory    uint64
	Metric          cost.Metric
	Costs           string
	Trusted         bool
}

// Index answers queries on lists, from generation to generation. It is safe for concurrent
// use.
type Index struct {
	pool     *Pool
	opt      IndexOptions
	current  Current[Lists, *Lists]
	changing sync.Mutex // held by Reload and Close
	release  func()     // releases the file of costs
}

// OpenIndex opens the index file at path on the processors of p.
func (p *Pool) OpenIndex(ctx context.Context, path string, opt IndexOptions) (*Index, error) {
	return p.newIndex(ctx, opt, func() (*Lists, error) { return open(opt.Root, path, &opt) })
}

// NewIndex makes an index of lists in memory.
func (p *Pool) NewIndex(ctx context.Context, src *plan.Source, dict query.Dictionary, opt IndexOptions) (*Index, error) {
	return p.newIndex(ctx, opt, func() (*Lists, error) {
		q, err := query.NewIndex(src, dict, nil, opt.Algorithm)
		return &Lists{Index: q}, err
	})
}

func (p *Pool) newIndex(ctx context.Context, opt IndexOptions, open func() (*Lists, error)) (*Index, error) {
	done, err := p.Use()
	if err != nil {
		return nil, err
	}
	defer done()
	x := &Index{pool: p, opt: opt}
	if x.release, err = p.claimCosts(opt.Costs); err != nil {
		return nil, err
	}
	g, err := open()
	if err != nil {
		x.release()
		return nil, err
	}
	if err := x.start(ctx, g, p.processors); err != nil {
		x.release()
		return nil, errors.Join(err, g.closeFile())
	}
	x.current.Exchange(g)
	p.Own(x)
	return x, nil
}

// open maps and validates an index file, below root unless it is nil.
func open(root *os.Root, path string, opt *IndexOptions) (*Lists, error) {
	f, err := hdl.OpenIn(root, path, opt.Trusted)
	if err != nil {
		return nil, err
	}
	a, err := f.Analyzer()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	q, err := query.NewIndex(f.LazySource(), f, a, opt.Algorithm)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	q.Unit = f.Meta().Impacts.Scale
	return &Lists{Index: q, File: f, rooted: root != nil}, nil
}

// errClosed is the error of calls on a closed index.
var errClosed = fmt.Errorf("the index is %w", plan.ErrClosed)

// Acquire returns the current generation, which stays open until its Release, or
// plan.ErrClosed.
func (x *Index) Acquire() (*Lists, error) { return x.AcquireOn(0) }

// AcquireOn is Acquire for many concurrent users: see Current.AcquireOn.
func (x *Index) AcquireOn(shard uint) (*Lists, error) {
	if g := x.current.AcquireOn(shard); g != nil {
		return g, nil
	}
	return nil, errClosed
}

// Reload opens the index file at path, below root unless it is nil, beside the current one and answers from it all queries
// that arrive from then on. It returns when the earlier queries and snapshots have ended and
// the old file is closed. It compares all checksums of the new file. After an error the old
// file stays in use.
//
// Where devices have no room for both, the host alone answers from the new file until the
// old one is closed. Without a host the new lists take the room that there is. Processors
// that were removed after a failure run jobs again if they load the new lists.
func (x *Index) Reload(ctx context.Context, root *os.Root, path string) error {
	x.changing.Lock()
	defer x.changing.Unlock()
	old := x.current.Load()
	if old == nil {
		return errClosed
	}
	g, err := open(root, path, &x.opt)
	if err != nil {
		return err
	}
	if !x.opt.Trusted {
		if err := g.File.CheckSums(); err != nil {
			return errors.Join(err, g.closeFile())
		}
	}
	if err := x.load(ctx, g, x.pool.processors); err != nil {
		return err
	}
	var hosts []*Processor
	for _, r := range x.pool.processors {
		if r.Host {
			hosts = append(hosts, r)
		}
	}
	if !g.reduced || g.resident >= old.resident || len(hosts) == 0 {
		x.replace(g)
		return nil
	}
	host, err := x.loaded(ctx, root, path, hosts)
	if closing := x.close(g); err != nil {
		return errors.Join(err, closing)
	}
	x.replace(host)
	if g, err = x.loaded(ctx, root, path, x.pool.processors); err != nil {
		x.pool.opt.Log.Warn().Err(err).Msg("the host answers alone")
		return nil
	}
	x.replace(g)
	return nil
}

// loaded opens the file at path on some processors.
func (x *Index) loaded(ctx context.Context, root *os.Root, path string, on []*Processor) (*Lists, error) {
	g, err := open(root, path, &x.opt)
	if err != nil {
		return nil, err
	}
	return g, x.load(ctx, g, on)
}

// load loads an open file on some processors. An error closes the file.
func (x *Index) load(ctx context.Context, g *Lists, on []*Processor) error {
	if err := x.start(ctx, g, on); err != nil {
		return errors.Join(fmt.Errorf("loading %s: %w", g.File.Path(), err), g.closeFile())
	}
	return nil
}

// replace makes g the current generation and closes the former one. An error of closing is
// logged.
func (x *Index) replace(g *Lists) {
	if err := x.close(x.current.Exchange(g)); err != nil {
		x.pool.opt.Log.Warn().Err(err).Msg("the old index is not closed")
	}
}

// Close refuses further queries with plan.ErrClosed, waits for running queries, and releases lists
// and file. A second Close returns plan.ErrClosed. If a device hangs, the error is
// schedule.ErrHung too.
func (x *Index) Close() error {
	x.changing.Lock()
	defer x.changing.Unlock()
	g := x.current.Exchange(nil)
	if g == nil {
		return errClosed
	}
	defer x.pool.Disown(x)
	defer x.release()
	return x.close(g)
}
