package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// PartError is an error of one part.
type PartError struct {
	Part, Of int
	Err      error
}

func (e *PartError) Error() string { return fmt.Sprintf("part %d of %d: %v", e.Part, e.Of, e.Err) }

// Unwrap returns the error of the part's store or backend.
func (e *PartError) Unwrap() error { return e.Err }

// store is the whole of some parts.
type store struct {
	src    *plan.Source // the whole
	parts  []Part
	stores []plan.Store // stores of the parts
	runs   sync.Pool    // *run

	mu     sync.RWMutex // held for reading by every batch, for writing by Close
	closed bool
}

// run is the memory of one batch on its way.
type run struct {
	batches []plan.MatchBatch // by part, like the fields below
	ranks   []plan.RankBatch
	results []plan.Results
	best    []plan.TopK
	places  []int // by part: index of its next document, while the parts are merged
}

// Join makes one store from the stores of all parts of src. It owns them: its Close closes
// them. It answers like a store of src; the times and bytes of plan.Stats are sums over the
// parts, except Wall. The first part that fails ends the batch on all parts, and its error
// is a *PartError.
//
// Join reads the lengths of the lists of src, not their words.
func Join(src *plan.Source, parts []Part, stores []plan.Store) (plan.Store, error) {
	if len(parts) == 0 || len(parts) != len(stores) {
		return nil, fmt.Errorf("shard: %d stores for %d parts", len(stores), len(parts))
	}
	end := uint64(0)
	for i, p := range parts {
		if uint64(p.First) != end || len(p.Source.Lists) != len(src.Lists) {
			return nil, fmt.Errorf("shard: part %d has %d lists from document %d on, want %d lists from document %d on", i, len(p.Source.Lists), p.First, len(src.Lists), end)
		}
		end += uint64(p.Source.Docs)
	}
	if end != uint64(src.Docs) {
		return nil, fmt.Errorf("shard: parts of %d documents, the whole has %d", end, src.Docs)
	}
	s := &store{src: src, parts: parts, stores: stores}
	s.runs.New = func() any {
		n := len(parts)
		return &run{make([]plan.MatchBatch, n), make([]plan.RankBatch, n), make([]plan.Results, n), make([]plan.TopK, n), make([]int, n)}
	}
	return s, nil
}

