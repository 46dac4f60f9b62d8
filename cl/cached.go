package cl

import (
	"context"
	"errors"
	"fmt"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/cl/internal/match/expression"
	"heddle/cl/internal/rank"
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

// filterPart is the part of the free memory, one in so many, that a cache leaves to filters.
const filterPart = 16

// loadCached implements Backend.LoadCached.
func loadCached(ctx context.Context, rt *device.Runtime, src *plan.Source, bytes uint64) (plan.CachedStore, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := check(ctx, rt, src); err != nil {
		return nil, err
	}
	// Self-tests of algorithms on first use need memory beside the store.
	left := rt.Memory.Left()
	left -= min(match.SelfTestMemory, left/8)
	left -= left / filterPart
	if bytes == 0 || bytes > left {
		bytes = left
	}
	bytes = min(bytes, 4*lists.CachedBytes(src)+leastCache) // more is of no use to few lists
	s, err := sizeCached(ctx, rt, src, bytes)
	for last := err; device.IsExceeded(last); { // other processes have taken memory
		bytes /= 2
		if s, last = sizeCached(ctx, rt, src, bytes); !errors.Is(last, errFewLists) {
			err = last
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.conjunction.BuildKernels(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// errFewLists is the cause of an error of sizeCached.
var errFewLists = errors.New("too little memory for lists")

// sizeCached makes a store in so many bytes. The error wraps errFewLists if scratch memory leaves less than an
// eighth of them, and less than all lists take.
func sizeCached(ctx context.Context, rt *device.Runtime, src *plan.Source, bytes uint64) (*CachedStore, error) {
	sized, err := newStore(rt, src, device.NewBudget(rt.Name(), bytes))
	if err != nil {
		return nil, err
	}
	most := lists.CachedBytes(src)
	scratch := sized.conjunction.ScratchBytes() + expression.Scratch(rt, bytes) + rank.Scratch(rt, src, bytes)
	postings := min(bytes-min(scratch, bytes), most)
	if postings < min(bytes/8, most) {
		return nil, rt.OutOfMemory("making a cache of lists", fmt.Errorf("%w: scratch takes %d of %d bytes, %d are left for %d bytes of lists", errFewLists, scratch, bytes, postings, most))
	}
	return openCached(ctx, rt, src, scratch, lists.CacheBuffers(rt, postings))
}

// openCached makes a store with the given bytes of scratch memory and the given buffers for
// lists.
func openCached(ctx context.Context, rt *device.Runtime, src *plan.Source, scratch uint64, buffers []uint64) (*CachedStore, error) {
	total := scratch
	for _, n := range buffers {
		total += n
	}
	if err := rt.Memory.Reserve(total, "lists and scratch"); err != nil {
		return nil, err
	}
	s, err := newStore(rt, src, device.NewBudget(rt.Name(), total))
	if err == nil {
		if err = s.set.LoadCached(ctx, buffers); err == nil {
			if err = s.open(ctx); err != nil {
				device.Free(ctx, rt, s.set.Cache.Release)
			}
		}
		if err != nil {
			device.Free(ctx, rt, s.release)
		}
	}
	if err != nil {
		rt.Memory.Unreserve(total)
		return nil, err
	}
	return &CachedStore{s}, nil
}

// Missing returns the bytes that a query over some lists would bring in now. It is false if
// the lists never fit the cache together. It does not wait.
func (s *CachedStore) Missing(postings []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	return s.set.Cache.Missing(postings, ranked)
}

// CacheStats returns the counters of the cache.
func (s *CachedStore) CacheStats() plan.CacheStats { return s.set.Cache.Stats() }

// Memory returns the bytes that the store has reserved on the device.
func (s *CachedStore) Memory() uint64 { return s.set.Memory.Size() }

// Close waits for batches under way and frees the device memory. Callers that wait get
// plan.ErrClosed.
func (s *CachedStore) Close() error {
	if err := s.Store.Close(); err != nil {
		return err
	}
	s.set.Device.Memory.Unreserve(s.set.Memory.Size())
	return nil
}
