package rank

import (
	"context"
	"slices"
	"sync"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// tables are the tables of all lists under one Norm.
type tables struct {
	norms      *norms
	components components
	lists      lookup.PerList[table]
	blocks     lookup.PerList[blocks]

	// Guarded by norms.mu:
	used  claim
	users int // running batches
}

// claim is memory of tables, in bytes.
type claim struct {
	size int64
	held int64 // the part of size that the store had kept back for bounds
}

// take adds size bytes to c and reports whether they were left.
func (c *claim) take(memory *work.Budget, size int64) bool {
	if !memory.Take(size) {
		return false
	}
	c.size += size
	return true
}

// takeBounds is take for bounds. It prefers the bytes that the store has kept back.
func (c *claim) takeBounds(memory *work.Budget, size int64) bool {
	if !memory.TakeHeld(size) {
		return c.take(memory, size)
	}
	c.size += size
	c.held += size
	return true
}

// free returns the bytes of c.
func (c *claim) free(memory *work.Budget) {
	memory.Hold(c.held)
	memory.Return(c.size)
}

// maxNorms is the number of Norms with tables. A further Norm replaces the one that has
// not been used for the longest time.
const maxNorms = 2

// norms holds the tables of a store by Norm.
type norms struct {
	aux    *lookup.Auxiliary
	memory *work.Budget
	common int64 // bytes of the common components of a Norm; 0 for none
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
			s.all[i].used.free(s.memory)
		}
		t = &tables{norms: s, components: components{norm: n, docLengths: s.aux.Source.Lengths}}
		if s.common > 0 && t.used.takeBounds(s.memory, s.common) {
			t.components.common = make([]uint32, commonLengths*smallFreqs)
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

// add builds the table of list h.
func (t *tables) add(ctx context.Context, h plan.Handle) error {
	slot := t.lists.At(h, len(t.norms.aux.Source.Lists))
	before := slot.Load()
	if before != nil && before != usedOnce {
		return nil
	}
	var c claim
	built, err := t.build(ctx, h, &c)
	if err != nil || !slot.CompareAndSwap(before, built) { // it failed, or another batch was faster
		c.free(t.norms.memory)
		return err
	}
	t.norms.mu.Lock()
	t.used.size += c.size
	t.used.held += c.held
	t.norms.mu.Unlock()
	return nil
}
