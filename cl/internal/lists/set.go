package lists

import (
	"context"
	"sync"
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// Set is a set of lists in device memory with their auxiliary tables. The operations
// of a store share it. It is safe for concurrent use.
type Set struct {
	Device *device.Runtime
	Memory *device.Budget // budget of the lists and of all scratch memory of the store
	Src    *plan.Source
	With   device.Features // features of programs that search in any of the lists
	Arena  *Arena
	Places []Place
	Cache  *Cache         // nil if all lists are resident
	Auto   plan.Algorithm // the tables of plan.Auto

	Building chan struct{} // holds a token; its receiver may build tables
	mu       sync.Mutex    // guards aux
	Tables   map[plan.Algorithm]*Tables

	parts   []func() uint64 // memory of the operations, in bytes
	closed  atomic.Bool
	Closing chan struct{} // closed by shut
}

// New makes a set without device memory. A codec without kernels gives
// plan.ErrUnsupported.
func New(rt *device.Runtime, src *plan.Source, memory *device.Budget) (*Set, error) {
	if err := Supported(src); err != nil {
		return nil, err
	}
	s := &Set{Device: rt, Memory: memory, Src: src, Auto: plan.BS, Building: make(chan struct{}, 1),
		Tables: map[plan.Algorithm]*Tables{}, Closing: make(chan struct{})}
	s.Building <- struct{}{}
	for _, l := range src.Lists {
		s.With |= Lookup(l.Codec)
	}
	return s, nil
}

// Load copies the lists to the device. scratch is the number of bytes that the operations
// of the store surely need as well: all of it must fit before any buffer is made. After a
// failure release must follow.
func (s *Set) Load(ctx context.Context, scratch uint64) error {
	ranges, places, err := Layout(s.Src, s.Device.Info.MaxAlloc, FilterArena)
	if err != nil {
		return s.Device.OutOfMemory("laying out lists", err)
	}
	s.Places = places
	if err := s.Memory.Preflight(ArenaBytes(ranges)+scratch, "lists and scratch"); err != nil {
		return err
	}
	s.Arena, err = LoadArena(ctx, s.Device, s.Src, ranges)
	return err
}

// Buffers returns the arena buffers for a kernel, with the buffer of filters if its round has
// filters. It must be called in Runtime.Do.
func (s *Set) Buffers(filtered bool) [MaxArenas]*ocl.MemObject {
	all := s.Arena.Buffers
	if filtered {
		all[FilterArena] = s.Device.Regions.Buffer()
	}
	return all
}

// Count adds the memory of an operation to total. It must be called before the first batch.
func (s *Set) Count(bytes func() uint64) { s.parts = append(s.parts, bytes) }

// Total returns the bytes of the lists, the tables and all operations.
func (s *Set) Total() uint64 {
	n := uint64(0)
	if s.Arena != nil {
		n = s.Arena.Bytes
	}
	for _, part := range s.parts {
		n += part()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.Tables {
		n += t.Bytes
	}
	return n
}

// Begin checks that a batch may run: each operation calls it first.
func (s *Set) Begin(ctx context.Context) error {
	if s.closed.Load() {
		return plan.ErrClosed
	}
	return ctx.Err()
}

// TablesOf returns the tables of an algorithm and builds them on first use.
func (s *Set) TablesOf(ctx context.Context, a plan.Algorithm) (*Tables, error) {
	get := func() *Tables {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.Tables[a]
	}
	put := func(t *Tables) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Tables[a] = t
	}
	return device.Once(ctx, s.Building, s.Closing, get, put, func() (*Tables, error) { return s.loadTables(ctx, a) })
}

// ChooseAuto takes the fastest algorithm whose tables fit the device:
//
//	bits   a bitset for each list with more than one document in plan.DenseRatio, and
//	       buckets of 16 docIDs for the rest: one load per probe, or three
//	hs16   buckets for all lists, if there is no room for bitsets
//	bs     no tables
//
// Bitsets and hslrc, which has buckets, get no table but a bitset under bits.
func (s *Set) ChooseAuto(ctx context.Context) error {
	some := []plan.Algorithm{plan.Bits, plan.HS16}
	if s.Cache != nil {
		some = []plan.Algorithm{plan.BS}
	}
	for _, a := range some {
		_, err := s.TablesOf(ctx, a)
		if err == nil {
			s.Auto = a
			return nil
		}
		if failed, ok := err.(*plan.DeviceError); !ok || failed.Kind != plan.ErrOutOfMemory {
			return err
		}
	}
	s.Auto = plan.BS
	return nil
}

// Bits returns the tables of plan.Bits if plan.Auto uses them, else nil.
func (s *Set) Bits() *Tables {
	if s.Auto != plan.Bits {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Tables[plan.Bits]
}

// Close refuses new batches, waits for builders of tables and for uploads of the cache, and
// calls release, which frees the operations and the set. A second call returns
// plan.ErrClosed.
func (s *Set) Close(release func()) error {
	if s.closed.Swap(true) {
		return plan.ErrClosed
	}
	close(s.Closing)
	<-s.Building // builders have ended
	if s.Cache != nil {
		s.Cache.land()
	}
	release()
	return nil
}

// Release frees lists and tables.
func (s *Set) Release() {
	for _, t := range s.Tables {
		t.release()
	}
	if s.Arena != nil {
		s.Arena.Release()
	}
}
