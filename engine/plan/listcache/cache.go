package listcache

import (
	"math"
	"slices"
	"sync/atomic"

	"heddle/engine/plan"
)

const (
	// Align is the alignment of items, in words.
	Align = plan.ListAlign
	// Overhead is the number of bytes that a bus moves in the start-up time of a transfer:
	// 3 µs at 20 GB/s.
	Overhead = 64 << 10
)

// Cache records the resident items and their positions. Resident, Bytes, Capacity, Least and
// Fits are safe for concurrent use. All other methods need a lock of the caller.
type Cache struct {
	units    []uint32 // size of each item, in Align words
	space    *space
	capacity uint64          // size of all buffers, in Align words
	resident []atomic.Uint64 // one bit for each item
	block    []int32         // by item: its block in space, none for an item without a position
	pins     []uint32        // by item: calls of Pin that use it
	gone     []bool          // by item: it is dropped, but pins keep its block
	scores   []float64       // by item: sum of the weights of its uses
	values   []float64       // by item: value per byte, as the policy of the package defines it
	heaps    [17]heap        // by sizeClass: resident items without pins
	at       []int32         // by item: position in its heap, none for an item without heap

	weight, growth float64 // the weight of a use, and the ratio of the next one to it
	pinned         uint64  // size of the items with pins, in Align words
	holders        int     // number of items with pins
	stats          plan.CacheStats
	lists          uint32 // items below this number are lists, the remaining items are frequencies
}

// New returns a cache of items with the given sizes in words, in buffers of the given sizes
// in words, at most 2^34 each. plan.CacheStats counts the items below lists as lists.
func New(words []uint32, lists int, buffers []uint64) *Cache {
	n := len(words)
	c := &Cache{units: make([]uint32, n), resident: make([]atomic.Uint64, n/64+1), block: make([]int32, n),
		pins: make([]uint32, n), gone: make([]bool, n), scores: make([]float64, n), values: make([]float64, n), at: make([]int32, n),
		weight: 1, growth: math.Exp2(1 / float64(HalfLife(n))), lists: uint32(lists)}
	for i, w := range words {
		c.units[i] = uint32((uint64(w) + Align - 1) / Align)
		c.block[i], c.at[i] = none, none
	}
	var units []uint32
	for _, w := range buffers {
		units = append(units, uint32(min(w/Align, math.MaxUint32)))
		c.capacity += uint64(units[len(units)-1])
	}
	c.space = newSpace(units)
	return c
}

// HalfLife returns the number of uses after which a use counts half.
func HalfLife(items int) int { return max(items, 1024) }

// Bytes returns the size of an item.
func (c *Cache) Bytes(item uint32) uint64 { return uint64(c.units[item]) * Align * 4 }

// Capacity returns the size of all buffers, in bytes.
func (c *Cache) Capacity() uint64 { return c.capacity * Align * 4 }

// Least returns the size of the smallest buffer, in bytes.
func (c *Cache) Least() uint64 { return uint64(slices.Min(c.space.buffers)) * Align * 4 }

// Pinned returns the number of pinned items.
func (c *Cache) Pinned() int { return c.holders }

// Resident reports whether an item is resident. An empty item always is.
func (c *Cache) Resident(item uint32) bool {
	return c.resident[item/64].Load()>>(item%64)&1 != 0 || c.units[item] == 0
}

func (c *Cache) setResident(item uint32, is bool) {
	w := &c.resident[item/64] // written by one goroutine at a time
	if is {
		w.Store(w.Load() | 1<<(item%64))
	} else {
		w.Store(w.Load() &^ (1 << (item % 64)))
	}
}

// Place returns the position of a pinned item: the buffer, and the offset in units of Align
// words. It is the front of buffer 0 for an empty item.
func (c *Cache) Place(item uint32) (buffer, off uint32) {
	if c.block[item] == none {
		return 0, 0
	}
	b := &c.space.blocks[c.block[item]]
	return b.buffer, b.off
}

// count records the uses of items; missing are the items that were not resident.
func (c *Cache) count(uses []Use, missing []uint32) {
	for _, u := range uses {
		c.weight *= c.growth
		c.scores[u.Item] += c.weight
		c.stats.Hits += uint64(u.Queries)
	}
	for _, item := range missing {
		c.stats.BytesIn += c.Bytes(item)
	}
	c.stats.Hits -= uint64(len(missing))
	c.stats.Misses += uint64(len(missing))
	if c.weight > 0x1p500 {
		c.weight *= 0x1p-500
		for i := range c.scores { // the same factor for all: heaps stay in order
			c.scores[i] *= 0x1p-500
			c.values[i] *= 0x1p-500
		}
	}
}

// hold pins a resident item.
func (c *Cache) hold(item uint32) {
	if c.units[item] == 0 {
		return
	}
	if c.pins[item]++; c.pins[item] == 1 {
		c.holders++
		c.pinned += uint64(c.units[item])
	}
}

// unhold removes one pin. An item without pins can be evicted.
func (c *Cache) unhold(item uint32) {
	if c.units[item] == 0 {
		return
	}
	if c.pins[item]--; c.pins[item] > 0 {
		return
	}
	c.holders--
	c.pinned -= uint64(c.units[item])
	if c.gone[item] {
		c.gone[item] = false
		if c.at[item] != none {
			c.remove(item)
		}
		c.free(item)
		return
	}
	c.values[item] = c.scores[item] * (1 + Overhead/float64(c.Bytes(item)))
	if c.at[item] != none {
		c.down(c.heaps[sizeClass(c.units[item])], int(c.at[item])) // values only grow
	} else {
		c.push(item)
	}
}

// Unpin removes the pins of one call of Pin.
func (c *Cache) Unpin(uses []Use) {
	for _, u := range uses {
		c.unhold(u.Item)
	}
}

// Drop records that the upload of pinned items has failed. They are no longer resident. Their
// memory is free after their last Unpin, and only then can they be pinned again.
func (c *Cache) Drop(items []uint32) {
	for _, item := range items {
		if c.Resident(item) {
			c.setResident(item, false)
			c.stats.Lists -= c.one(item)
			c.gone[item] = true
		}
	}
}

// one returns the number of lists that an item counts for: 1 for a list, 0 for frequencies.
func (c *Cache) one(item uint32) int {
	if item < c.lists {
		return 1
	}
	return 0
}

// free frees the block of an item and returns the free block that contains it.
func (c *Cache) free(item uint32) int32 {
	at := c.space.give(c.block[item])
	c.block[item] = none
	return at
}

// leave evicts a resident item without pins and returns the free block in its place.
func (c *Cache) leave(item uint32) int32 {
	c.remove(item)
	c.setResident(item, false)
	c.stats.Lists -= c.one(item)
	return c.free(item)
}

// put makes a missing item resident and pins it. It reports whether there was memory.
func (c *Cache) put(item uint32) bool {
	n := c.units[item]
	at := c.space.find(n)
	if at == none {
		if at = c.evict(n); at == none {
			return false
		}
	}
	c.settle(at, item)
	return true
}

// settle places an item at the front of a free block and pins it.
func (c *Cache) settle(at int32, item uint32) {
	c.space.take(at, c.units[item], int32(item))
	c.block[item] = at
	c.setResident(item, true)
	c.stats.Lists += c.one(item)
	c.hold(item)
}

// Stats returns the contents of the cache and the counters since New.
func (c *Cache) Stats() plan.CacheStats {
	s := c.stats
	s.Capacity = c.Capacity()
	s.Used = s.Capacity - c.space.free*Align*4
	return s
}
