package lists

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/resultcache"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Shared is the part that all indexes on a pool share: the caches of results and filters, and the files of
// costs in use. It is safe for concurrent use.
type Shared struct {
	pool    *pool.Pool
	results *resultcache.Cache[*Answer] // nil: no cache
	filters filterCache

	mu    sync.Mutex
	costs []string // files of costs that open indexes have claimed
}

// Share returns the shared part of the indexes on a pool. results and filters are the sizes of the caches in
// bytes; without results there is no cache of results.
func Share(p *pool.Pool, results, filters uint64) *Shared {
	s := &Shared{pool: p, filters: filterCache{capacity: filters}}
	if results > 0 {
		s.results = resultcache.New[*Answer](results)
	}
	p.OnRetire(s.filters.drop)
	return s
}

// AddStats sets the caches of st.
func (s *Shared) AddStats(st *observe.Stats) {
	st.Results, st.Filters = observe.ResultCache(s.results.Stats()), s.filters.stats()
}

// claimCosts reserves the file of costs that the caller named, until release: at its close, an
// index would write over the costs of another one. The error is a query.ErrOption.
func (s *Shared) claimCosts(path string) (release func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	name, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.costs, name) {
		return nil, query.Option(fmt.Errorf("costs file %s is in use by another open index: name a file for each index, or none", path))
	}
	s.costs = append(s.costs, name)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.costs = slices.DeleteFunc(s.costs, func(c string) bool { return c == name })
	}, nil
}

// Open opens the index file at path on the processors of the pool.
func (s *Shared) Open(ctx context.Context, path string, opt Options) (*Index, error) {
	return s.newIndex(ctx, opt, func() (*Generation, error) { return open(opt.Root, path, &opt) })
}

// New makes an index of lists in memory.
func (s *Shared) New(ctx context.Context, src *plan.Source, dict query.Dictionary, opt Options) (*Index, error) {
	return s.newIndex(ctx, opt, func() (*Generation, error) {
		q, err := query.NewIndex(src, dict, nil, opt.Algorithm)
		if err != nil {
			return nil, err
		}
		q.Accumulators = opt.Accumulators
		return &Generation{Index: q}, nil
	})
}

func (s *Shared) newIndex(ctx context.Context, opt Options, open func() (*Generation, error)) (*Index, error) {
	done, err := s.pool.Use()
	if err != nil {
		return nil, err
	}
	defer done()
	x := &Index{shared: s, opt: opt}
	x.Pool = s.pool
	release, err := s.claimCosts(opt.Costs)
	if err != nil {
		return nil, err
	}
	g, err := open()
	if err != nil {
		release()
		return nil, err
	}
	if err := x.start(ctx, g, s.pool.Processors()); err != nil {
		release()
		return nil, errors.Join(err, g.closeFile())
	}
	x.Start(g, "index", release)
	return x, nil
}
