package cl

import (
	"context"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// listSet is a set of lists in device memory with their auxiliary tables. The operations
// of a store share it. It is safe for concurrent use.
type listSet struct {
	rt     *opened
	memory *budget // of the lists and of all scratch memory of the store
	src    *plan.Source
	with   features // of programs that search in any of the lists
	arena  *arena
	places []place
	cache  *listCache     // nil if all lists are resident
	auto   plan.Algorithm // the tables of plan.Auto

	building chan struct{} // holds a token; its receiver may build tables
	mu       sync.Mutex    // guards aux
	aux      map[plan.Algorithm]*auxTables

	parts   []func() uint64 // memory of the operations, in bytes
	closed  atomic.Bool
	closing chan struct{} // closed by shut
}

// newListSet makes a set without device memory. A codec without kernels gives
// plan.ErrUnsupported.
func newListSet(rt *opened, src *plan.Source, memory *budget) (*listSet, error) {
	if err := supported(src); err != nil {
		return nil, err
	}
	s := &listSet{rt: rt, memory: memory, src: src, auto: plan.BS, building: make(chan struct{}, 1),
		aux: map[plan.Algorithm]*auxTables{}, closing: make(chan struct{})}
	s.building <- struct{}{}
	for _, l := range src.Lists {
		s.with |= lookup(l.Codec)
	}
	return s, nil
}

// load copies the lists to the device. scratch is the number of bytes that the operations
// of the store surely need as well: all of it must fit before any buffer is made. After a
// failure release must follow.
func (s *listSet) load(scratch uint64) error {
	ranges, places, err := layout(s.src, s.rt.info.MaxAlloc)
	if err != nil {
		return s.rt.outOfMemory("laying out lists", err)
	}
	s.places = places
	if err := s.memory.preflight(arenaBytes(ranges)+scratch, "lists and scratch"); err != nil {
		return err
	}
	s.arena, err = loadArena(s.rt, s.src, ranges)
	return err
}

// count adds the memory of an operation to total. It must be called before the first batch.
func (s *listSet) count(bytes func() uint64) { s.parts = append(s.parts, bytes) }

// total returns the bytes of the lists, the tables and all operations.
func (s *listSet) total() uint64 {
	n := uint64(0)
	if s.arena != nil {
		n = s.arena.bytes
	}
	for _, part := range s.parts {
		n += part()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.aux {
		n += t.bytes
	}
	return n
}

// begin checks that a batch may run: each operation calls it first.
func (s *listSet) begin(ctx context.Context) error {
	if s.closed.Load() {
		return plan.ErrClosed
	}
	return ctx.Err()
}

// auxOf returns the tables of an algorithm and builds them on first use.
func (s *listSet) auxOf(ctx context.Context, a plan.Algorithm) (*auxTables, error) {
	get := func() *auxTables {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.aux[a]
	}
	put := func(t *auxTables) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.aux[a] = t
	}
	return once(ctx, s.building, s.closing, get, put, func() (*auxTables, error) { return s.loadAux(ctx, a) })
}

// chooseAuto takes the fastest algorithm whose tables fit the device:
//
//	bits   a bitset for each list with more than one document in plan.DenseRatio, and
//	       buckets of 16 docIDs for the rest: one load per probe, or three
//	hs16   buckets for all lists, if there is no room for bitsets
//	bs     no tables
//
// Bitsets and hslrc, which has buckets, get no table but a bitset under bits.
func (s *listSet) chooseAuto(ctx context.Context) error {
	some := []plan.Algorithm{plan.Bits, plan.HS16}
	if s.cache != nil {
		some = []plan.Algorithm{plan.BS}
	}
	for _, a := range some {
		_, err := s.auxOf(ctx, a)
		if err == nil {
			s.auto = a
			return nil
		}
		if failed, ok := err.(*plan.DeviceError); !ok || failed.Kind != plan.ErrOutOfMemory {
			return err
		}
	}
	s.auto = plan.BS
	return nil
}

// shut refuses new batches and waits for builders of tables and for uploads of the cache.
// A second call returns plan.ErrClosed. release must follow.
func (s *listSet) shut() error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.closing)
	<-s.building // builders have ended
	if s.cache != nil {
		s.cache.land()
	}
	return nil
}

// release frees lists and tables.
func (s *listSet) release() {
	for _, t := range s.aux {
		t.release()
	}
	if s.arena != nil {
		s.arena.release()
	}
}
