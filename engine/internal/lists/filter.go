package lists

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Rows selects rows of a table by a predicate. Row i stands for document i. It is safe for
// concurrent use.
type Rows interface {
	// Filter makes the rows a filter on processor p, where they stay, without the documents that with
	// lacks, unless it is nil: a filter on p. It returns nil if p has not got the table.
	Filter(ctx context.Context, p int, with plan.Filter) (plan.Filter, error)
	// Bits returns the rows as a bitset that belongs to the caller.
	Bits(ctx context.Context) ([]uint64, error)
	// Estimate returns the time of Filter on processor p.
	Estimate(p int) time.Duration
	// Of returns the generation of the table.
	Of() any
}

// FilterSpec describes a filter.
type FilterSpec struct {
	Key  [query.KeyLen]byte // tells it from all other filters of the index
	Text string             // description of the filter for people
	Rows []Rows             // all of them hold
	Bits []uint64           // further documents do not pass; nil: all pass. It must not change.
}

// Filter is a set of documents of one generation of lists. Each processor makes it at the first use.
// It implements query.Filter.
type Filter struct {
	FilterSpec
	g     *Generation
	at    []filterAt   // by processor
	count atomic.Int64 // documents that pass; -1: unknown

	// Guarded by filterCache.mu:
	used  uint64 // the time of the last use, a count of uses
	bytes uint64 // bytes of the description and of all sets, as far as the cache counts them
}

// filterAt is a filter on one processor.
type filterAt struct {
	building sync.Mutex // held while the set is made

	mu      sync.Mutex
	set     plan.Filter // nil: none
	users   int
	dropped bool // the last user closes the set
}

var _ query.Filter = (*Filter)(nil)

// Key implements query.Filter.
func (f *Filter) Key() *[query.KeyLen]byte { return &f.FilterSpec.Key }

// Count returns the number of documents that pass, if it is known.
func (f *Filter) Count() (uint32, bool) {
	n := f.count.Load()
	return uint32(n), n >= 0
}

// made tells whether any processor has made the set.
func (f *Filter) made() bool {
	_, known := f.Count()
	return known
}

// On implements query.Filter.
func (f *Filter) On(ctx context.Context, p int) (plan.Filter, error) {
	at := &f.at[p]
	if set := at.enter(); set != nil {
		return set, nil
	}
	at.building.Lock()
	defer at.building.Unlock()
	if set := at.enter(); set != nil {
		return set, nil
	}
	set, err := f.make(ctx, p)
	for n := 1; errors.Is(err, plan.ErrOutOfMemory); n *= 2 { // few attempts: each one evaluates all predicates
		if !f.g.shared.filters.evictFrom(p, n) { // the query runs elsewhere
			err = fmt.Errorf("a filter: %w: %w", plan.ErrTooLarge, err)
			break
		}
		set, err = f.make(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	f.count.Store(int64(set.Count()))
	at.mu.Lock()
	at.set, at.users = set, 1
	dropped := at.dropped
	at.mu.Unlock()
	if !dropped {
		f.g.shared.filters.grow(f, set.Memory())
	}
	return set, nil
}

// enter begins a use of the set; nil if there is none.
func (at *filterAt) enter() plan.Filter {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.set != nil {
		at.users++
	}
	return at.set
}

// idle tells whether there is a set that no batch uses.
func (at *filterAt) idle() bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.set != nil && at.users == 0
}

// Off implements query.Filter.
func (f *Filter) Off(p int) {
	at := &f.at[p]
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.users--; at.users == 0 && at.dropped {
		at.close(f.g.pool)
	}
}

// close closes the set. Its caller holds at.mu.
func (at *filterAt) close(p *pool.Pool) {
	if at.set == nil {
		return
	}
	if err := at.set.Close(); err != nil {
		p.Log().Warn().Err(err).Msg("a filter is not closed")
	}
	at.set = nil
}

// drop closes all sets, a set in use after its last use.
func (f *Filter) drop() {
	for i := range f.at {
		at := &f.at[i]
		at.mu.Lock()
		if at.dropped = true; at.users == 0 {
			at.close(f.g.pool)
		}
		at.mu.Unlock()
	}
}

// makeThere makes the set from predicates that the processor itself evaluates, on the store of its
// lists. It returns nil if the processor lacks one of their tables.
func (f *Filter) makeThere(ctx context.Context, p int, store plan.Store) (set plan.Filter, err error) {
	if f.FilterSpec.Bits != nil {
		if set, err = store.Filter(ctx, f.FilterSpec.Bits); err != nil {
			return nil, err
		}
	}
	for _, rows := range f.Rows {
		next, err := rows.Filter(ctx, p, set)
		if set != nil {
			err = errors.Join(err, set.Close())
		}
		if next == nil || err != nil {
			return nil, err
		}
		set = next
	}
	return set, nil
}

// Bits implements query.Filter.
func (f *Filter) Bits(ctx context.Context) ([]uint64, error) {
	bits := f.FilterSpec.Bits
	for i, rows := range f.Rows {
		more, err := rows.Bits(ctx)
		if err != nil {
			return nil, err
		}
		if i > 0 || f.FilterSpec.Bits != nil {
			for k, x := range bits {
				more[k] &= x
			}
		}
		bits = more
	}
	return bits, nil
}

// make makes the set on a processor.
func (f *Filter) make(ctx context.Context, p int) (plan.Filter, error) {
	r := f.g.at[p]
	if len(f.Rows) > 0 && len(r.On) == 1 && r.Cached == nil {
		if set, err := f.makeThere(ctx, p, r.store); set != nil || err != nil && !errors.Is(err, plan.ErrUnsupported) {
			return set, err
		}
	}
	bits, err := f.Bits(ctx)
	if err != nil {
		return nil, err
	}
	return r.store.Filter(ctx, bits)
}

// estimate is the time to make the set on a processor.
func (f *Filter) estimate(p int) (took time.Duration) {
	at := &f.at[p]
	at.mu.Lock()
	made := at.set != nil
	at.mu.Unlock()
	if made {
		return 0
	}
	for _, r := range f.Rows {
		took += r.Estimate(p)
	}
	return took
}

// filter returns the filter of the query; nil if it has none.
func (t *task) filter() *Filter {
	f, _ := t.b.Filter().(*Filter)
	return f
}

// restriction describes the filter of the query; nil if it has none.
func (t *task) restriction(cached bool) *observe.Filter {
	if !t.kind.filtered {
		return nil
	}
	f := t.filter()
	n, _ := f.Count()
	o := &observe.Filter{Text: f.Text, Count: n, Docs: t.g.Source.Docs, Cached: t.cached, Plan: "bits"}
	switch {
	case cached || t.stats.Filtered == 0:
		o.Plan = ""
	case t.stats.Sought == t.stats.Filtered:
		o.Plan = "seek"
	}
	return o
}
