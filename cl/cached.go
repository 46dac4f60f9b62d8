package cl

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/plan"
)

// CachedStore is a Store whose lists come and go, by the policy of package listcache. It is
// safe for concurrent use. A batch is cut into parts whose lists take at most a quarter of
// the cache, or are the lists of one query. While one part is answered, the lists of the
// next one are under way.
//
// Such lists have no tables. Algorithms with tables run as plan.BS, which reads bitsets with
// one load nevertheless. Tables would add a sixteenth to raw lists, or a fifth to compressed
// ones, and halve the search, but queries wait for the bus: while it brings in a list of
// 100 KB, an H200 answers a dozen queries by plan.BS.
//
// Frequencies come and go like lists, and each counts as a list of the query. Document
// lengths stay resident.
type CachedStore struct{ *Store }

var _ plan.CachedStore = (*CachedStore)(nil)

// leastCache is enough scratch memory for a cache of few lists, in bytes.
const leastCache = 512 << 20

// loadCached implements Backend.LoadCached.
func loadCached(ctx context.Context, rt *opened, src *plan.Source, bytes uint64) (plan.CachedStore, error) {
	if err := src.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := supported(src); err != nil {
		return nil, err
	}
	if err := testLists(ctx, rt, src); err != nil {
		return nil, err
	}
	// Self-tests of algorithms on first use need memory beside the store.
	left := rt.memory.left()
	left -= min(selfTestMemory, left/8)
	if bytes == 0 || bytes > left {
		bytes = left
	}
	most := cachedBytes(src)
	bytes = min(bytes, 4*most+leastCache) // more is of no use to so few lists
	sized, err := newStore(rt, src, newBudget(rt.name(), bytes))
	if err != nil {
		return nil, err
	}
	scratch := sized.conjunction.slotsBytes() + exprScratch(rt, bytes) + rankScratch(rt, src, bytes)
	lists := min(bytes-min(scratch, bytes), most)
	if lists < min(bytes/8, most) {
		return nil, rt.outOfMemory("making a cache of lists", fmt.Errorf("scratch takes %d of %d bytes, %d are left for %d bytes of lists", scratch, bytes, lists, most))
	}
	s, err := openCached(ctx, rt, src, scratch, cacheBuffers(rt, lists))
	if err != nil {
		return nil, err
	}
	if err := s.conjunction.buildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openCached makes a store with the given bytes of scratch memory and the given buffers for
// lists.
func openCached(ctx context.Context, rt *opened, src *plan.Source, scratch uint64, buffers []uint64) (*CachedStore, error) {
	total := scratch
	for _, n := range buffers {
		total += n
	}
	if err := rt.memory.reserve(total, "lists and scratch"); err != nil {
		return nil, err
	}
	s, err := newStore(rt, src, newBudget(rt.name(), total))
	if err == nil {
		if err = s.set.loadCached(buffers); err == nil {
			if err = s.open(ctx); err != nil {
				s.set.cache.release()
			}
		}
		if err != nil {
			s.release()
		}
	}
	if err != nil {
		rt.memory.unreserve(total)
		return nil, err
	}
	return &CachedStore{s}, nil
}

// Missing returns the bytes that a query over some lists would bring in now. It is false if
// the lists never fit the cache together. It does not wait.
func (s *CachedStore) Missing(lists []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	return s.set.cache.missing(lists, ranked)
}

// CacheStats returns the counters of the cache.
func (s *CachedStore) CacheStats() plan.CacheStats { return s.set.cache.stats() }

// Memory returns the bytes that the store has reserved on the device.
func (s *CachedStore) Memory() uint64 { return s.set.memory.size() }

// Close waits for batches under way and frees the device memory. Callers that wait get
// plan.ErrClosed.
func (s *CachedStore) Close() error {
	if err := s.Store.Close(); err != nil {
		return err
	}
	s.set.rt.memory.unreserve(s.set.memory.size())
	return nil
}
