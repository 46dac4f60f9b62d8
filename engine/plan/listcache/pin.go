package listcache

import (
	"cmp"
	"slices"
)

// Use is an item that a batch needs, and the number of its queries that need it.
type Use struct{ Item, Queries uint32 }

// Pin makes items resident and keeps their positions until Unpin. Each item is named once. It
// appends the missing items, which the caller must upload, to fresh. It returns false if there
// is no memory beside the items that other batches have pinned. Nothing is pinned then, but
// resident items without pins may be evicted.
func (c *Cache) Pin(uses []Use, fresh []uint32) ([]uint32, bool) {
	need := c.pinned
	for _, u := range uses {
		if c.gone[u.Item] {
			return fresh, false
		}
		if c.pins[u.Item] == 0 {
			need += uint64(c.units[u.Item])
		}
	}
	if need > c.capacity {
		return fresh, false
	}
	alone := c.holders == 0
	from := len(fresh)
	for _, u := range uses {
		if c.Resident(u.Item) {
			c.hold(u.Item)
		} else {
			fresh = append(fresh, u.Item)
		}
	}
	missing := fresh[from:]
	slices.SortFunc(missing, c.longest)
	for i, item := range missing {
		if c.put(item) {
			continue
		}
		for _, item := range missing[:i] {
			c.unhold(item)
			c.leave(item)
		}
		for _, u := range uses {
			if c.Resident(u.Item) {
				c.unhold(u.Item)
			}
		}
		if !alone {
			return fresh[:from], false
		}
		var ok bool
		if fresh, ok = c.repack(uses, fresh[:from]); !ok {
			return fresh, false
		}
		missing = fresh[from:]
		break
	}
	c.count(uses, missing)
	return fresh, true
}

// longest orders items for packing, the longest first.
func (c *Cache) longest(x, y uint32) int {
	return cmp.Or(cmp.Compare(c.units[y], c.units[x]), cmp.Compare(x, y))
}

// repack evicts all items, none of which is pinned, and packs the items of uses.
func (c *Cache) repack(uses []Use, fresh []uint32) ([]uint32, bool) {
	from := len(fresh)
	for _, u := range uses {
		if c.units[u.Item] > 0 {
			fresh = append(fresh, u.Item)
		}
	}
	all := fresh[from:]
	slices.SortFunc(all, c.longest)
	buffers, ok := c.pack(all)
	if !ok {
		return fresh[:from], false
	}
	for class := range c.heaps {
		for h := &c.heaps[class]; len(*h) > 0; {
			c.stats.Evicted++
			c.leave((*h)[0])
		}
	}
	free := slices.Clone(c.space.first) // the free block of each buffer
	for i, item := range all {
		at := free[buffers[i]]
		c.settle(at, item)
		free[buffers[i]] = c.space.blocks[at].behind
	}
	return fresh, true
}

// Fits reports whether items can be resident at the same time. Each item is named once.
func (c *Cache) Fits(uses []Use) bool {
	need := uint64(0)
	for _, u := range uses {
		need += uint64(c.units[u.Item])
	}
	if need > c.capacity || len(c.space.buffers) < 2 {
		return need <= c.capacity
	}
	items := make([]uint32, 0, len(uses))
	for _, u := range uses {
		items = append(items, u.Item)
	}
	slices.SortFunc(items, c.longest)
	_, ok := c.pack(items)
	return ok
}

// pack returns the buffer of each item, longest first: the one with the least free
// memory that suffices.
func (c *Cache) pack(items []uint32) (buffers []uint32, ok bool) {
	left := slices.Clone(c.space.buffers)
	for _, item := range items {
		best := none
		for b, n := range left {
			if n >= c.units[item] && (best == none || n < left[best]) {
				best = b
			}
		}
		if best == none {
			return nil, false
		}
		left[best] -= c.units[item]
		buffers = append(buffers, uint32(best))
	}
	return buffers, true
}
