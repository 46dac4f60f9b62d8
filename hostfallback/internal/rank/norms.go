package rank

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/work"
)

// tables are the tables of all lists under one Norm.
type tables struct {
	norms      *norms
	components components
	lists      lookup.PerList[table]
	used       atomic.Int64 // bytes
	users      int          // running batches, guarded by norms.mu
}

// maxNorms is the number of Norms with tables. A further Norm replaces the one that has
// not been used for the longest time.
const maxNorms = 2

// norms holds the tables of a store by Norm.
type norms struct {
	aux    *lookup.Auxiliary
	memory *work.Budget
	mu     sync.Mutex
	all    []*tables // the last used at the end
}

// tables returns the tables for n, which the caller must release. It returns nil while
// running batches use the tables of maxNorms other Norms.
func (s *norms) tables(n plan.Norm) *tables {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.all, func(t *tables) bool { return t.components.norm == n })
	var t *tables
	if i >= 0 {
		t = s.all[i]
	} else {
		if len(s.all) == maxNorms {
			if i = slices.IndexFunc(s.all, func(t *tables) bool { return t.users == 0 }); i < 0 {
				return nil
			}
			s.memory.Return(s.all[i].used.Load())
		}
		t = &tables{norms: s, components: components{norm: n, lengths: s.aux.Source.Lengths}}
		if n.Impacts == 0 && t.take(4*commonLengths*smallFreqs) {
			t.components.fill()
		}
	}
	if i >= 0 {
		s.all = slices.Delete(s.all, i, i+1)
	}
	s.all = append(s.all, t)
	t.users++
	return t
}

// release ends the use of t by one batch.
func (t *tables) release() {
	t.norms.mu.Lock()
	t.users--
	t.norms.mu.Unlock()
}

// take reserves size bytes and reports whether they were left.
func (t *tables) take(size int64) bool {
	if !t.norms.memory.Take(size) {
		return false
	}
	t.used.Add(size)
	return true
}

// add builds the table of list h.
func (t *tables) add(ctx context.Context, h plan.Handle) error {
	slot := t.lists.At(h, len(t.norms.aux.Source.Lists))
	before := slot.Load()
	if before != nil && before != usedOnce {
		return nil
	}
	built, size, err := t.build(ctx, h)
	if err != nil || !slot.CompareAndSwap(before, built) {
		t.norms.memory.Return(size) // it failed, or another batch was faster
		t.used.Add(-size)
	}
	return err
}
