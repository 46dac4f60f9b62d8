package lists

import (
	"cmp"
	"slices"
	"sync"

	"heddle/engine/internal/query"
	"heddle/engine/observe"
)

// filterCache keeps filters for later queries. It drops the filters that were not used for the
// longest time when their sets take more than its capacity.
type filterCache struct {
	capacity uint64

	mu      sync.Mutex
	entries map[filterID]*Filter
	bytes   uint64 // bytes of all entries
	clock   uint64
	hits    uint64
	misses  uint64
	evicted uint64
}

// filterID names a filter in the cache.
type filterID struct {
	g   *Generation
	key [query.KeyLen]byte
}

// filter returns the filter of a key; nil if the cache lacks it.
func (g *Generation) filter(key *[query.KeyLen]byte) *Filter {
	c := &g.shared.filters
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.entries[filterID{g, *key}]
	if f == nil {
		c.misses++
		return nil
	}
	c.hits++
	c.clock++
	f.used = c.clock
	return f
}

// Filter returns the filter of a key. If the cache lacks it, describe completes its description.
func (g *Generation) Filter(key [query.KeyLen]byte, describe func(*FilterSpec) error) (*Filter, error) {
	if f := g.filter(&key); f != nil {
		return f, nil
	}
	f := &Filter{FilterSpec: FilterSpec{Key: key}, g: g, at: make([]filterAt, len(g.at))}
	if err := describe(&f.FilterSpec); err != nil {
		return nil, err
	}
	f.count.Store(-1)
	c := &g.shared.filters
	c.mu.Lock()
	defer c.mu.Unlock()
	id := filterID{g, key}
	if other := c.entries[id]; other != nil { // another query was faster
		return other, nil
	}
	if c.entries == nil {
		c.entries = map[filterID]*Filter{}
	}
	c.clock++
	f.used = c.clock
	c.entries[id] = f
	f.bytes = 1024 + 8*uint64(len(f.FilterSpec.Bits))
	c.bytes += f.bytes
	c.shrink(f)
	return f, nil
}

// grow notes that f takes more bytes and drops other filters above the capacity.
func (c *filterCache) grow(f *Filter, bytes uint64) {
	c.mu.Lock()
	if c.entries[filterID{f.g, f.FilterSpec.Key}] == f {
		f.bytes += bytes
		c.bytes += bytes
	}
	c.shrink(f)
	c.mu.Unlock()
}

// shrink drops filters other than keep until the rest fits the capacity. Its caller holds c.mu.
func (c *filterCache) shrink(keep *Filter) {
	if c.bytes <= c.capacity {
		return
	}
	for _, f := range c.byUse(func(f *Filter) bool { return f != keep }) {
		if c.bytes <= c.capacity {
			return
		}
		c.evicted++
		c.remove(f)
	}
}

// evictFrom drops n filters that have an idle set on processor p: the filters that were not used for
// the longest time. It returns false if there is none.
func (c *filterCache) evictFrom(p, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.byUse(func(f *Filter) bool { return f.at[p].idle() })
	for _, f := range idle[:min(n, len(idle))] {
		c.evicted++
		c.remove(f)
	}
	return len(idle) > 0
}

// byUse returns some filters, the filters that were not used for the longest time first. Its caller
// holds c.mu.
func (c *filterCache) byUse(some func(*Filter) bool) (all []*Filter) {
	for _, f := range c.entries {
		if some(f) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *Filter) int { return cmp.Compare(a.used, b.used) })
	return all
}

// remove drops a filter. Its caller holds c.mu.
func (c *filterCache) remove(f *Filter) {
	delete(c.entries, filterID{f.g, f.FilterSpec.Key})
	c.bytes -= f.bytes
	f.drop()
}

// drop drops the filters of a generation of an index, or of rows of a generation of a table.
func (c *filterCache) drop(generation any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.entries {
		if any(f.g) == generation || slices.ContainsFunc(f.Rows, func(r Rows) bool { return r.Of() == generation }) {
			c.remove(f)
		}
	}
}

// stats returns a snapshot.
func (c *filterCache) stats() observe.FilterCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	return observe.FilterCache{Capacity: c.capacity, Bytes: c.bytes, Entries: len(c.entries), Hits: c.hits, Misses: c.misses, Evicted: c.evicted}
}
