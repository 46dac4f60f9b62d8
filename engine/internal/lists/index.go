package lists

import (
	"context"
	"errors"
	"fmt"
	"os"

	"heddle/engine/index/hdl"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/placement"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// Options rule an index. The fields have the meaning of the fields of engine.IndexOptions and
// engine.Options with the same names.
type Options struct {
	Root            *os.Root // folder of the file; nil is the file system
	Algorithm       plan.Algorithm
	Accumulators    plan.Accumulators
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
	pool.Opened[Generation, *Generation]
	shared *Shared
	opt    Options
}

// open maps and validates an index file, below root unless it is nil.
func open(root *os.Root, path string, opt *Options) (*Generation, error) {
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
	q.Unit, q.Accumulators = f.Meta().Impacts.Scale, opt.Accumulators
	return &Generation{Index: q, File: f, rooted: root != nil}, nil
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
	return x.Change(func(old *Generation) error { return x.reload(ctx, old, root, path) })
}

func (x *Index) reload(ctx context.Context, old *Generation, root *os.Root, path string) error {
	g, err := open(root, path, &x.opt)
	if err != nil {
		return err
	}
	if !x.opt.Trusted {
		if err := g.File.CheckSums(); err != nil {
			return errors.Join(err, g.closeFile())
		}
	}
	if err := x.load(ctx, g, x.Pool.Processors()); err != nil {
		return err
	}
	var hosts []*pool.Processor
	for _, r := range x.Pool.Processors() {
		if r.Host {
			hosts = append(hosts, r)
		}
	}
	if !g.reduced || g.resident >= old.resident || len(hosts) == 0 {
		x.Replace(g)
		return nil
	}
	host, err := x.loaded(ctx, root, path, hosts)
	if closing := g.Retire(); err != nil {
		return errors.Join(err, closing)
	}
	x.Replace(host)
	if g, err = x.loaded(ctx, root, path, x.Pool.Processors()); err != nil {
		x.Pool.Log().Warn().Err(err).Msg("the host answers alone")
		return nil
	}
	x.Replace(g)
	return nil
}

// loaded opens the file at path on some processors.
func (x *Index) loaded(ctx context.Context, root *os.Root, path string, on []*pool.Processor) (*Generation, error) {
	g, err := open(root, path, &x.opt)
	if err != nil {
		return nil, err
	}
	return g, x.load(ctx, g, on)
}

// load loads an open file on some processors. An error closes the file.
func (x *Index) load(ctx context.Context, g *Generation, on []*pool.Processor) error {
	if err := x.start(ctx, g, on); err != nil {
		return errors.Join(fmt.Errorf("loading %s: %w", g.File.Path(), err), g.closeFile())
	}
	return nil
}