// Load cuts src into as many parts as there are backends, and loads them at the same time.
// If some fail, nothing stays loaded, and the error joins a *PartError for each of them;
// part i belongs to backend i.
func Load(ctx context.Context, src *plan.Source, backends []plan.Backend) (plan.Store, error) {
	parts, err := Split(ctx, src, len(backends))
	if err != nil {
		return nil, err
	}
	stores, errs := make([]plan.Store, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	for i, b := range backends {
		wg.Go(func() {
			err := &errs[i]
			defer mapped.Catch(mapped.Watch(), err)
			if stores[i], *err = b.Load(ctx, parts[i].Source); *err != nil {
				stores[i], *err = nil, &PartError{i, len(parts), *err}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, closeAll(stores))
	}
	return Join(src, parts, stores)
}

func closeAll(stores []plan.Store) error {
	var errs []error
	for _, s := range stores {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// Match implements plan.Store.
func (s *store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.OwnFilters(b.Filters, s.owns); err != nil {
		return err
	}
	return s.answer(ctx, "match", &out.Stats, func() error { return b.Validate(s.src) }, func(ctx context.Context, r *run, i int) error {
		s.batch(&r.batches[i], i, b)
		r.results[i].Borrow = true
		return s.stores[i].Match(ctx, &r.batches[i], &r.results[i])
	}, func(r *run) {
		s.gather(r, b.Queries(), b.CountOnly, b.Candidates(s.src), out)
		out.Stats.CountFilters(b.Filters)
	})
}

// batch sets mine to the batch of part i, whose lists have other lengths. Expressions
// are valid for every part in any order of operands.
func (s *store) batch(mine *plan.MatchBatch, i int, b *plan.MatchBatch) {
	mine.Reset()
	mine.Algorithm, mine.CountOnly, mine.Part, mine.Threads = b.Algorithm, b.CountOnly, b.Part, s.threads(b.Threads)
	for q := range b.Queries() {
		if ops := b.Expression(q); len(ops) > 0 {
			mine.AddOps(ops)
		} else {
			mine.Add(s.parts[i].Source, b.Query(q)...)
		}
		mine.Restrict(part(b.Filter(q), i))
	}
}

// threads is the part of a bound of threads that each of the parts has, which run at the same time;
// 0 is no bound.
func (s *store) threads(all int) int { return (all + len(s.parts) - 1) / len(s.parts) }

// Rank implements plan.Store.
func (s *store) Rank(ctx context.Context, ranks *plan.RankBatch, out *plan.TopK) error {
	if err := plan.OwnFilters(ranks.Filters, s.owns); err != nil {
		return err
	}
	return s.answer(ctx, "rank", &out.Stats, func() error { return ranks.Validate(s.src) }, func(ctx context.Context, r *run, i int) error {
		mine := &r.ranks[i]
		mine.Reset()
		mine.Mode, mine.K, mine.Norm, mine.Accumulators, mine.Threads = ranks.Mode, ranks.K, ranks.Norm, ranks.Accumulators, s.threads(ranks.Threads)
		for q := range ranks.Queries() {
			mine.Add(s.parts[i].Source, ranks.Query(q)...)
			mine.Restrict(part(ranks.Filter(q), i))
		}
		return s.stores[i].Rank(ctx, mine, &r.best[i])
	}, func(r *run) {
		s.merge(r, ranks.Queries(), ranks.K, out)
		out.Stats.Queries, out.Stats.Postings, out.Stats.Matches = uint64(ranks.Queries()), ranks.Postings(s.src), uint64(len(out.Docs))
		out.Stats.CountFilters(ranks.Filters)
	})
}

// answer checks that a batch may run, asks all parts, each of which answers into its place
// of a run, and joins their answers. It notes the time in stats, which join may write to.
// The store stays open until it returns.
func (s *store) answer(ctx context.Context, op string, stats *plan.Stats, validate func() error,
	ask func(ctx context.Context, r *run, i int) error, join func(r *run)) error {
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: fmt.Sprintf("%d parts", len(s.parts)), Op: op}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := validate(); err != nil {
		return err
	}
	r := s.runs.Get().(*run)
	defer func() {
		for i := range r.results {
			r.results[i].Reset() // gives memory of the stores of the parts back
		}
		s.runs.Put(r)
	}()
	if err := s.each(ctx, func(ctx context.Context, i int) error { return ask(ctx, r, i) }); err != nil {
		return err
	}
	join(r)
	stats.Wall = max(time.Since(start), 1)
	return nil
}

// each calls f for all parts at the same time, with a context that ends with the first
// error. It returns this error, or the error of ctx if ctx has ended.
func (s *store) each(ctx context.Context, f func(ctx context.Context, i int) error) error {
	all, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var first error
	call := func(i int) {
		if err := mapped.Run(func() error { return f(all, i) }); err != nil {
			once.Do(func() { first = &PartError{i, len(s.parts), err} })
			stop()
		}
	}
	var wg sync.WaitGroup
	for i := range len(s.parts) - 1 {
		wg.Go(func() { call(i + 1) })
	}
	call(0)
	wg.Wait()
	if end := ctx.Err(); end != nil && errors.Is(first, end) {
		return end
	}
	return first
}

// Memory implements plan.Store: all parts together, on their backends.
func (s *store) Memory() (bytes uint64) {
	for _, st := range s.stores {
		bytes += st.Memory()
	}
	return bytes
}

// Close waits for running batches and closes the stores of the parts.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return plan.ErrClosed
	}
	s.closed = true
	return closeAll(s.stores)
}
